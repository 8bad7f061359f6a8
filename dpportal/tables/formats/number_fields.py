"""A Parquet file's column of numbers as it is stored: most of them as doubles, without a text for each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dpportal.tables.formats.number_texts import NO_TEXT, plain_texts
from dpportal.tables.formats.parquet_text import as_text
from dpportal.tables.layout import EXACT_DIGITS, StoredFields
from dpportal.tables.meaning.number_syntax import SMALLEST_FRACTION

# Whole numbers below have no more digits than a double, and than a plain number.
EXACT = 10.0**EXACT_DIGITS
# By its type, how many decimals a number is tried with, and how many digits no two numbers of that type share.
DECIMALS = {pa.float64(): (6, EXACT), pa.float32(): (4, 1e6)}


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))


def number_fields(array: pa.Array) -> StoredFields:
    """The fields of an array of numbers. Only a number whose double does not determine its text gets a text."""
    with np.errstate(all="ignore"):
        doubles, certain = _certain(array)
    nothing = pa.nulls(len(array), pa.string())
    if certain.all() and not array.null_count:
        return StoredFields(nothing, nothing, pa.array(doubles))
    absent = array.is_null().to_numpy(zero_copy_only=False)
    rest = ~certain & ~absent
    numbers = pa.array(doubles, mask=absent | rest)
    if not rest.any():
        return StoredFields(nothing, nothing, numbers)
    unsure = pa.array(rest)
    of_rest = _by_texts(array.filter(unsure))
    return StoredFields(
        pc.replace_with_mask(nothing, unsure, of_rest.texts),
        pc.replace_with_mask(nothing, unsure, of_rest.otherwise),
        pc.replace_with_mask(numbers, unsure, of_rest.numbers),
    )


def _by_texts(array: pa.Array) -> StoredFields:
    """The fields of numbers by their texts; each different number is written once."""
    encoded = array.dictionary_encode()
    texts = as_text(encoded.dictionary).texts
    is_plain = pa.array(plain_texts(texts))
    otherwise = pc.if_else(is_plain, texts, NO_TEXT)
    columns = (pc.if_else(is_plain, NO_TEXT, texts), otherwise, otherwise.cast(pa.float64()))
    return StoredFields(*(column.take(encoded.indices) for column in columns))


def _certain(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Doubles, and which of them are plain numbers whose texts are as they are written."""
    kind = array.type
    if pt.is_integer(kind):
        integers = _filled(array)
        return integers.astype(np.float64), (integers < EXACT) & (integers > -EXACT)
    if pt.is_decimal128(kind) and 0 <= kind.scale <= EXACT_DIGITS:
        return _of_decimals(array)
    if kind in DECIMALS:
        return _of_doubles(_filled(array), *DECIMALS[kind])
    return np.zeros(len(array)), np.zeros(len(array), bool)


def _filled(array: pa.Array) -> np.ndarray:
    filled: np.ndarray = (array.fill_null(0) if array.null_count else array).to_numpy()
    return filled


def _of_doubles(given: np.ndarray, decimals: int, most: float) -> tuple[np.ndarray, np.ndarray]:
    """A number of few decimals is the one nearest to them; so are its shortest digits, by which it is written."""
    doubles = given.astype(np.float64)
    is_integer = (np.floor(doubles) == doubles) & (np.abs(doubles) < EXACT)
    scaled = np.rint(doubles * 10**decimals)
    short = scaled / 10**decimals
    fraction = (short.astype(given.dtype) == given) & (np.abs(scaled) < most)
    fraction &= np.abs(doubles) >= SMALLEST_FRACTION
    # Without the sign of a zero, which no text has.
    return np.where(is_integer, doubles, short) + 0.0, is_integer | fraction


def _of_decimals(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers of 128 bits, divided by a power of ten that a double holds exactly."""
    halves = np.frombuffer(array.buffers()[1], np.int64)
    low, high = halves[2 * array.offset :: 2][: len(array)], halves[2 * array.offset + 1 :: 2][: len(array)]
    numbers = low / 10.0**array.type.scale
    short = (low < EXACT) & (low > -EXACT) & (high == low >> 63)
    return numbers, short & ((low == 0) | (np.abs(numbers) >= SMALLEST_FRACTION))
