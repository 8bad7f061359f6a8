"""Lines of a CSV file made by columns are the bytes that pandas makes field by field."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from dpportal.publications.csv_lines import Lines, fields

AWKWARD = ["plain", "a,b", 'say "so"', "two\nlines", "", " padded ", "nan", "é – 漢", "'=1+2"]
EDGES = [0.0, -0.0, 999999.5, 1234565.0, 1e-5, 0.0001, -2.5e-7, 123456.5, 1e300, 5e-324, 12.0, 1 / 3]


def _written(header: list[str], *columns: object) -> bytes:
    file = io.BytesIO()
    Lines(file, header).write(*columns)
    return file.getvalue()


def _by_pandas(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_text_that_holds_a_line_end_is_in_quotation_marks(end: str) -> None:
    written = _written(["text", "n"], fields([f"a{end}b", "c"]), np.array([1, 2]))
    assert written == f'text,n\n"a{end}b",1\nc,2\n'.encode()


class TestLines:
    @pytest.mark.parametrize("header", [["text", "n", "x", "one"], ["a,b", 'q"', "new\nline", "é"]])
    def test_every_kind_of_column(self, header: list[str]) -> None:
        random = np.random.default_rng(2)
        places = random.integers(0, len(AWKWARD), 500)
        whole = random.integers(-(2**62), 2**62, 500)
        real = np.concatenate(
            [random.normal(0, 1, 500 - len(EDGES)) * 10.0 ** random.integers(-9, 12), EDGES]
        )
        frame = pd.DataFrame(dict(zip(header, (np.array(AWKWARD)[places], whole, real), strict=False)))
        frame[header[3]] = "same"
        assert _written(header, fields(AWKWARD).take(places), whole, real, "same") == _by_pandas(frame)

    def test_what_is_not_known_is_empty(self) -> None:
        frame = pd.DataFrame({"text": AWKWARD, "error": None, "end": range(len(AWKWARD))})
        assert _written(["text", "error", "end"], fields(AWKWARD), "", np.arange(len(AWKWARD))) == _by_pandas(
            frame
        )
