"""How large the values of a typed column are as the texts that a CSV file would hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dpportal.tables.formats.parquet_text import is_text

# Characters of a value: of a whole number at least one, of another number three, of a truth "true", of a day ten, of a
# time of day eight, and of a moment that is not a midnight those of day and time.
INTEGER, FRACTION, TRUTH, DAY, TIME, MOMENT = 1, 3, 4, 10, 8, 19
DAY_OF = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def text_bytes(array: pa.Array) -> int:
    """Bytes of an array's values as texts, each counted as often as it occurs, or a little less; never more.

    A value that is missing has none. So what is refused by this number is as large as the refusal says.
    """
    if (lengths := text_lengths(array)) is not None:
        return int(pc.sum(lengths).as_py() or 0)
    if pt.is_dictionary(array.type):
        array = array.dictionary_decode()
    present = array.drop_null() if array.null_count else array
    return _fewest(present) if len(present) else 0


def _fewest(present: pa.Array) -> int:
    kind, values = present.type, len(present)
    if pt.is_null(kind):
        return 0
    if pt.is_integer(kind):
        return values * _shortest_integer(present)
    if pt.is_floating(kind):
        numbers = present.to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            fractions = np.count_nonzero(np.floor(numbers) != numbers)
        return values * INTEGER + int(fractions) * (FRACTION - INTEGER)
    if pt.is_timestamp(kind):
        moments = np.count_nonzero(present.view(pa.int64()).to_numpy() % DAY_OF[kind.unit])
        return values * DAY + int(moments) * (MOMENT - DAY)
    shortest = ((pt.is_boolean, TRUTH), (pt.is_date, DAY), (pt.is_time, TIME))
    return values * next((least for is_of, least in shortest if is_of(kind)), INTEGER)


def _shortest_integer(present: pa.Array) -> int:
    """Characters of the integer that has the fewest, where all have the same sign."""
    ends = pc.min_max(present)
    least, most = ends["min"].as_py(), ends["max"].as_py()
    return INTEGER if least <= 0 <= most else min(len(str(least)), len(str(most)))


def text_lengths(array: pa.Array) -> pa.Array | None:
    """Bytes of each row's text, 0 where there is none, as int64; None of a column of other values."""
    is_dictionary = pt.is_dictionary(array.type)
    if not is_text(array.type.value_type if is_dictionary else array.type):
        return None
    lengths = pc.binary_length(array.dictionary if is_dictionary else array).cast(pa.int64())
    return pc.fill_null(lengths.take(array.indices) if is_dictionary else lengths, 0)
