"""A table beside the one that is made again: what rounding allows, and what it does not."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mechanisms.verify.bundle import Bundle
from mechanisms.verify.csv_file import Numbers, fault_of, read, texts


def stated(text: str, own: float, **further) -> str:
    return fault_of(pd.DataFrame({"n": [text]}), {"n": Numbers(np.array([own]), 10, **further)})


@pytest.mark.parametrize(
    "text, own, further, words",
    [
        ("0.3333333333", 1 / 3, {}, ""),
        ("0.333333335", 1 / 3, {}, "line 1 has another n"),
        # Half of a unit of the last digit, where another processor rounds the other way.
        ("0.1234567891", 0.12345678905 - 1e-17, {}, ""),
        ("0.3333333333000", 1 / 3, {}, "line 1 has another n"),
        ("1e-09", 0.0, {"scale": 10.0}, ""),
        ("1e-07", 0.0, {"scale": 10.0}, "line 1 has another n"),
        ("", np.nan, {}, ""),
        ("0", np.nan, {}, "line 1 has another n"),
        ("nan", np.nan, {}, "line 1 has another n"),
        ("inf", np.inf, {}, ""),
        ("many", 1.0, {}, "line 1 has another n"),
    ],
)
def test_a_number_is_the_same_up_to_its_last_digit(text, own, further, words):
    assert stated(text, own, **further) == words


def test_columns_lines_and_texts_are_those_that_are_made_again():
    table = pd.DataFrame({"a": ["x", "'=1"], "n": ["1", "2"]})
    own = {"a": texts(["x", "=1"]), "n": np.array([1, 2])}
    assert fault_of(table, own) == ""
    assert fault_of(table, {"n": own["n"], "a": own["a"]}) == "it has other columns"
    assert fault_of(table[:1], own) == "it has 1 lines, and should have 2"
    assert fault_of(table, {**own, "n": np.array([1, 3])}) == "line 2 has another n"


def bundle_of(path: Path, content: str) -> Bundle:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("release.json", "{}")
        archive.writestr("a.csv", content)
    return Bundle.read(path)


@pytest.mark.parametrize(
    "content",
    ['a,b\n"1",2\n', "a,b\n1,2", "a,b\r1,2\n3\n", "a,b\n1,2\n\n", "a,b\n1, 2,3\n"],
    ids=["quotation marks", "no last line end", "fewer fields", "an empty line", "more fields"],
)
def test_a_table_that_no_portal_writes_so_is_refused(tmp_path, content):
    with pytest.raises(ValueError, match="otherwise than by a portal"):
        read(bundle_of(tmp_path / "a.zip", content), "a.csv")


def test_a_table_as_a_portal_writes_it_is_read(tmp_path):
    table = read(bundle_of(tmp_path / "a.zip", 'a,b\n"1,5",\n"x\ny",2\n'), "a.csv")
    assert table.to_dict("list") == {"a": ["1,5", "x\ny"], "b": ["", "2"]}
