"""From the upload to the first draft without a detour: each answer leads on, and takes nothing for granted unsaid."""

from __future__ import annotations

import io
from collections.abc import Sequence

import openpyxl
import pytest
from django.contrib.messages import get_messages
from django.core.files.storage import default_storage
from django.urls import reverse

from dpportal.datasets import records
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.releases.models import Release
from tests.dpportal import building

VISITS = b"patient_id,sex,age\n" + b"".join(b"P%d,f,%d\nP%d,m,%d\n" % (n, n, n, n) for n in range(30))
NOTED = VISITS + b"* provisional,,\n"


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def read(desk, content: bytes, **fields: str) -> Dataset:
    """Uploaded and read, with nothing answered yet."""
    dataset = building.sent(desk, content, **fields)
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    return dataset


def home(dataset: Dataset) -> str:
    return reverse("datasets:home", args=[dataset.pk])


def at(dataset: Dataset, page: str) -> str:
    return reverse(f"datasets:{page}", args=[dataset.pk])


@pytest.mark.slow
class TestFirstQuestion:
    def test_rows_with_the_same_value_are_one_person_by_one_click(self, desk):
        dataset = read(desk, VISITS)
        assert "No, rows with the same patient_id are one person" in " ".join(
            desk.get(home(dataset)).text.split()
        )
        answer = desk.post(at(dataset, "several_rows"), {"column": "patient_id"})
        assert answer.url == at(dataset, "domain")
        version = dataset.current_domain()
        assert (version.unit_column, version.max_rows, version.neighbours) == ("patient_id", 1, "add-remove")

    def test_the_first_answer_is_the_one_that_the_first_rows_suggest(self, desk):
        several = " ".join(desk.get(home(read(desk, VISITS))).text.split())
        assert "some have the same patient_id, so one person seems to have several rows" in several
        assert 'class="button primary" name="column" value="patient_id"' in several
        single = b"patient_id,sex,age\n" + b"".join(b"P%d,f,%d\n" % (n, n) for n in range(60))
        page = " ".join(desk.get(home(read(desk, single))).text.split())
        assert "No two of the first rows have the same value there" in page
        assert '<button class="button primary">Yes, each row is one person</button>' in page
        assert 'class="button" name="column" value="patient_id"' in page

    def test_a_column_that_is_not_there_is_refused(self, desk):
        dataset = read(desk, VISITS)
        assert desk.post(at(dataset, "several_rows"), {"column": "name"}).url == at(dataset, "unit")
        dataset.refresh_from_db()
        assert dataset.asks_for_unit

    def test_notes_at_the_end_are_left_out_with_the_answer_as_declared(self, desk):
        dataset = read(desk, NOTED)
        assert "Leave out the last row" in " ".join(desk.get(home(dataset)).text.split())
        answer = desk.post(at(dataset, "several_rows"), {"column": "patient_id", "notes": "on"})
        assert answer.url == home(dataset)
        # The file is read again first: there are no columns to go on with.
        assert "Now say" not in " ".join(map(str, get_messages(answer.wsgi_request)))
        CONVERSIONS.run(dataset.pk)
        dataset.refresh_from_db()
        assert dataset.rows == 60 and dataset.options["fewest_filled"] == 2
        live = desk.get(at(dataset, "progress"), headers={"HX-Request": "true"})
        assert live["HX-Redirect"] == at(dataset, "domain")

    def test_notes_that_are_kept_stay_rows(self, desk):
        dataset = read(desk, NOTED)
        desk.post(at(dataset, "one_row"))
        dataset.refresh_from_db()
        assert dataset.rows == 61 and dataset.unit_declared


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    for note in ("See the next sheet.", "Questions: the office of statistics."):
        book.active.append([note])
    sheet = book.create_sheet("Persons")
    for row in (["sex", "age"], *(["f", n] for n in range(20))):
        sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.slow
def test_a_workbook_that_begins_with_a_readme_offers_its_other_sheets_by_name(desk):
    dataset = read(desk, workbook())
    page = desk.get(home(dataset)).text
    assert 'class="button primary" name="sheet" value="Persons"' in page
    assert '<button class="button">Yes, each row is one person' in page
    assert "It has one column only" in page
    desk.post(at(dataset, "sheet"), {"sheet": "Persons"})
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert [column["name"] for column in dataset.columns] == ["sex", "age"] and dataset.rows == 20
    # And back: the question comes with the sheet that was read.
    page = desk.get(home(dataset)).text
    assert "This is the sheet “Persons” of a workbook." in page
    assert "It has one column only" not in page


@pytest.mark.slow
def test_a_cover_sheet_is_no_fault_but_a_hint_at_the_other_sheets(desk):
    book = openpyxl.load_workbook(io.BytesIO(workbook()))
    cover = book.worksheets[0]
    cover.delete_rows(1, cover.max_row)
    cover["B2"], cover["B4"] = "School statistics", "Contents: marks by school"
    content = io.BytesIO()
    book.save(content)
    dataset = read(desk, content.getvalue())
    page = desk.get(home(dataset)).text
    assert dataset.is_refused and "This sheet does not look like a table." in page
    assert 'class="notice bad"' not in page and "The table was not loaded" not in page
    assert 'name="sheet" value="Persons"' in page


def pupils(inner: Sequence[str | None]) -> bytes:
    """A sheet of notes, and one whose names stand in three lines: groups, the `inner` names, units."""
    book = openpyxl.load_workbook(io.BytesIO(workbook()))
    sheet = book.create_sheet("Pupils")
    for row in (["Table 3"], [], ["Pupil", None, "Health", None], inner, [None, None, "(cm)", "(kg)"]):
        sheet.append(row)
    for n in range(20):
        sheet.append([f"E{n}", "FM"[n % 2], 117 + n, 21.5])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.slow
class TestSheetsOfSeveralHeaderLines:
    def test_the_names_are_found_after_the_click_on_the_sheet(self, desk):
        dataset = read(desk, pupils(["number", "sex", "height", "weight"]))
        desk.post(at(dataset, "sheet"), {"sheet": "Pupils"})
        CONVERSIONS.run(dataset.pk)
        dataset.refresh_from_db()
        assert [column["name"] for column in dataset.columns] == [
            "Pupil: number",
            "Pupil: sex",
            "Health: height: (cm)",
            "Health: weight: (kg)",
        ]
        assert dataset.rows == 20 and "It has one column only" not in desk.get(home(dataset)).text

    def test_without_names_the_page_leads_on_and_not_back_to_the_notes(self, desk):
        dataset = read(desk, pupils([None] * 4))
        desk.post(at(dataset, "sheet"), {"sheet": "Pupils"})
        for leaves_out in (0, 1):
            CONVERSIONS.run(dataset.pk)
            dataset.refresh_from_db()
            page = " ".join(desk.get(home(dataset)).text.split())
            assert dataset.is_refused and "We did not find the names of all columns." in page
            assert "one column only" not in page and "does not look like a table" not in page
            assert 'class="button primary" name="sheet"' not in page
            assert "Read this sheet in another way" not in page  # its lines are in sight
            said = {"sheet": "Pupils", "title_lines": 2, "header_lines": 1, "fewest_filled": leaves_out}
            desk.post(at(dataset, "reading"), {**building.FORM, **said})


@pytest.mark.slow
class TestLooks:
    def test_a_file_is_read_once_for_the_same_settings(self, desk, monkeypatch):
        dataset = read(desk, VISITS)
        first = records.look(dataset, records.options_of(dataset))
        monkeypatch.setattr(records.raw_tables, "look", None)
        assert records.look(dataset, records.options_of(dataset)) == first

    def test_few_looks_are_kept_and_none_of_another_file(self, desk):
        dataset = read(desk, VISITS)
        for lines in range(records.MOST_LOOKS + 3):
            records.look(dataset, records.replace(records.options_of(dataset), title_lines=lines % 12))
        names = [n for n in storage.names_under(records.folder(dataset.pk)) if f"/{records.LOOK}" in n]
        assert len(names) == records.MOST_LOOKS and all(map(default_storage.exists, names))


@pytest.mark.slow
class TestDeclaring:
    def test_what_names_suggest_is_filled_in_and_declared_by_saving_alone(self, desk):
        dataset = building.uploaded(desk, VISITS)
        page = desk.get(at(dataset, "domain"))
        row = next(row for row in page.context["rows"] if row.line["name"] == "age")
        assert row.form["kind"].value() == "integer" and row.strip is not None
        assert not dataset.domain_versions.filter(attributes__isnull=False).exists()
        filled = {name: row.form[name].value() for name in row.form.fields}
        sent = {f"c2-{name}": "" if value is None else value for name, value in filled.items()}
        sent |= {"c0-kind": "ignored", "c1-kind": "categorical", "next": "release", "product": "histogram"}
        answer = desk.post(at(dataset, "domain"), sent, follow=True)
        assert [a.column for a in dataset.current_domain().attributes.all()] == ["age"]
        draft = Release.objects.get(dataset=dataset)
        assert answer.redirect_chain[-1][0] == reverse("releases:columns", args=[draft.pk])
        assert answer.context["form"]["columns"].value() == ["age"]

    def test_yes_or_no_keeps_what_the_table_writes(self, desk):
        rows = b"id,employed,is_member,age\n" + b"".join(
            b"%d,%d,%s,%s\n" % (n, n % 2, (b"N", b"Y")[n % 2], (b"young", b"old")[n % 2]) for n in range(40)
        )
        dataset = building.uploaded(desk, rows)
        page = desk.get(at(dataset, "domain"))
        shown = {row.line["name"]: row.form for row in page.context["rows"]}
        assert [shown["employed"][name].value() for name in ("no", "yes")] == ["0", "1"]
        assert [shown["is_member"][name].value() for name in ("kind", "no", "yes")] == ["boolean", "N", "Y"]
        assert "no is written" in page.text and "yes is written" in page.text
        # An age of words is suggested no numbers.
        assert shown["age"]["kind"].value() != "integer"
        desk.post(at(dataset, "chosen"), {"way": "yes-or-no", "columns": ["1", "2"]})
        declared = {a.column: a.declared() for a in dataset.current_domain().attributes.all()}
        assert {name: a.regular_labels() for name, a in declared.items()} == {
            "employed": ["0", "1"],
            "is_member": ["N", "Y"],
        }

    def test_nothing_is_suggested_once_something_is_declared(self, desk, dataset):
        rows = desk.get(at(dataset, "domain")).context["rows"]
        assert all(row.attribute is not None for row in rows)

    def test_where_nothing_is_declared_no_draft_is_begun(self, desk):
        dataset = building.uploaded(desk, VISITS)
        sent = {f"c{n}-kind": "ignored" for n in range(3)} | {"next": "release", "product": "histogram"}
        assert "Declare at least one column first" in desk.post(at(dataset, "domain"), sent, follow=True).text
        assert not Release.objects.exists()

    def test_an_estimate_that_is_saved_is_what_the_next_draft_begins_with(self, desk, dataset):
        said = saved(desk, dataset)
        desk.post(at(dataset, "domain"), {**said, "people": "1.500", "next": ""})
        begun = desk.post(reverse("releases:start", args=[dataset.pk]), {"product": "histogram"}, follow=True)
        assert begun.context["form"]["people"].value() == 1500
        draft = begun.context["draft"]
        page = reverse("releases:columns", args=[draft.pk])
        refused = desk.post(page, {"columns": ["age"], "people": "", "next": "review"})
        assert refused.status_code == 422 and "please change the following" in refused.content.decode()
        assert "required" not in str(refused.context["form"]["people"])
        onward = desk.post(page, {"columns": ["age"], "people": "1 500", "next": "review"})
        assert onward.url == reverse("releases:review", args=[draft.pk])

    def test_what_is_refused_names_its_columns_or_the_estimate(self, desk, dataset):
        said = saved(desk, dataset)
        name = next(row.line["name"] for row in desk.get(at(dataset, "domain")).context["rows"])
        page = desk.post(at(dataset, "domain"), {**said, "c0-kind": "integer", "c0-lower": "x"})
        assert page.status_code == 422
        assert f"Please correct {name}: the table below says what is wrong." in " ".join(
            page.content.decode().split()
        )
        page = desk.post(at(dataset, "domain"), {**said, "people": "1,5"})
        text = " ".join(page.content.decode().split())
        assert page.status_code == 422 and "change your estimate of the number of people" in text
        assert text.count("such as 1500, 1,500 or 1 500.") == 1


def saved(desk, dataset):
    """What the table would send if nobody changed it."""
    rows = desk.get(at(dataset, "domain")).context["rows"]
    fields = [field for row in rows for field in row.form]
    said = {f.html_name: f.value() for f in fields if f.value() is not None and f.value() is not False}
    return {name: "on" if value is True else value for name, value in said.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("content", "is_said"), [(VISITS, True), (b"foo,bar\n1,x\n2,y\n", False)])
def test_what_names_suggest_is_said_to_be_filled_in_where_they_do(desk, content, is_said) -> None:
    page = " ".join(desk.get(at(read(desk, content), "domain")).text.split())
    assert ("names suggest is filled in" in page) == is_said
