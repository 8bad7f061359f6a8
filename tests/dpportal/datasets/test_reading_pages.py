"""How a file is read: declared with the upload, changed on its page, fixed by the first release; upload to counts."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import records, services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Real
from tests.dpportal.building import FORM, uploaded
from tests.dpportal.tables.test_frame import MESSY, sheet


@pytest.fixture
def desk(client, curator) -> Client:
    client.force_login(curator)
    return client


def counted(dataset: Dataset, attribute: Attribute) -> list[int]:
    services.declare(dataset, attribute.name, attribute)
    version = dataset.current_domain()
    return records.count(dataset, version, Domain((attribute,)), b"key").tolist()


HBA1C = Real("x", lower=4.0, upper=14.0, bins=100)
EDGES = "".join(f"{tenths // 10}.{tenths % 10}\n" for tenths in range(40, 140))
YEARS = Date("x", True, dt.date(2020, 1, 1), dt.date(2021, 12, 31), "year")
WRONG_ONCE = [
    ("x\n" + EDGES, HBA1C, [1] * 100),
    ("x\n250.00\n250.10\n250.1\n", Categorical("x", values=("250.00", "250.10", "250.1")), [1, 1, 1, 0]),
    ("x\nTRUE\nFALSE\nTRUE\n", Categorical("x", values=("TRUE", "FALSE")), [2, 1, 0]),
    ("x\n31.12.2020\n01.02.2021\n02.02.2021\n", YEARS, [1, 2, 0]),
    ("x\n1.0\n0.0\n1.0\nU\n", Boolean("x", True, ("0", "1")), [1, 2, 1]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("table", "attribute", "counts"), WRONG_ONCE)
def test_tables_that_were_once_published_wrong_are_counted_right(desk, table, attribute, counts):
    assert counted(uploaded(desk, table.encode()), attribute) == counts


@pytest.mark.slow
def test_a_foreign_byte_spoils_its_own_row_alone_and_is_told(desk):
    dataset = uploaded(desk, b"x,y\n" + "Zürich,1\n".encode() * 20_000 + b"Bern,\xe9\n")
    assert counted(dataset, Categorical("x", values=("Zürich", "Bern"))) == [20_000, 1, 0]
    assert dataset.facts["replaced_bytes"] == 1
    assert "1 byte is none" in desk.get(reverse("datasets:home", args=[dataset.pk])).content.decode()


@pytest.mark.slow
def test_resolved_options_become_declarations(desk):
    dataset = uploaded(desk, b"a;d\n1,5;31.12.2020\n", missing="NA 'not known'")
    assert dataset.options["delimiter"] == ";"
    assert (dataset.options["decimal"], dataset.options["date_format"]) == (",", "day-first")
    assert dataset.options["missing"] == ["NA", "not known"]


@pytest.mark.slow
def test_marks_and_formats_change_without_reading_again(desk):
    dataset = uploaded(desk, b"a,x\n1,01/02/2020\n")
    address = reverse("datasets:reading", args=[dataset.pk])
    fields = {**FORM, "delimiter": ",", "encoding": "utf-8", "decimal": ".", "thousands": "none"}
    fields |= {"title_lines": "0", "header_lines": "1"}
    months = Date("x", True, dt.date(2020, 1, 1), dt.date(2020, 12, 31), "month")
    for date_format, month in (("day-first", 1), ("month-first", 0)):
        assert desk.post(address, {**fields, "date_format": date_format}).status_code == 302
        dataset.refresh_from_db()
        assert dataset.state == Dataset.State.STORED
        assert int(np.argmax(counted(dataset, months))) == month
    assert AuditEntry.objects.filter(action="changed how the file is read").count() == 2


@pytest.mark.slow
def test_another_delimiter_reads_the_file_again_and_forgets_columns_that_are_gone(desk):
    dataset = uploaded(desk, b"a;b\n1;2\n", delimiter=",")
    assert [c["name"] for c in dataset.columns] == ["a;b"]
    services.declare(dataset, "a;b", Categorical("a;b", values=("x",)))
    desk.post(reverse("datasets:reading", args=[dataset.pk]), {**FORM, "delimiter": ";"})
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.CONVERTING
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert [c["name"] for c in dataset.columns] == ["a", "b"]
    assert not dataset.current_domain().attributes.exists()


@pytest.mark.slow
def test_a_file_without_names_is_read_where_it_is_said(desk):
    dataset = uploaded(desk, b"1,x\n2,y\n", header="data", strip="kept")
    assert [c["name"] for c in dataset.columns] == ["column_1", "column_2"]
    assert (dataset.rows, dataset.options["header"], dataset.options["strip"]) == (2, False, False)


@pytest.mark.slow
def test_a_refused_file_can_be_read_otherwise(desk):
    dataset = uploaded(desk, b"a,b\n1,2\n3;4\n")
    assert dataset.state == Dataset.State.REFUSED
    desk.post(reverse("datasets:reading", args=[dataset.pk]), {**FORM, "delimiter": ";"})
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.REFUSED
    desk.post(reverse("datasets:reading", args=[dataset.pk]), {**FORM, "delimiter": "|"})
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.rows) == (Dataset.State.STORED, 2)


@pytest.mark.slow
def test_who_changes_how_a_refused_file_is_read_is_not_sent_to_rows_that_are_not_there(desk):
    dataset = uploaded(desk, b"a,b\n1,2\n3;4\n")
    address = reverse("datasets:reading", args=[dataset.pk])
    refused = desk.post(address, {**FORM, "delimiter": ";"}, follow=True).text
    assert (
        "Saved: how the file is read. It is read again now." in refused
        and "Look at the first rows" not in refused
    )


@pytest.mark.slow
def test_a_fault_of_the_file_is_said_in_the_readers_language(desk, curator, monkeypatch):
    """The page of a file that takes too long said so in English."""
    dataset = uploaded(desk, b"a,b\n1,2\n")
    address = reverse("datasets:reading", args=[dataset.pk])
    monkeypatch.setattr(records, "LOOK_SECONDS", 0.0)
    assert "longer than 0 seconds" in desk.get(address).text
    type(curator).objects.filter(pk=curator.pk).update(language="zh-hans")
    assert "longer than" not in desk.get(address).text


@pytest.mark.slow
def test_nothing_changes_once_it_is_frozen(desk, curator, django_capture_on_commit_callbacks):
    dataset = uploaded(desk, b"a,b\n1,2\n")
    with django_capture_on_commit_callbacks(execute=True):
        services.freeze_parse_options(dataset)
    assert not default_storage.exists(dataset.upload)
    desk.post(reverse("datasets:reading", args=[dataset.pk]), {**FORM, "decimal": ","})
    dataset.refresh_from_db()
    assert dataset.options["decimal"] == "."
    assert "this is fixed" in desk.get(reverse("datasets:reading", args=[dataset.pk])).content.decode()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"thousands": ".", "decimal": "."}, "thousands"),
        ({"date_format": "own", "own_format": "%d.%m"}, "own_format"),
        ({"date_format": "own"}, "own_format"),
        ({"missing": "NA 'open"}, "missing"),
        ({"delimiter": "x"}, "delimiter"),
        ({"encoding": "utf-7"}, "encoding"),
    ],
)
def test_a_wrong_option_is_told_at_its_field(desk, fields, field):
    file = SimpleUploadedFile("small.csv", b"a\n1\n")
    data = {**FORM, "file": file, "arrived": "whole", **fields}
    answer = desk.post("/datasets/new/", data, headers={"accept": "application/json"})
    assert list(answer.json()["errors"]) == [field]


@pytest.mark.slow
def test_a_text_called_like_a_cell_is_not_declared_from_the_data(desk):
    dataset = uploaded(desk, b"a,b\nMissing,1\nx,2\n")
    answer = desk.post(reverse("datasets:fill_column", args=[dataset.pk, 0]), {"public": "on"}, follow=True)
    assert "already the name of a cell" in answer.content.decode()
    assert dataset.current_domain() is None or not dataset.current_domain().attributes.exists()


@pytest.mark.slow
def test_the_mark_of_a_filled_column_stays_whatever_is_declared_after(desk):
    dataset = uploaded(desk, b"a,b\n1,2\n")
    desk.post(reverse("datasets:fill_column", args=[dataset.pk, 0]), {"public": "on"})
    dataset.refresh_from_db()
    services.declare(dataset, "a", None)
    services.declare(dataset, "a", Categorical("a", values=("x",)))
    assert dataset.current_domain().attributes.get(column="a").filled_from_data


def declare(desk, dataset, **fields):
    return desk.post(reverse("datasets:column", args=[dataset.pk, 0]), fields)


@pytest.mark.slow
def test_a_categorical_column_asks_where_misfits_go(desk):
    dataset = uploaded(desk, b"a,b\n1,2\n")
    assert "Choose where values go" in declare(desk, dataset, kind="categorical", values="x").content.decode()
    declare(desk, dataset, kind="categorical", values="x\ny", closed="value", misfits_to="y")
    assert dataset.current_domain().attributes.get().declared().misfits_to == 1
    page = declare(desk, dataset, kind="categorical", values="x\ny", closed="value", misfits_to="z")
    assert "Write one of the declared values" in page.content.decode()
    declare(desk, dataset, kind="categorical", values="1\n2.50", closed="left-out", as_numbers="on")
    declared = dataset.current_domain().attributes.get().declared()
    assert (declared.closed, declared.as_numbers, declared.leaves_out) == (True, True, True)


@pytest.mark.slow
def test_a_yes_or_no_column_begins_closed(desk):
    dataset = uploaded(desk, b"a,b\n1,2\n")
    declare(desk, dataset, kind="boolean")
    assert dataset.current_domain().attributes.get().declared() == Boolean("a", closed=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [
        {"values": "x\nother", "closed": "open"},
        {"values": "x\nMissing", "missing_cell": "on", "closed": "open"},
        {"values": "é\ne\u0301", "closed": "open"},
    ],
)
def test_a_value_called_like_another_cell_is_refused_at_its_field(desk, fields):
    dataset = uploaded(desk, b"a,b\n1,2\n")
    answer = declare(desk, dataset, kind="categorical", **fields)
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {"values"}


@pytest.mark.slow
def test_the_persons_page_tells_how_many_the_first_rows_have(desk):
    dataset = uploaded(desk, b"who,x\nP1,1\nP1 ,2\np1,3\n")
    unit = {"neighbours": "add-remove", "unit_column": "who", "max_rows": "1"}
    address = reverse("datasets:unit", args=[dataset.pk])
    desk.post(address, unit)
    assert "first 3 rows have 2 different people" in desk.get(address).content.decode()
    desk.post(address, {**unit, "ignore_case": "on"})
    assert "first 3 rows have one person in who" in desk.get(address).content.decode()


@pytest.mark.slow
def test_a_file_with_titles_and_notes_is_read_after_one_answer(desk, curator):
    dataset = uploaded(desk, MESSY.encode())
    assert dataset.state == Dataset.State.REFUSED
    page = desk.get(reverse("datasets:reading", args=[dataset.pk]))
    assert AuditEntry.objects.filter(action="viewed first rows").count() == 1
    lines, form = page.context["lines"], page.context["form"]
    assert [line.role for line in lines.first[:5]] == ["title", "title", "names", "names", "row"]
    assert {line.fields[0] for line in lines.first if line.role == "note"} == {
        "Total",
        "Source: Ministry of Labour, own computation",
        "* provisional",
    }
    assert lines.proposes_notes
    assert lines.names[1] == "Persons: sex"
    said = {
        name: form[name].value() for name in ("title_lines", "header_lines", "fewest_filled", "note_words")
    }
    # Another line is tried, and nothing is saved by that.
    tried = desk.post(
        reverse("datasets:reading", args=[dataset.pk]), {**FORM, **said, "title_lines": 4, "look": "same"}
    )
    assert tried.context["lines"].first[2].role == "title"
    assert tried.context["lines"].names[0] == "North"
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.REFUSED
    desk.post(reverse("datasets:reading", args=[dataset.pk]), {**FORM, **said})
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.rows) == (Dataset.State.STORED, 3)
    assert dataset.options["note_words"] == ["Source", "Total"]
    declaring = " ".join(desk.get(reverse("datasets:domain", args=[dataset.pk])).content.decode().split())
    assert (
        "The names are read below the first 3 lines, which are left out. 2 lines of names are joined. Lines with fewer "
        "than 2 values are left out as notes. Lines that begin with one of these words are left out as notes: "
        "Source, Total."
    ) in declaring


@pytest.mark.slow
def test_notes_that_are_still_rows_are_said_on_the_page_of_the_declaration(desk):
    dataset = uploaded(desk, b"id,sex,age\n" + b"1,f,2\n" * 9 + b"Total,,18\nSource: own,,\n")
    address = reverse("datasets:domain", args=[dataset.pk])
    assert "The last 2 rows look like sums or notes." in " ".join(desk.get(address).text.split())


@pytest.mark.slow
@pytest.mark.parametrize("words", ["", "Source"])
def test_the_way_to_leave_a_last_row_out_shows_it_and_has_the_rule_filled_in(desk, words):
    end = b";;\n" if not words else b"Total;;18\nSource: own;;\n"
    dataset = uploaded(desk, b"id;sex;age\n" + b"1;f;2\n" * 40 + end, note_words=words)
    assert "Leave notes out" in desk.get(reverse("datasets:home", args=[dataset.pk])).text
    page = desk.get(reverse("datasets:reading", args=[dataset.pk]))
    form = page.context["form"]
    assert [(line.number, line.role) for line in page.context["lines"].last][-1 - bool(words)] == (42, "note")
    said = {
        name: form[name].value() for name in ("title_lines", "header_lines", "fewest_filled", "note_words")
    }
    assert (said["fewest_filled"], said["note_words"]) == ((0, "Source Total") if words else (1, ""))
    desk.post(reverse("datasets:reading", args=[dataset.pk]), {**FORM, **said})
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert (dataset.rows, dataset.facts.get("notes_at_end")) == (40, 0)


@pytest.mark.slow
def test_a_column_of_values_without_a_name_is_named_first(desk):
    for content in (b";sex;age\n1;f;2\n2;m;3\n", b"sex;age;\n" + b"f;2;\n" * 60 + b"f;2;x\n"):
        page = " ".join(desk.get(reverse("datasets:home", args=[uploaded(desk, content).pk])).text.split())
        column = 1 if content.startswith(b";") else 3
        assert f"Column {column} has values and no name. Write a name above them in the file" in page
        assert "We did not find the names" not in page


@pytest.mark.slow
def test_a_rule_about_notes_keeps_the_number_of_rows_secret(desk):
    dataset = uploaded(desk, b"a,b,c\n1,2,3\n", fewest_filled=2)
    services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    assert dataset.current_domain().unit.may_be_absent


def test_in_a_workbook_a_person_without_any_value_is_no_row_so_the_number_of_rows_stays_private(dataset):
    services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    for known, hides in [("csv", False), ("parquet", False), ("xlsx", True)]:
        Dataset.objects.filter(pk=dataset.pk).update(facts={**dataset.facts, "format": known})
        assert Dataset.objects.get(pk=dataset.pk).current_domain().unit.may_be_absent is hides


@pytest.mark.slow
def test_a_workbook_that_was_refused_is_read_from_the_sheet_of_that_name(desk, tmp_path):
    dataset = uploaded(desk, sheet(tmp_path), sheet="Table 4")
    assert dataset.state == Dataset.State.REFUSED
    page = desk.get(reverse("datasets:reading", args=[dataset.pk]))
    assert page.context["lines"].first[0].fields == ("What this workbook holds",)
    page = desk.post(
        reverse("datasets:reading", args=[dataset.pk]), {**FORM, "sheet": "Table 3", "look": "anew"}
    )
    assert [value for value, _name in page.context["form"].fields["sheet"].choices] == ["Read me", "Table 3"]
    assert page.context["lines"].names[2] == "Persons: age (years)"
