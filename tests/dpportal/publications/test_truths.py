"""Columns of yes and no: every file of a release has the table's own values, and the labels beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpportal.publications import codebook
from dpportal.releases.products.shared.synthetic_files import fields_of, write_synthetic
from mechanisms.domain import Attribute, Boolean, Domain, DomainError, attribute_from_json
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import label_columns

SEX = Boolean("sex", True, ("0", "1"), ("female", "male"))
COUNTS = np.array([2, 1, 1])


def files(folder, attribute: Boolean) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Synthetic rows in both formats, and the codebook."""
    domain = Domain((attribute,))
    write_synthetic(domain, COUNTS[: attribute.size], b"seed", folder)
    codebook.write(domain, folder)
    texts = {"dtype": str, "keep_default_na": False}
    rows = pd.read_csv(folder / "synthetic.csv", **texts)
    return rows, pd.read_parquet(folder / "synthetic.parquet"), pd.read_csv(folder / "codebook.csv", **texts)


def test_codes_and_labels_are_the_same_in_every_file(tmp_path):
    rows, parquet, book = files(tmp_path, SEX)
    assert sorted(map(tuple, rows.values)) == [("", ""), ("0", "female"), ("0", "female"), ("1", "male")]
    assert parquet["sex"].dropna().tolist().count(0) == 2
    assert sorted(parquet["sex_label"].dropna()) == ["female", "female", "male"]
    assert list(zip(book["value"], book["label"], strict=True)) == [
        ("0", "female"),
        ("1", "male"),
        ("", "Missing"),
    ]
    assert [column.labels for column in label_columns(Domain((SEX,)))] == [
        ["0", "1", ""],
        ["female", "male", ""],
    ]
    assert [f["type"] for f in fields_of(Domain((SEX,)), Headers.of(Domain((SEX,))))] == ["integer", "string"]


def test_values_without_labels_are_kept_as_they_are(tmp_path):
    rows, parquet, book = files(tmp_path, Boolean("sex", values=("no", "yes")))
    assert sorted(rows["sex"]) == sorted(parquet["sex"]) == ["no", "no", "yes"]
    assert list(book["value"]) == ["no", "yes"]


def test_where_nothing_is_said_all_files_write_false_and_true(tmp_path):
    rows, parquet, book = files(tmp_path, Boolean("sex"))
    assert sorted(rows["sex"]) == ["false", "false", "true"]
    assert parquet["sex"].dtype == bool
    assert list(book["value"]) == ["false", "true"]


def test_a_declaration_is_the_same_after_its_json() -> None:
    attribute: Attribute = attribute_from_json(SEX.to_json())
    assert attribute == SEX
    assert "words" not in Boolean("sex").to_json()


@pytest.mark.parametrize("names", [("female",), ("a", "a"), ("a", "Missing"), ("", "b")])
def test_labels_that_name_no_two_cells_are_refused(names):
    with pytest.raises(DomainError):
        Boolean("sex", words=names)
