"""`python -m mechanisms.verify` holds for a fresh bundle of every product, and fails for every altered one."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.conf import settings
from django.core.files.storage import default_storage

from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services as dataset_services
from dpportal.platform.signing import SigningKeys
from dpportal.platform.visible_text import hidden_sign
from dpportal.releases.models import Artifact, Release
from dpportal.releases.products import presenter_of
from dpportal.releases.services import ReleaseError
from mechanisms.domain import Categorical, Integer
from mechanisms.inert_text import inert
from mechanisms.verify.bundle import Bundle, BundleError
from mechanisms.verify.checks import verify
from mechanisms.verify.csv_file import fault_of
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.signature import signed_text
from tests.dpportal.publications.forging import as_written, digest_of, zipped
from tests.dpportal.publications.sdmx_codes import require_codes
from tests.dpportal.publications.test_croissant import loaded
from tests.dpportal.publications.test_notebook import run
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.queries import building as queries

pytestmark = pytest.mark.slow


def downloaded(release: Release, folder: Path) -> Path:
    stored = Artifact.objects.get(release=release, name__endswith=".zip")
    path = folder / stored.name
    with default_storage.open(stored.stored) as content:
        path.write_bytes(content.read())
    return path


def failed(path: Path, key: str | None = None) -> list[str]:
    return [
        str(finding)
        for finding in verify(Bundle.read(path), *([key] if key else []))
        if finding.state is State.FAILED
    ]


def altered(path: Path, **files: bytes | None) -> Path:
    """The bundle with other files; None: without. Names have _ for the dot, unless they have one."""
    bundle = Bundle.read(path)
    folder = bundle.entries["release.json"].removesuffix("release.json")
    contents = {name: bundle.content(name) for name in bundle.entries}
    contents |= {name.replace("_", "."): content or b"" for name, content in files.items()}
    left_out = {name.replace("_", ".") for name, content in files.items() if content is None}
    kept = {f"{folder}{name}": content for name, content in contents.items() if name not in left_out}
    return zipped(path.with_name("altered.zip"), kept)


def resigned(path: Path, change: Callable[[dict[str, Any]], object], **files: bytes) -> Path:
    """The bundle with another release.json, whose digests and signature somebody with a key of their own made anew."""
    bundle = Bundle.read(path)
    facts = json.loads(bundle.content("release.json"))
    change(facts)
    for name, content in files.items():
        facts["files"][name.replace("_", ".")]["sha256"] = digest_of(content)
    about = as_written(facts)
    signed = SigningKeys("a forger's own key").sign(signed_text(digest_of(about)))
    return altered(path, release_json=about, signature_json=as_written(signed), **files)


@pytest.fixture
def bundle(ready, tmp_path) -> Path:
    return downloaded(ready, tmp_path)


def test_a_histogram_is_verified_by_a_program_without_the_portal(bundle):
    command = [
        sys.executable,
        "-m",
        "mechanisms.verify",
        str(bundle),
        "--key",
        settings.SIGNING_KEYS.public[0],
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(
        r"\n2[0-9] hold, 0 failed, 0 not checked, 6 stated by the portal.\nNothing in it", done.stdout
    )


MADE: dict[str, Callable[[Any], Release]] = {
    "plain cells under ρ": lambda rich: finished(
        rich, "histogram", ["colour", "age"], "9", "hierarchical-histogram"
    ),
    "a chosen method": lambda rich: finished(rich, "histogram", ["age"], "9", "chosen-histogram"),
    "totals and means": lambda rich: finished(
        rich,
        "means",
        ["colour", "age"],
        "9",
        "bernstein-sums",
        measured=["age"],
        deviation=True,
        steps={"age": "10"},
    ),
    "a summary": lambda rich: finished(
        rich, "summary", ["colour", "age"], "9", "column-tables", group="colour", twice=[]
    ),
    "a choice": lambda rich: finished(
        rich, "selection", ["colour"], "9", "permute-and-flip", question="most-common-value", picks=2
    ),
    "answers by a fixed strategy": lambda rich: queries.finished(
        queries.draft_of(rich, 'ranges("age")', ["age"], "9", "hierarchy-strategy")
    ),
    "answers by a strategy that was searched for": lambda rich: queries.finished(
        queries.draft_of(rich, 'ranges("age")', ["age"], "9", "p-identity")
    ),
    "answers by weighted tables": lambda rich: queries.finished(
        queries.draft_of(rich, "marginals(<=2)", ["colour", "age"], "9", "weighted-marginals")
    ),
    "rows of many columns": lambda rich: finished(
        rich, "microdata", ["colour", "age"], "9", "tree-of-pairs", wishes={}, rows=None
    ),
}


MISSING: dict[str, Callable[[Any], Release]] = {
    "histogram": lambda rich: finished(rich, "histogram", ["colour", "age"], "9", "laplace-histogram"),
    "response": lambda rich: finished(rich, "response", ["colour"], "2", "randomised-response"),
    "means": MADE["totals and means"],
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_fresh_bundle_of_every_product_holds(rich, tmp_path, make, capsys):
    release = make(rich)
    path = downloaded(release, tmp_path)
    found = list(verify(Bundle.read(path)))
    assert presenter_of(release).main_table in Bundle.read(path).entries
    assert [str(finding) for finding in found if finding.state not in (State.HOLDS, State.STATED)] == []
    assert len([finding for finding in found if finding.state is State.HOLDS]) >= 4
    assert all(loaded(path, tmp_path / "unpacked").values())
    run(path, tmp_path / "unpacked")
    assert "worked out again" in capsys.readouterr().out or "chosen_method" in Bundle.read(path).release


@pytest.mark.parametrize("product", ["histogram", "response", "means"])
def test_missing_values_and_codes_of_numbers_are_read_by_others_too(rich, tmp_path, product):
    """Of a table whose labels are whole numbers, and missing in some rows."""
    dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    colours = Categorical("colour", values=("1", "2"), missing_cell=True)
    dataset_services.declare_all(rich, [colours, Integer("age", lower=0, upper=99, width=10)])
    path = downloaded(MISSING[product](rich), tmp_path)
    assert all(loaded(path, tmp_path / "unpacked").values()) and not failed(path)
    run(path, tmp_path / "unpacked")
    require_codes(path, product)


def test_a_notebook_stops_at_a_margin_that_does_not_follow_from_the_noise(bundle, tmp_path):
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "unpacked")
    [cells] = (tmp_path / "unpacked").rglob("histogram.csv")
    table = pd.read_csv(cells)
    table.assign(interval_upper=table["interval_upper"] - 1).to_csv(cells, index=False)
    with pytest.raises(ValueError, match="does not follow from the noise"):
        run(bundle, tmp_path / "unpacked")


@pytest.mark.parametrize("mechanism", ["randomised-response", "unary-encoding"])
def test_randomised_answers_hold(rich, tmp_path, mechanism):
    dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    release = finished(rich, "response", ["colour"], "2", mechanism)
    path = downloaded(release, tmp_path)
    found = list(verify(Bundle.read(path)))
    assert {finding.state for finding in found} == {State.HOLDS, State.STATED}
    assert all(loaded(path, tmp_path / "unpacked").values())
    run(path, tmp_path / "unpacked")


def test_each_altered_or_missing_file_is_caught(bundle):
    names = [name for name in Bundle.read(bundle).entries if name != "signature.json"]
    assert len(names) > 8
    for name in names:
        key = name.replace(".", "_")
        assert failed(altered(bundle, **{key: b"changed"})) if name != "release.json" else True
        if name != "release.json":
            assert failed(altered(bundle, **{key: None})), name
    assert failed(altered(bundle, signature_json=None)) and failed(altered(bundle, signature_json=b"{}"))
    assert failed(altered(bundle, more_csv=b"1"))


def test_each_altered_field_of_release_json_breaks_the_signature(bundle):
    facts = Bundle.read(bundle).release
    for name in facts:
        changed = {**facts, name: "changed"}
        try:
            assert failed(altered(bundle, release_json=json.dumps(changed).encode())), name
        except BundleError:
            assert name in ("plan", "files", "product")


FORGED = {
    "less noise": lambda facts: facts["plan"].update(noise={"law": "discrete-laplace", "scale": "1"}),
    "a smaller loss": lambda facts: facts["plan"]["loss"].update(amount="1/100"),
    "a smaller sensitivity": lambda facts: facts["plan"]["sensitivity"].update(l1=0),
    "another interval": lambda facts: facts["plan"].update(half_width=1),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_promise_fails_even_where_it_is_signed_anew(bundle, forge):
    path = resigned(bundle, forge)
    assert any("plan" in finding for finding in failed(path))
    assert any("another one" in finding for finding in failed(path, settings.SIGNING_KEYS.public[0]))


def test_forged_numbers_fail_even_where_they_are_signed_anew(bundle):
    """Another count, other rows, and another measurement."""
    own = Bundle.read(bundle)
    lines = own.content("histogram.csv").decode().splitlines()
    fields = lines[1].split(",")
    fields[3] = str(int(fields[3]) + 1)
    cells = "\n".join([lines[0], ",".join(fields), *lines[2:], ""]).encode()
    assert any("another count" in f for f in failed(resigned(bundle, lambda _: None, histogram_csv=cells)))
    # Of ten million people, too: whole numbers are compared as they are.
    table = pd.DataFrame({"n": [str(10**7 + 900)]})
    assert fault_of(table, {"n": np.array([10**7])}) == "line 1 has another n"
    rows = own.content("synthetic.csv").replace(b"red", b"blue", 1)
    assert any("synthetic.csv" in f for f in failed(resigned(bundle, lambda _: None, synthetic_csv=rows)))
    shifted = io.BytesIO()
    np.save(shifted, own.measurement + 1)
    content = shifted.getvalue()
    path = resigned(
        bundle, lambda facts: facts.update(measurement_sha256=digest_of(content)), measurement_npy=content
    )
    assert any("another noisy_count" in finding for finding in failed(path))


FORGED_FILES = {
    "a label": ("histogram.csv", lambda text: text.replace("red", "blue", 1), "another colour"),
    "a standard error": ("histogram.csv", lambda text: text.replace(",14.1", ",4.1", 1), "standard_error"),
}


@pytest.mark.parametrize("name, forge, words", FORGED_FILES.values(), ids=FORGED_FILES)
def test_each_column_of_a_file_is_made_again(bundle, name, forge, words):
    own = Bundle.read(bundle).content(name).decode()
    forged = forge(own)
    assert forged != own
    path = resigned(bundle, lambda _: None, **{name.replace(".", "_"): forged.encode()})
    assert any(words in finding for finding in failed(path))


def test_forged_totals_and_choices_fail_even_where_they_are_signed_anew(rich, tmp_path):
    means = downloaded(MADE["totals and means"](rich), tmp_path)
    table = pd.read_csv(io.BytesIO(Bundle.read(means).content("totals.csv")), dtype=str)
    for column in ("total", "deviation", "share_at_high_upper"):
        forged = table.assign(**{column: "12345"}).to_csv(index=False).encode()
        assert any(column in f for f in failed(resigned(means, lambda _: None, totals_csv=forged)))
    choice = downloaded(MADE["a choice"](rich), tmp_path)
    forged = Bundle.read(choice).content("choice.csv").replace(b"red", b"FORGED").replace(b"blue", b"FORGED")
    assert any(
        "choice.csv" in finding for finding in failed(resigned(choice, lambda _: None, choice_csv=forged))
    )


FORGED_PROMISES = {
    "other neighbours": ("promise", lambda facts: facts["protects"].update(neighbours="replace-one")),
    "more rows of a person": ("promise", lambda facts: facts["protects"].update(max_rows=50)),
    "a public number of rows": (
        "promise",
        lambda facts: facts["protects"].update(number_of_rows_is_public=True),
    ),
    "a smaller loss in words": (
        "promise",
        lambda facts: facts.update(statement=facts["statement"].replace("ε = 0.10", "ε = 0.001")),
    ),
    "no statement": ("promise", lambda facts: facts.update(statement=None)),
    "no protection": ("promise", lambda facts: facts.pop("protects")),
}


@pytest.mark.parametrize("what, forge", FORGED_PROMISES.values(), ids=FORGED_PROMISES)
def test_a_promise_that_is_not_the_plans_fails(bundle, what, forge):
    assert [each for each in failed(resigned(bundle, forge)) if what in each]


def test_a_bundle_without_its_measurement_fails_even_where_its_list_of_files_leaves_it_out(bundle):
    def forge(facts):
        del facts["files"]["measurement.npy"]

    path = resigned(bundle, forge).rename(bundle.with_name("signed-anew.zip"))
    assert any("measurement: it is missing" in each for each in failed(altered(path, measurement_npy=None)))


def test_rows_that_are_too_many_are_said_not_to_be_checked(bundle, monkeypatch):
    monkeypatch.setattr("mechanisms.verify.tables.MOST_ROWS", 10)
    found = [each for each in verify(Bundle.read(bundle)) if each.what == "synthetic.csv"]
    assert [each.state for each in found] == [State.NOT_CHECKED]


# Values and labels of every shape; a program that opens a file may take each for something else.
ODD = (
    "'-", "'=1+1", "=1+1", "''x", "-5", "+3", "@x", "gr\reen", "a\r\nb", "a\nb", "a,b", 'a"b', "1e5", "00", "NA",
    "x" * 40_000, "a\ufffeb", "a\x01b", "nan", "None", "TRUE", "a\x0bb", "a\x1bb", "a\x85b", "a\u2028b", "\u200b",
    "\u202eb", "\ufeffa", "a\uffffb", "<b>&]]>", "{{ y }}", "\\end{table}%$#_{}~^",
)  # fmt: skip
OF_ODD: dict[str, Callable[[Any], Release]] = {
    "a histogram": lambda rich: finished(rich, "histogram", ["colour"], "9", "laplace-histogram"),
    "answers": lambda rich: queries.finished(
        queries.draft_of(rich, 'identity("colour")', ["colour"], "9", "identity-strategy")
    ),
    **{name: MADE[name] for name in ("a summary", "a choice", "rows of many columns")},
}


@pytest.mark.parametrize("product", OF_ODD)
def test_no_declared_text_makes_a_paid_release_fail_or_its_bundle_look_forged(rich, tmp_path, product):
    is_labelled, odd = product == "rows of many columns", ODD[:18] if product == "a summary" else ODD
    # A value with a sign that nobody sees takes a label.
    values = ("red", *(each for each in odd if is_labelled or not hidden_sign(each, has_lines=True)))
    words = tuple(f"{number}:\ris" for number in range(len(values))) if is_labelled else ()
    dataset_services.declare(rich, "colour", Categorical("colour", values=values, words=words))
    bundle = Bundle.read(downloaded(OF_ODD[product](rich), tmp_path))
    assert not [each for each in verify(bundle) if each.state is State.FAILED]
    if "codebook.csv" in bundle.entries:
        lines = pd.read_csv(io.BytesIO(bundle.content("codebook.csv")), dtype=str, keep_default_na=False)
        assert set(map(inert, values)) <= set(lines["value"])


def test_half_of_a_character_is_refused_before_anything_is_paid(rich):
    """Which the pages and codebooks refuse, but older declarations may have."""
    dataset_services.declare(rich, "colour", Categorical("colour", values=("red", "green")))
    older = Categorical("colour", values=("red", "gr\ud800een")).to_json()
    rich.current_domain().attributes.filter(column="colour").update(declaration=older)
    with pytest.raises(ReleaseError, match="half of a character"):
        OF_ODD["a choice"](rich)
    assert not LedgerEntry.objects.filter(kind=LedgerEntry.Kind.CHARGE).exists()


def test_a_measurement_of_floats_fails(bundle):
    floats = io.BytesIO()
    np.save(floats, Bundle.read(bundle).measurement / 2)
    content = floats.getvalue()
    path = resigned(
        bundle, lambda facts: facts.update(measurement_sha256=digest_of(content)), measurement_npy=content
    )
    assert any("discrete noise is whole" in finding for finding in failed(path))


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip"])
def test_what_is_no_bundle_is_refused_in_words(tmp_path, content):
    path = tmp_path / "other.zip"
    path.write_bytes(content)
    with pytest.raises(BundleError, match="no zip"):
        Bundle.read(path)


def test_findings_say_what_they_prove():
    assert str(Finding.of("files", "a is missing", "all there")) == "     FAILED  files: a is missing"


def test_answers_by_a_strategy_that_was_searched_for_are_worked_out_again(rich, tmp_path):
    draft = queries.draft_of(rich, 'ranges("age")', ["age"], "9", "p-identity")
    path = downloaded(queries.finished(draft), tmp_path)
    found = {finding.what: finding.state for finding in verify(Bundle.read(path))}
    assert found["answers.csv"] is State.HOLDS
    table = pd.read_csv(io.BytesIO(Bundle.read(path).content("answers.csv")))
    for name in ("answer", "standard_error", "interval_upper"):
        other = table.copy()
        other[name] += 1.0 * (other.index == 3)
        content = other.to_csv(index=False).encode()
        assert "answers.csv" in str(failed(resigned(path, lambda _: None, answers_csv=content)))
