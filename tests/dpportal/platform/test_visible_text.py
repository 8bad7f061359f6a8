"""What others read has no sign that nobody sees: on pages, for programs, from files."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from dpportal.api.release_file import ReleaseFileError, read
from dpportal.datasets import services
from dpportal.datasets.labels import wrong_values
from dpportal.datasets.models import Dataset
from dpportal.platform.visible_text import hidden_sign, shown_name
from mechanisms.domain import Categorical
from tests.dpportal.api.calling import Program

TURNED = "Town\u202egnp.csv"


@pytest.mark.parametrize(
    "text",
    [
        "Ages in 2026 – “a” & b",
        "אוכלוסייה לפי גיל",
        "عدد السكان",
        "a\u200fb",
        "👩\u200d👩\u200d👧 families",
        "各年龄",
        "é ő",
    ],
)
def test_what_people_write_stays_allowed(text):
    assert hidden_sign(text) == ""


@pytest.mark.parametrize(
    "sign",
    [
        *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u2028\u2029\x00\x07\x1b\x85\n\r\t",
        "\ud800",
    ],
)
def test_what_nobody_sees_is_named_by_its_place_and_code(sign):
    wrong = hidden_sign(f"ab{sign}c")
    assert f"Character 3 is one that nobody sees (U+{ord(sign):04X})" in wrong and sign not in wrong
    assert bool(hidden_sign(sign, has_lines=True)) is (sign not in "\n\r\t")


def test_a_file_s_name_is_shown_without_them(curator):
    assert shown_name("a\u202egnp\x00.csv ") == "a gnp .csv"
    made = services.create_dataset(Dataset(), ContentFile(b"age\n1\n", name=TURNED), {}, curator)
    assert made.name == "Town gnp"


@pytest.mark.slow
def test_pages_and_programs_refuse_them_in_each_text_that_is_published(client, curator, dataset, ready):
    program = Program(curator)
    draft = {
        "dataset": str(dataset.pk),
        "product": "histogram",
        "choices": {"columns": ["age"], "people": 100},
    }
    method = {"mechanism": "laplace-histogram", "amount": "0.1"}
    running = {"dataset": str(dataset.pk), "name": TURNED, "amount": "1", "description": TURNED}
    own = f"/datasets/{dataset.pk}"
    for act, path, said, names in (
        ("patch", own, {"name": TURNED, "description": TURNED}, {"name", "description"}),
        (
            "patch",
            f"{own}/description",
            {"text": TURNED, "keywords": ["a", TURNED], "place": TURNED},
            {"text", "keywords", "place"},
        ),
        ("patch", f"{own}/description", {"publisher": TURNED, "contact": TURNED}, {"publisher", "contact"}),
        ("post", "/releases", {**draft, "method": method, "title": TURNED}, {"title"}),
        ("patch", f"/releases/{ready.pk}", {"title": TURNED}, {"title"}),
        ("post", f"/releases/{ready.pk}/withdraw", {"because": TURNED}, {"because"}),
        ("post", "/streams", running, {"name", "description"}),
        ("post", f"{own}/budgets/ask", {"reason": TURNED}, {"reason"}),
        (
            "post",
            f"{own}/declaration/coarser",
            {"column": "age", "name": TURNED, "edges": [0, 50, 99]},
            {"name"},
        ),
        ("put", f"{own}/declaration", {"columns": {"colour": [TURNED, "red"]}}, {"columns.colour"}),
        ("post", "/datasets/counted", {"name": TURNED}, {"name"}),
    ):
        problem = program.said(act, path, said, 422)
        assert set(problem["errors"]) == names and "U+202E" in problem["detail"], problem
    client.force_login(curator)
    page = client.post(reverse("datasets:edit", args=[dataset.pk]), {"name": TURNED, "description": ""})
    assert "U+202E" in page.text


def test_labels_and_names_in_files_are_no_exception(tmp_path):
    labelled = Categorical("town", values=("1",), words=(TURNED,))
    assert "U+202E" in wrong_values(labelled, own_missing=False, is_open=False)
    path = tmp_path / "plan.toml"
    path.write_text(f'[table]\nfile = "people.csv"\nname = "{TURNED}"\n', encoding="utf-8")
    with pytest.raises(ReleaseFileError, match=r"table\.name: Character 5"):
        read(path)
