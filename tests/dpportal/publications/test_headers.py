"""Names of columns in downloads: R and SPSS take them as they are, and all files of a bundle agree."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest
from django.core.files.storage import default_storage

from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.platform.records_guard import reading
from dpportal.publications import codebook
from dpportal.publications.workbook import workbook
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from dpportal.releases.products.histogram import tables as histogram
from dpportal.releases.products.queries import tables as queries
from dpportal.releases.products.shared.synthetic_files import write_frames
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.synthesis.table import rows_of_cells
from mechanisms.tabular.headers import MOST_BYTES, NUMBERS, Headers, valid_names
from mechanisms.tabular.label_columns import label_columns
from tests.dpportal import building

# Letters of any script, digits and underscores: valid in SPSS, and what R's make.names leaves as it is.
VALID = re.compile(r"[^\W\d_]\w*")


@pytest.mark.parametrize(
    "name, header",
    [
        ("age", "age"),
        ("Age in years", "Age_in_years"),
        ("household.size", "household_size"),
        ("2020 income (€)", "x2020_income"),
        ("_id_", "id"),
        ("Größe", "Größe"),
        ("年齢", "年齢"),
        ("=1+1", "x1_1"),
        ("by", "x_by"),
        ("NOT", "x_NOT"),
        ("NA", "x_NA"),
        ("if", "x_if"),
        ("???", "column"),
        ("", "column"),
        ('a\nb,"c"', "a_b_c"),
    ],
)
def test_a_name_becomes_valid(name, header):
    assert valid_names([name]) == [header]


def test_names_differ_whatever_their_case_and_however_long():
    names = ["Sex", "sex", "SEX ", "sex_2", "ä" * 40, "ä" * 41, "x" * 64, "X" * 65, "count", "Count"]
    found = valid_names(names, NUMBERS)
    assert found[:4] == ["Sex", "sex_2", "SEX_3", "sex_2_2"]
    assert len({name.casefold() for name in [*found, *NUMBERS]}) == len(names) + len(NUMBERS)
    assert all(VALID.fullmatch(name) and len(name.encode()) <= MOST_BYTES for name in found)


def test_the_numbers_beside_the_columns_of_every_file_are_known():
    answers = {field["name"] for field in queries.ANSWER_FIELDS}
    assert {*histogram.NUMBERS, *queries.CELL_FIELDS, *answers} <= set(NUMBERS)


def test_a_column_of_labels_takes_no_name_of_another_column():
    edu = Categorical("edu", True, ("1", "2"), words=("low", "high"))
    headers = Headers.of(Domain((edu, Integer("edu_label", lower=0, upper=9, width=1))))
    assert headers.columns == {"edu": "edu", "edu_label": "edu_label"}
    assert headers.labels == {"edu": "edu_label_2"}


def content(release: Release, name: str) -> io.BytesIO:
    with default_storage.open(release.artifacts.get(name=name).stored) as file:
        return io.BytesIO(file.read())


@pytest.mark.slow
def test_all_files_of_a_bundle_agree_and_the_codebook_has_the_original_names(dataset):
    """One column is called like a number beside it, the other like a word of SPSS, with codes."""
    words = ("Rot", "Grün", "Blau")
    Dataset.objects.filter(pk=dataset.pk).update(columns=[{"name": "by"}, {"name": "count"}])
    dataset.current_domain().attributes.all().delete()
    dataset.refresh_from_db()
    colours = Categorical("by", True, ("red", "green", "blue"), closed=True, words=words)
    services.declare_all(dataset, [colours, Integer("count", lower=0, upper=99, width=50)])
    draft = building.complete_draft(dataset)
    Release.objects.filter(pk=draft.pk).update(columns=["by", "count"])
    draft.refresh_from_db()
    building.confirm(draft)
    rename_in_table(dataset)
    RELEASES.run(draft.pk)
    names = ["x_by", "x_by_label", "count_2"]
    assert list(pd.read_csv(content(draft, "synthetic.csv")).columns) == names
    assert list(pd.read_csv(content(draft, "histogram.csv")).columns[:3]) == names
    assert pq.read_schema(content(draft, "synthetic.parquet")).names == names
    told = json.load(content(draft, "release.json"))["columns"]
    assert told == [{"name": "x_by", "column": "by"}, {"name": "count_2", "column": "count"}]
    book = pd.read_csv(content(draft, "codebook.csv"), keep_default_na=False)
    red = book.query("value == 'red'").iloc[0]
    assert (red["name"], red.labels_in, red.column, red.label) == ("x_by", "x_by_label", "by", "Rot")
    assert book.query("column == 'count'")["name"].unique().tolist() == ["count_2"]


def rename_in_table(dataset: Dataset) -> None:
    """The stored table, with the columns under their new names."""
    with reading(), default_storage.open(dataset.table) as file:
        table = pq.read_table(io.BytesIO(file.read()))
    sink = io.BytesIO()
    pq.write_table(table.rename_columns(["by", "count"]), sink)
    default_storage.delete(dataset.table)
    sink.seek(0)
    assert default_storage.save(dataset.table, sink) == dataset.table


def test_the_codebook_says_what_a_group_is_made_of(tmp_path):
    """Of a coarser column the table has no column of that name, and no such values."""
    level = Categorical("level", True, ("1", "2", "3"), words=("low", "high", "high"), source="edu")
    book = pd.read_csv(codebook.write(Domain((level,)), tmp_path).path, keep_default_na=False)
    assert book[["column", "value", "label", "made_of"]].values.tolist() == [
        ["edu", "low", "", "1"],
        ["edu", "high", "", "2; 3"],
        ["edu", "Other", "", ""],
        ["edu", "", "Missing", ""],
    ]


def test_a_missing_value_is_an_empty_field_beside_a_value_that_is_called_missing(tmp_path):
    """As in synthetic rows, whose missing values are null."""
    sex = Categorical("sex", True, ("1", "2"), closed=True, words=("Missing data", "missing"))
    codes, labels = label_columns(Domain((sex,)))
    assert (codes.labels, labels.labels) == (["1", "2", ""], ["Missing data", "missing", ""])
    book = pd.read_csv(codebook.write(Domain((sex,)), tmp_path).path, keep_default_na=False)
    assert book[["value", "label"]].values.tolist()[-2:] == [["2", "missing"], ["", "Missing"]]


@pytest.mark.parametrize(
    "values, closed, words, kind",
    [
        (("-9", "-8", "1"), True, ("refused", "unknown", "yes"), "integer"),
        (("-9", "0", "3"), True, (), "integer"),
        (("1", "2"), False, ("a", "b"), "string"),
        (("1", "02"), True, ("a", "b"), "string"),
        (("1", "1.5"), True, ("a", "b"), "string"),
        (("1", "1000000000000000"), True, ("a", "b"), "string"),
    ],
)
def test_codes_that_are_all_whole_numbers_are_numbers_in_every_file(tmp_path, values, closed, words, kind):
    """With a missing value; CSV, XLSX and Parquet agree, so that they can be joined."""
    domain = Domain((Categorical("q", True, values, closed=closed, words=words),))
    cells = np.arange(domain.size)[:, None]
    csv, parquet = write_frames(domain, rows_of_cells(domain, cells, bytes(32)), Headers.of(domain), tmp_path)
    assert csv.fields[0]["type"] == kind == label_columns(domain)[0].field()["type"]
    given = pq.read_table(parquet.path)["q"].to_pylist()
    assert {type(value) for value in given} == {int if kind == "integer" else str, type(None)}
    book = openpyxl.load_workbook(workbook(csv).path).active
    assert [cell.value for cell in book["A"]][1:] == given
    if kind == "integer":
        read = pd.read_csv(csv.path, skip_blank_lines=False)["q"]
        assert sorted(read.dropna()) == sorted(map(int, values))
