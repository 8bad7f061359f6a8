"""Frames as CSV files: every program reads back the lines and texts that were written."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

from mechanisms.tabular.csv_frames import write_frame

TEXTS = ["plain", "a,b", 'say "so"', "two\nlines", "gr\reen", "a\r\nb", "end\r", "", "é – 漢"]


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_three_readers_see_the_same_lines(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "frame.csv"
    write_frame(pd.DataFrame({"text": pd.Series(TEXTS, dtype=kind), "n": range(len(TEXTS))}), path)
    with path.open(encoding="utf-8", newline="") as file:
        by_python = [line[0] for line in csv.reader(file)][1:]
    by_pandas = pd.read_csv(path, dtype=str, keep_default_na=False)["text"].tolist()
    table = arrow_csv.read_csv(
        path,
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types={"text": pa.string()}),
    )
    assert by_python == by_pandas == table["text"].to_pylist() == TEXTS


def test_quotation_marks_stand_where_they_are_needed_alone(tmp_path: Path) -> None:
    path = tmp_path / "frame.csv"
    write_frame(pd.DataFrame({"text": ["a", None, "=1+1"], "x": [0.5, 1 / 3, 2]}), path, float_format="%.3g")
    assert path.read_bytes() == b"text,x\na,0.5\n,0.333\n'=1+1,2\n"


def test_parts_of_a_file_need_not_be_quoted_alike(tmp_path: Path) -> None:
    path = tmp_path / "frame.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        write_frame(pd.DataFrame({"text": ["a"], "n": [1]}), file)
        write_frame(pd.DataFrame({"text": ["b\rc"], "n": [2]}), file, header=False)
    assert path.read_bytes() == b'text,n\na,1\n"b\rc",2\n'
