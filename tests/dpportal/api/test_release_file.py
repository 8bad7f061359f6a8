"""A release from a file: the one that the review page offers makes the same release; a plan alone keeps nothing."""

from __future__ import annotations

import re
import zipfile
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dpportal.api.release_file import read
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.wizard.plan_file import as_toml
from tests.dpportal import building


def ran(path, *options: str) -> str:
    said = StringIO()
    call_command("release", str(path), *options, stdout=said)
    return said.getvalue()


@pytest.fixture
def file(client, draft, tmp_path):
    """What the review page of a draft offers."""
    client.force_login(draft.created_by)
    page = client.get(f"/releases/{draft.pk}/review/").text
    assert f'href="/releases/{draft.pk}/plan.toml"' in page
    path = tmp_path / "plan.toml"
    path.write_bytes(client.get(f"/releases/{draft.pk}/plan.toml").content)
    return path


def test_the_file_of_a_draft_makes_the_same_release(file, draft, tmp_path):
    _version, plan = drafts.plan_of(draft)
    said = ran(file, "--output", str(tmp_path))
    made = Release.objects.exclude(pk=draft.pk).get()
    assert made.is_ready and made.plan_json == plan.to_json() and made.title == draft.title
    assert made.dataset.current_domain().version == 1
    archive = tmp_path / f"release-{made.pk}.zip"
    assert f"is ready: {archive}" in said
    assert any(name.endswith("histogram.csv") for name in zipfile.ZipFile(archive).namelist())


def test_a_plan_alone_prints_cost_and_error_and_keeps_nothing(file, draft):
    before = building.left(draft.dataset)
    said = ran(file, "--plan-only")
    assert "ε = 0.10" in said and "± " in said
    assert Release.objects.count() == 1 and building.left(draft.dataset) == before


@pytest.mark.parametrize(
    "right, wrong, why",
    [
        ("people = 300", "people = 0", r"^release\.choices\.people: "),
        ('product = "histogram"', 'product = "poem"', r"^release\.product: "),
        ('amount = "0.1"', 'amount = "0"', r"^release\.method\.amount: "),
        ("columns.age]", "columns.agee]", r"^declaration\.columns: The table has no column “agee”"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_nothing_is_spent(file, draft, right, wrong, why):
    before, text = building.left(draft.dataset), file.read_text()
    assert right in text
    file.write_text(text.replace(right, wrong))
    with pytest.raises(CommandError, match=why):
        ran(file)
    assert Release.objects.count() == 1 and building.left(draft.dataset) == before


TABLE = """
[table]
file = "people.csv"
name = "People"
[declaration.columns.age]
kind = "integer"
lower = 0
upper = 99
width = 10
[release]
product = "histogram"
[release.choices]
columns = ["age"]
people = 100
[release.method]
mechanism = "laplace-histogram"
amount = "0.5"
"""


@pytest.fixture
def table_file(curator, tmp_path):
    """A plan of a table that lies beside it."""
    path = tmp_path / "plan.toml"
    path.write_text(TABLE)
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(str(i) for i in range(100)))
    return path


@pytest.mark.slow
def test_a_run_that_stopped_goes_on_and_the_same_table_is_paid_for_once(table_file, administrator, tmp_path):
    assert "ε = 0.50" in ran(table_file, "--plan-only", "--as", "curator")
    assert not Dataset.objects.exists()
    for _run in range(2):
        with pytest.raises(CommandError, match="no privacy budget yet") as stop:
            ran(table_file, "--as", "curator")
        dataset, draft = Dataset.objects.get(), Release.objects.get()
        assert dataset.name == "People" and draft.is_draft
        for name in ("“People”", str(dataset.pk), f"/datasets/{dataset.pk}/", "same file again"):
            assert name in str(stop.value), name
    building.granted(dataset, administrator)
    for place in range(2):
        assert f"Release {draft.pk} is ready" in ran(
            table_file, "--as", "curator", "--output", str(tmp_path / f"{place}.zip")
        )
    assert str(building.left(dataset)) == "0.500000" and Release.objects.count() == 1
    # Other choices are another release; another declaration is not taken from a file.
    table_file.write_text(TABLE.replace('"0.5"', '"0.25"'))
    ran(table_file, "--as", "curator", "--output", str(tmp_path))
    assert Release.objects.count() == 2 and str(building.left(dataset)) == "0.250000"
    table_file.write_text(TABLE.replace("99", "79"))
    with pytest.raises(CommandError, match=r"declared otherwise there.*\n.*dataset “People”"):
        ran(table_file, "--as", "curator", "--output", str(tmp_path / "3.zip"))
    assert dataset.current_domain().domain().size == 10 and Dataset.objects.count() == 1


def test_a_file_that_is_no_table_leaves_no_dataset(table_file, tmp_path):
    (tmp_path / "people.csv").write_text("")
    with pytest.raises(CommandError, match="empty"):
        ran(table_file, "--as", "curator")
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[table", "no TOML"),
        ("[poem]\n", r"\[poem\] is no part"),
        ("[table]\n", "either a dataset"),
        (TABLE.replace("laplace-histogram", "guess"), "Choose one of the methods shown"),
        (TABLE.replace('["age"]', '["height"]'), "height"),
        (TABLE.replace("name =", "nmae ="), "table.nmae: Nothing here has this name"),
        (
            TABLE.replace("people = 100", "people = 100\n[release.unit]\nrows = 5"),
            "release.unit: Nothing here",
        ),
        (TABLE.replace("amount =", 'amuont = "5"\namount ='), "release.method.amuont: Nothing here"),
        (TABLE.replace('name = "People"', "name = 5"), "table.name: Send a text"),
        (TABLE + "parameters = 5", "release.method.parameters: Send an object"),
        (TABLE + '[declaration.unit]\nmax_rows = "many"', "declaration.unit.max_rows: Send a whole number"),
        (TABLE.replace('["age"]', "[1.5]"), r"release\.choices\.columns\.0: Send a text"),
        (TABLE + "[declaration.unit]\nmax_rows = true", "declaration.unit.max_rows: Send a whole number"),
        (TABLE + "title = 5\n[declaration.unit]\nmaxrows = 2", "declaration.unit.maxrows: Nothing here"),
        ("release = 5\n" + TABLE.partition("[release]")[0], "release: Send an object"),
    ],
)
def test_a_file_that_makes_no_release_says_why(curator, tmp_path, text, why):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(CommandError, match=why):
        ran(path, "--plan-only", "--as", "curator")


def test_a_cost_that_is_written_as_a_number_is_that_cost(table_file, tmp_path):
    table_file.write_text(TABLE.replace('"0.5"', "0.5"))
    assert "ε = 0.50" in ran(table_file, "--plan-only", "--as", "curator")


def test_a_name_that_no_file_can_have_is_refused(table_file):
    table_file.write_text(TABLE.replace('"people.csv"', '"people\\u0000.csv"'))
    with pytest.raises(CommandError, match="There is no file"):
        ran(table_file, "--as", "curator")


def test_a_table_that_is_missing_is_said_with_the_plan_and_refused_before_anything_is_kept(
    table_file, tmp_path
):
    (tmp_path / "people.csv").unlink()
    why = f"table.file: There is no file {tmp_path / 'people.csv'}. Names are looked for in the folder of the plan"
    said = ran(table_file, "--plan-only", "--as", "curator")
    assert "ε = 0.50" in said and why in said
    with pytest.raises(CommandError, match=re.escape(why)):
        ran(table_file, "--as", "curator")
    assert not Dataset.objects.exists()


def declared_and_granted(table_file, administrator) -> Dataset:
    """The table's dataset after a run that stopped, with a budget."""
    with pytest.raises(CommandError, match="no privacy budget yet"):
        ran(table_file, "--as", "curator")
    return building.granted(Dataset.objects.get(), administrator)


@pytest.mark.slow
def test_a_second_run_in_the_same_folder_spends_nothing_and_keeps_the_bundle(
    table_file, administrator, tmp_path
):
    dataset = declared_and_granted(table_file, administrator)
    options = ("--as", "curator", "--output", str(tmp_path))
    first = ran(table_file, *options)
    release = Release.objects.get()
    bundle = tmp_path / f"release-{release.pk}.zip"
    assert f"is ready: {bundle}" in first and "made before" not in first
    again = ran(table_file, *options)
    assert "was made before, and nothing is spent on it now. --again makes another." in again
    assert f"is ready: {bundle}" in again and str(building.left(dataset)) == "0.500000"
    content = bundle.read_bytes()
    bundle.write_bytes(b"mine")
    with pytest.raises(CommandError, match=r"is there already.*--replace, or name another .*--output"):
        ran(table_file, *options)
    assert bundle.read_bytes() == b"mine"
    ran(table_file, *options, "--replace")
    assert bundle.read_bytes() == content and str(building.left(dataset)) == "0.500000"
    ran(table_file, *options, "--again")
    assert Release.objects.count() == 2 and str(building.left(dataset)) == "0.000000"


@pytest.mark.slow
def test_a_dataset_is_paid_for_once_too_unless_another_release_is_asked_for(file, draft, tmp_path):
    for option in ((), (), ("--again",)):
        ran(file, "--output", str(tmp_path), *option)
    assert Release.objects.exclude(pk=draft.pk).count() == 2


@pytest.mark.slow
def test_what_is_declared_already_need_not_be_declared_in_the_file(table_file, administrator, tmp_path):
    undeclared = re.sub(r"(?s)\[declaration.*?(?=\[release\])", "", TABLE)
    assert "declaration" not in undeclared
    plan = tmp_path / "undeclared.toml"
    plan.write_text(undeclared)
    with pytest.raises(CommandError, match=r"you have no dataset of this table yet\. Write its columns"):
        ran(plan, "--plan-only", "--as", "curator")
    assert not Dataset.objects.exists()
    dataset = declared_and_granted(table_file, administrator)
    assert "ε = 0.50" in ran(plan, "--plan-only", "--as", "curator")
    assert f"Release {Release.objects.get().pk} is ready" in ran(
        plan, "--as", "curator", "--output", str(tmp_path)
    )
    assert Dataset.objects.get() == dataset
    (tmp_path / "people.csv").unlink()
    with pytest.raises(CommandError, match="There is no file"):
        ran(plan, "--plan-only", "--as", "curator")


def test_a_bundle_that_cannot_be_written_is_refused_before_anything_is_spent(file, draft, tmp_path):
    before = building.left(draft.dataset)
    with pytest.raises(CommandError, match="There is no folder"):
        ran(file, "--output", str(tmp_path / "nowhere" / "bundle.zip"))
    (tmp_path / "there.zip").touch()
    with pytest.raises(CommandError, match="is there already"):
        ran(file, "--output", str(tmp_path / "there.zip"))
    assert building.left(draft.dataset) == before and Release.objects.get().is_draft


def test_a_day_of_toml_is_a_day_of_a_declaration(table_file, tmp_path):
    text = (
        table_file.read_text()
        + '[declaration.columns.born]\nkind = "date"\nlower = 1979-05-27\nupper = 1980-05-27\n'
    )
    path = tmp_path / "days.toml"
    path.write_text(text + 'step = "month"\n')
    assert "ε = " in ran(path, "--plan-only", "--as", "curator")
    path.write_text(text.replace("lower = 1979-05-27", "lower = 1979-05-27T07:32:00"))
    with pytest.raises(CommandError, match="a day such as"):
        ran(path, "--plan-only", "--as", "curator")


def test_nobody_releases_from_the_dataset_of_another(file, other_curator):
    with pytest.raises(CommandError, match="may not release"):
        ran(file, "--as", "other")


CHOSEN = [
    ("histogram", ["colour", "age"], "laplace-histogram", {}),
    ("microdata", ["colour", "age"], "independent-columns", {"wishes": {}, "sums": True}),
    ("summary", ["colour", "age"], "column-tables", {"group": "colour", "twice": ["age"]}),
    (
        "means",
        ["colour", "age"],
        "bernstein-sums",
        {"groups": ["colour"], "measured": ["age"], "deviation": True},
    ),
    ("queries", ["age"], "identity", {"workload": "prefix(age)"}),
    ("selection", ["colour"], "permute-and-flip", {"question": "most_common"}),
]


@pytest.mark.parametrize(("product", "columns", "mechanism", "parameters"), CHOSEN)
def test_what_the_file_of_a_draft_says_has_its_names_and_types(
    dataset, tmp_path, product, columns, mechanism, parameters
):
    draft = building.complete_draft(dataset)
    draft.product, draft.columns, draft.mechanism, draft.parameters = product, columns, mechanism, parameters
    path = tmp_path / "plan.toml"
    path.write_text(as_toml(draft))
    assert read(path)["release"]["product"] == product
