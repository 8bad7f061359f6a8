"""What people send by mistake or on purpose: each gets a sentence that helps, and never a value of the data."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from uuid import UUID

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import services
from dpportal.datasets.derived import described_columns
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building

SECRET = "Zebulon"


@pytest.fixture
def desk(client, curator) -> Client:
    """The curator's browser; a server error becomes an answer of 500, as a visitor would see it."""
    client.force_login(curator)
    client.raise_request_exception = False
    return client


def send(desk: Client, content: bytes, name: str = "table.csv", **fields: str):
    file = SimpleUploadedFile(name, content)
    return desk.post(reverse("datasets:upload"), {"file": file, "arrived": "whole", **fields})


def refusal_of(desk: Client, content: bytes, name: str = "table.csv", **fields: str) -> str:
    """Upload a file, convert it as the worker does, and return the page's refusal."""
    answer = send(desk, content, name, **fields)
    assert answer.status_code == 302
    dataset = Dataset.objects.get()
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.REFUSED
    # Below the refusal the owner sees the file's lines, and that look is on record.
    words, _form, lines = desk.get(answer.url).content.decode().partition('id="lines"')
    assert dataset.conversion.failure and SECRET not in words + dataset.conversion.failure
    assert not lines or AuditEntry.objects.filter(action="viewed first rows").exists()
    return dataset.conversion.failure


def kinds_of(desk: Client, content: bytes, name: str = "table.csv", **fields: str) -> dict[str, str]:
    """Upload a file that can be read; the kind of every column."""
    send(desk, content, name, **fields)
    CONVERSIONS.run(Dataset.objects.get().pk)
    dataset = Dataset.objects.get()
    assert dataset.has_records, dataset.conversion.failure
    return {column["name"]: column["kind"] for column in described_columns(dataset)}


# Files


def test_an_empty_file_is_refused_beside_the_field(desk):
    answer = send(desk, b"")
    assert answer.status_code == 422
    assert "This file is empty" in answer.context["form"].errors["file"][0]


def test_no_file_is_refused_beside_the_field(desk):
    answer = desk.post(reverse("datasets:upload"), {"arrived": "whole"})
    assert answer.context["form"].errors["file"] == ["Choose a file first."]


@pytest.mark.slow
def test_a_header_without_rows_is_refused(desk):
    assert "row" in refusal_of(desk, b"age,name\n")


@pytest.mark.slow
def test_one_byte_is_refused(desk):
    assert refusal_of(desk, b"x")


@pytest.mark.slow
def test_duplicate_names_are_refused_by_their_place(desk):
    assert "column" in refusal_of(desk, b"age,age\n1,2\n").lower()


@pytest.mark.slow
def test_a_blank_name_is_refused_by_its_place(desk):
    assert "column" in refusal_of(desk, b"age,,sex\n1,2,3\n").lower()


@pytest.mark.slow
def test_a_ragged_row_is_refused_by_its_number(desk):
    assert "3" in refusal_of(desk, b"age,name\n1,a\n2,Zebulon,c\n")


@pytest.mark.slow
def test_more_columns_than_are_read_are_refused(desk):
    wide = ",".join(f"c{i}" for i in range(513))
    assert "513" in refusal_of(desk, f"{wide}\n{wide}\n".encode())


@pytest.mark.slow
def test_a_single_line_of_300_megabytes_is_refused(desk):
    assert "line" in refusal_of(desk, b"a" * 300_000_000).lower()


@pytest.mark.slow
def test_a_binary_file_named_csv_is_refused(desk):
    assert refusal_of(desk, b"\x89PNG\r\n\x1a\n" + bytes(100))


@pytest.mark.slow
def test_a_workbook_that_unfolds_too_far_is_refused(desk):
    book, bomb = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(book)
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.namelist():
            filler = b" " * 200_000_000 if part.endswith("sheet1.xml") else b""
            target.writestr(part, source.read(part) + filler)
    assert "unfolds" in refusal_of(desk, bomb.getvalue(), "table.xlsx")


@pytest.mark.slow
def test_a_parquet_file_that_unfolds_too_far_is_refused(desk):
    file = io.BytesIO()
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), pa.array(["a" * 1_000_000]))
    pq.write_table(pa.table({"a": long}), file, compression="zstd")
    assert "unfolds" in refusal_of(desk, file.getvalue(), "table.parquet")


@pytest.mark.slow
def test_a_parquet_file_cut_in_half_is_refused(desk):
    file = io.BytesIO()
    pq.write_table(building.small_table(), file)
    half = file.getvalue()[: len(file.getvalue()) // 2]
    assert "cut short" in refusal_of(desk, half, "table.parquet")


def test_an_upload_cut_in_half_keeps_nothing(desk):
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n'
        b"Content-Type: text/csv\r\n\r\nage,name\n1,a\n2,b"
    )
    answer = desk.generic("POST", reverse("datasets:upload"), body, "multipart/form-data; boundary=x")
    assert answer.status_code == 422
    assert "did not arrive whole" in answer.context["form"].errors["file"][0]
    assert not Dataset.objects.exists()


@pytest.mark.slow
def test_not_a_number_and_infinity_are_no_error(desk):
    assert kinds_of(desk, b"x\n1.5\nNaN\ninf\n")["x"] in ("real", "text")


@pytest.mark.slow
def test_thousands_separators_are_read_when_said(desk):
    assert kinds_of(desk, b'x\n"1,234"\n"5,678"\n', thousands=",") == {"x": "integer"}


@pytest.mark.slow
def test_mixed_types_are_text(desk):
    assert kinds_of(desk, b"x\n1\ntwo\n3.5\n") == {"x": "text"}


@pytest.mark.slow
def test_emoji_and_accents_are_text(desk):
    assert kinds_of(desk, "x,y\n🦜,é\n🦜,è\n".encode()) == {"x": "text", "y": "text"}


# Domain


def declare(desk: Client, dataset: Dataset, position: int, **fields: str):
    return desk.post(reverse("datasets:column", args=[dataset.pk, position]), fields)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "integer", "lower": "90", "upper": "17", "binning": "per_value"}, "upper"),
        ({"kind": "integer", "lower": "", "upper": "17", "binning": "per_value"}, "lower"),
        ({"kind": "integer", "lower": "1,00", "upper": "2,000", "binning": "per_value"}, "lower"),
        ({"kind": "integer", "lower": "0", "upper": "9", "binning": "width", "width": "0"}, "width"),
        ({"kind": "integer", "lower": "0", "upper": "9", "binning": "width"}, "width"),
        ({"kind": "integer", "lower": "0", "upper": "9999999", "binning": "per_value"}, "binning"),
        ({"kind": "real", "lower": "NaN", "upper": "1", "binning": "width", "bins": "3"}, "lower"),
        ({"kind": "real", "lower": "0", "upper": "inf", "binning": "width", "bins": "3"}, "upper"),
        ({"kind": "real", "lower": "0", "upper": "1", "binning": "width"}, "bins"),
        ({"kind": "real", "lower": "0", "upper": "1", "binning": "edges", "edges": "0 1 half"}, "edges"),
        ({"kind": "real", "lower": "0", "upper": "1", "binning": "edges", "edges": "1 0"}, "edges"),
        ({"kind": "real", "lower": "0", "upper": "1", "binning": "edges", "edges": "0 0.5 0.5 1"}, "edges"),
        ({"kind": "integer", "lower": "0", "upper": "9", "binning": "edges", "edges": "0 5 5 9"}, "edges"),
        ({"kind": "date", "lower": "13.13.2020", "upper": "2021-01-01", "step": "day"}, "lower"),
        ({"kind": "date", "lower": "1600-01-01", "upper": "9999-12-31", "step": "day"}, "step"),
        ({"kind": "categorical", "values": ""}, "values"),
        ({"kind": "categorical", "values": "a\na"}, "values"),
        ({"kind": "categorical", "values": "a\nMissing", "missing_cell": "on"}, "values"),
        ({"kind": "nonsense"}, "kind"),
    ],
)
def test_a_wrong_declaration_is_refused_beside_its_field(desk, dataset, fields, field):
    answer = declare(desk, dataset, 1, **fields)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]


def test_a_refused_declaration_keeps_what_was_typed(desk, dataset):
    answer = declare(desk, dataset, 1, kind="integer", lower="90", upper="17", binning="per_value")
    assert b'value="90"' in answer.content


def test_a_refused_declaration_leaves_the_old_one(desk, dataset):
    declare(desk, dataset, 1, kind="integer", lower="90", upper="17", binning="per_value")
    assert dataset.current_domain().domain().shape == (4, 10)


def test_more_rows_per_person_need_the_column_that_names_the_person(desk, dataset):
    fields = {"neighbours": "add-remove", "unit_column": "", "max_rows": "3"}
    answer = desk.post(reverse("datasets:unit", args=[dataset.pk]), fields)
    assert list(answer.context["form"].errors) == ["unit_column"]


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[1]",
        b'{"age": -5}',
        b'{"age": {"kind": "x"}}',
        b"a\nb\n",
        b"\xff\xfe",
        b'{"age": %s}' % (b"9" * 5000),
        rb'{"colour": ["red", "\ud800"]}',
        rb'{"\udfff": ["red"]}',
        b"column,value\ncolour,a\0b\n",
    ],
)
def test_a_broken_codebook_is_refused_in_words(desk, dataset, content):
    file = SimpleUploadedFile("codebook", content)
    address = reverse("datasets:codebook", args=[dataset.pk])
    answer = desk.post(address, {"codebook": file}, follow=True)
    assert answer.status_code == 200
    [message] = answer.context["messages"]
    assert "codebook" in str(message).lower() or "JSON" in str(message)


def test_filling_from_the_data_needs_the_word_that_it_is_public(desk, dataset):
    address = reverse("datasets:fill_column", args=[dataset.pk, 0])
    answer = desk.post(address, {}, follow=True)
    assert "confirm first" in str(*answer.context["messages"])
    assert not dataset.current_domain().attributes.filter(filled_from_data=True).exists()


# Wizard


def wide(dataset: Dataset) -> Dataset:
    """Declare 1,001 × 999,999 cells."""
    colours = Categorical("colour", values=tuple(f"c{i}" for i in range(1000)))
    services.declare_all(dataset, [colours, Integer("age", lower=1, upper=999_999)])
    return dataset


def test_a_domain_of_a_thousand_million_cells_is_refused_with_its_size(desk, dataset, draft):
    wide(dataset)
    fields = {"columns": ["colour", "age"], "people": "300"}
    answer = desk.post(reverse("releases:columns", args=[draft.pk]), fields)
    assert answer.status_code == 422
    assert "1,000,998,999 cells" in answer.context["form"].errors["columns"][0]


@pytest.mark.parametrize(
    "amount", ["0", "-1", "NaN", "Infinity", "1e308", "0.1+0.2", "0,5,5", "", "0.0000001", "1001", "½"]
)
def test_an_amount_that_is_none_is_refused_beside_its_field(desk, draft, amount):
    fields = {"mechanism": "laplace-histogram", "amount": amount, "purpose": "cells"}
    answer = desk.post(reverse("releases:method", args=[draft.pk]), fields)
    assert answer.status_code == 422
    assert "amount" in answer.context["form"].errors


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "1e308", "0.1+0.2", "", "<b>"])
def test_the_dial_answers_nonsense_with_a_sentence(desk, draft, amount):
    address = reverse("releases:dial", args=[draft.pk])
    answer = desk.get(address, {"epsilon": amount, "mechanism": "laplace-histogram"})
    assert answer.status_code == 200
    assert answer.json()["error"]


@pytest.mark.parametrize("half_width", ["-1", "NaN", "1e308", "many", "99999999999999"])
def test_the_dial_answers_a_nonsensical_interval_with_a_sentence(desk, draft, half_width):
    address = reverse("releases:dial", args=[draft.pk])
    answer = desk.get(address, {"half_width": half_width, "mechanism": "laplace-histogram"})
    assert answer.status_code == 200
    assert answer.json()["error"]


def test_a_method_that_does_not_exist_is_refused(desk, draft):
    fields = {"mechanism": "magic", "amount": "0.1", "purpose": "cells"}
    answer = desk.post(reverse("releases:method", args=[draft.pk]), fields)
    assert answer.context["form"].errors["mechanism"] == ["Choose one of the methods shown."]


def confirm(desk: Client, draft: Release):
    address = reverse("releases:review", args=[draft.pk])
    reviewed = desk.get(address).context["form"].initial["reviewed"]
    return lambda: desk.post(address, {"reviewed": reviewed, "agreed": "on", "useless": "on"})


def test_confirming_twice_charges_once(desk, dataset, draft):
    post = confirm(desk, draft)
    first, second = post(), post()
    assert first.url == second.url == reverse("releases:job", args=[draft.pk])
    assert building.left(dataset) == Decimal("0.9")


def test_going_back_to_any_step_after_spending_leads_to_the_job(desk, dataset, draft):
    confirm(desk, draft)()
    for step in ("product", "columns", "method", "review"):
        answer = desk.get(reverse(f"releases:{step}", args=[draft.pk]))
        assert answer.url == reverse("releases:job", args=[draft.pk])
    assert building.left(dataset) == Decimal("0.9")


def test_a_confirmation_without_its_tick_spends_nothing(desk, dataset, draft):
    answer = desk.post(reverse("releases:review", args=[draft.pk]), {"reviewed": "x"})
    assert "agreed" in answer.context["form"].errors
    assert building.left(dataset) == Decimal(1)


def test_a_domain_changed_since_the_review_is_reviewed_again(desk, dataset, draft):
    post = confirm(desk, draft)
    declare(desk, dataset, 1, kind="integer", lower="0", upper="49", binning="per_value")
    answer = post()
    assert "Read the review again" in str(answer.context["form"].non_field_errors())
    assert building.left(dataset) == Decimal(1)


def test_more_than_is_left_is_refused_with_both_numbers(desk, dataset):
    draft = building.complete_draft(dataset, "1.5")
    answer = confirm(desk, draft)()
    [text] = answer.context["form"].non_field_errors()
    assert "1.50" in text
    assert "1.00" in text


def test_an_address_with_an_unknown_release_is_404(desk):
    assert desk.get(reverse("releases:public", args=[UUID(int=0)])).status_code == 404


# Categories that are hostile all the way.
HOSTILE = ["<script>alert(1)</script>", "=cmd()", "🦜", "+1", "@home", "a,b\"c'"]


@pytest.fixture
def hostile(desk, dataset) -> Release:
    """A finished, published release whose categories are hostile."""
    declare(desk, dataset, 0, kind="categorical", closed="open", values="\n".join(HOSTILE))
    draft = building.complete_draft(dataset)
    Release.objects.filter(pk=draft.pk).update(title="<b>Bold</b>")
    confirm(desk, draft)()
    RELEASES.run(draft.pk)
    desk.post(reverse("releases:publish", args=[draft.pk]), {"all_the_same": "on"})
    return Release.objects.get(pk=draft.pk)


@pytest.mark.slow
def test_a_hostile_category_is_harmless_in_the_public_page(hostile, client):
    html = client.get(hostile.get_absolute_url()).content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<b>Bold</b>" not in html and "&lt;b&gt;Bold&lt;/b&gt;" in html


def test_a_hostile_category_is_harmless_in_the_compare_page(hostile, desk):
    html = desk.get(reverse("releases:compare", args=[hostile.pk])).content.decode()
    assert "<script>alert" not in html


@pytest.mark.parametrize("name", ["histogram.csv", "synthetic.csv"])
def test_a_hostile_category_is_no_formula_in_a_csv(hostile, client, name):
    answer = client.get(reverse("releases:download", args=[hostile.pk, name]))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert not [line for line in lines if line.startswith(("=", "+", "@", '"=', '"+', '"@'))]


def test_an_emoji_is_whole_in_the_csv(hostile, client):
    address = reverse("releases:download", args=[hostile.pk, "histogram.csv"])
    assert "🦜".encode() in b"".join(client.get(address).streaming_content)
