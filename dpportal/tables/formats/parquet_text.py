"""One text for each typed value of a Parquet file, the same whatever else its column holds.

Whole numbers in decimal, whole doubles below 2^53 without a point (a missing value makes pandas turn whole numbers into
doubles), other doubles by the shortest digits that read back as themselves, decimals without trailing zeros, days and
times of day as ISO 8601 has them, a day alone where its time is midnight, in UTC where there is a zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

INTEGER_DOUBLES = 2.0**53
UNKNOWN = "\ufffd"


@dataclass(frozen=True)
class Texts:
    """A column's texts, NULL for an empty one. replaced: bytes that are not UTF-8; broken: texts with line ends."""

    texts: pa.Array
    replaced: int = 0
    broken: int = 0
    longest: int = 0


def as_text(array: pa.Array) -> Texts:
    """An array of any single-valued type as texts; of a dictionary each value's text is worked out once."""
    kind = array.type
    if pt.is_dictionary(kind):
        times = np.bincount(array.indices.drop_null().to_numpy(), minlength=len(array.dictionary))
        different = array.dictionary
        if is_text(different.type):
            return _noted(*_strings(different), times, array.indices)
        return Texts(as_text(different).texts.take(array.indices))
    if pt.is_floating(kind):
        return Texts(_doubles(array))
    if pt.is_decimal(kind):
        return Texts(_decimals(array))
    if pt.is_timestamp(kind):
        return Texts(_moments(array))
    if pt.is_date(kind):
        return Texts(array.cast(pa.date32(), safe=False).cast(pa.string()))
    if pt.is_time(kind):
        return Texts(_without_empty_fraction(array.cast(pa.string())))
    if pt.is_boolean(kind) or pt.is_integer(kind) or pt.is_null(kind):
        return Texts(array.cast(pa.string()))
    return _noted(*_strings(array))


def _doubles(array: pa.Array) -> pa.Array:
    # By its own digits: 0.7 stored in 32 bits means 0.7, not 0.699999988.
    digits = array.cast(pa.string())
    double = array.cast(pa.float64())
    is_integer = pc.and_(pc.equal(double, pc.floor(double)), pc.less(pc.abs(double), INTEGER_DOUBLES))
    is_integer = pc.fill_null(is_integer, False)
    if not pc.any(is_integer).as_py():
        return digits
    integers = pc.if_else(is_integer, double, 0.0).cast(pa.int64()).cast(pa.string())
    return pc.if_else(is_integer, integers, digits)


def _decimals(array: pa.Array) -> pa.Array:
    texts = array.cast(pa.string())
    # Arrow writes small numbers with an exponent where the column has many places, and these follow from all rows.
    if pc.any(pc.match_substring(texts, "E")).as_py():
        texts = pa.array(
            [None if text is None else f"{Decimal(text):f}" for text in texts.to_pylist()], pa.string()
        )
    texts = pc.replace_substring_regex(texts, r"^(-?[0-9]+[.][0-9]*?)0+$", r"\1")
    return pc.replace_substring_regex(texts, r"^(-?[0-9]+)[.]$", r"\1")


def _moments(array: pa.Array) -> pa.Array:
    # Without its zone a moment is that of UTC.
    texts = _without_empty_fraction(array.cast(pa.timestamp(array.type.unit)).cast(pa.string()))
    return pc.replace_substring_regex(texts, " 00:00:00$", "")


def _without_empty_fraction(texts: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(texts, r"([.][0-9]*?)0+$", r"\1")
    return pc.replace_substring_regex(texts, r"[.]$", "")


def _strings(array: pa.Array) -> tuple[pa.Array, np.ndarray | None]:
    """Texts with every line end a newline, and how many bytes in each are not UTF-8, None if all are."""
    replaced = None
    bytes_of_texts = array.cast(pa.binary())
    try:
        texts = bytes_of_texts.cast(pa.string())
    except pa.ArrowInvalid:
        given = bytes_of_texts.to_pylist()
        decoded = [None if item is None else item.decode("utf-8", "replace") for item in given]
        texts = pa.array(decoded, pa.string())
        replaced = np.array(
            [
                text.count(UNKNOWN) - item.count(UNKNOWN.encode()) if item and text else 0
                for item, text in zip(given, decoded, strict=True)
            ]
        )
    if pc.any(pc.match_substring(texts, "\r")).as_py():
        texts = pc.replace_substring(pc.replace_substring(texts, "\r\n", "\n"), "\r", "\n")
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts), replaced


def _noted(
    texts: pa.Array,
    replaced: np.ndarray | None,
    times: np.ndarray | None = None,
    places: pa.Array | None = None,
) -> Texts:
    """Texts with what the curator is told of them. replaced: bytes of each.

    times: how often each occurs, once without it. places: of each row's text among them.
    """
    is_broken = pc.fill_null(pc.match_substring(texts, "\n"), False).to_numpy(zero_copy_only=False)
    if times is None:
        times = np.ones(len(texts), np.int64)
    is_broken &= times > 0
    longest = pc.max(pc.utf8_length(texts.filter(pa.array(is_broken)))).as_py() if is_broken.any() else 0
    return Texts(
        texts if places is None else texts.take(places),
        0 if replaced is None else int(replaced @ times),
        int(times[is_broken].sum()),
        longest,
    )


def clean_texts(different: pa.Array) -> pa.Array | None:
    """The texts of a dictionary's values, None where its rows have to be looked at one by one.

    That is where a value is none, empty, no UTF-8 or repeated by another, or has a line end or a NUL character.
    """
    if different.null_count:
        return None
    if is_text(different.type):
        try:
            different = different.cast(pa.binary()).cast(pa.string())
        except pa.ArrowInvalid:
            return None
        if pc.any(pc.match_substring_regex(different, "^$|[\\n\\r\\x00]")).as_py():
            return None
    texts = as_text(different).texts
    return texts if pc.count_distinct(texts).as_py() == len(texts) else None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text, or bytes that may be text."""
    tests = (pt.is_string, pt.is_large_string, pt.is_string_view, pt.is_binary, pt.is_large_binary)
    return any(test(kind) for test in (*tests, pt.is_fixed_size_binary))
