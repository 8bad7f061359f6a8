"""A text file's column of numbers as it is stored: which of its texts are plain numbers, by all their bytes at once.

A regular expression takes a hundred nanoseconds a text; here a batch is worked through in a few passes over its bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpportal.tables.layout import EXACT_DIGITS, StoredFields
from dpportal.tables.meaning.number_syntax import SMALLEST_FRACTION

ZERO, POINT, MINUS = b"0.-"
NO_TEXT = pa.scalar(None, pa.string())
# Texts that are worked through together, so that all that is known of them stays in the processor's cache.
TOGETHER = 1 << 14
# Digits after the point of a plain number, at most.
DECIMALS = 15


class _Forms(NamedTuple):
    """The form of each text of a batch, as (n,) booleans.

    plain: whether `number_syntax.PLAIN_NUMBER` matches it. fraction: whether it has a point. short: whether it is not
    longer than a double's digits are certain. ends_in_zero, negative: what its last and first characters say.
    """

    plain: np.ndarray
    fraction: np.ndarray
    short: np.ndarray
    ends_in_zero: np.ndarray
    negative: np.ndarray


def plain_texts(texts: pa.Array) -> np.ndarray:
    """Of each text whether it is a plain number, (n,) booleans."""
    return _forms(texts).plain


def text_fields(texts: pa.Array) -> StoredFields:
    """The fields of an array of strings, NULL where empty, most of which are numbers."""
    forms = _forms(texts)
    none = pa.nulls(len(texts), pa.string())
    if forms.plain.all():
        others, plain = none, texts
    else:
        is_plain = pa.array(forms.plain)
        others = pc.if_else(is_plain, NO_TEXT, texts)
        plain = pc.if_else(is_plain, texts, NO_TEXT)
    numbers = plain.cast(pa.float64())
    otherwise = forms.plain & ~_is_written(plain, numbers, forms)
    return StoredFields(
        others, pc.if_else(pa.array(otherwise), texts, NO_TEXT) if otherwise.any() else none, numbers
    )


def _is_written(plain: pa.Array, numbers: pa.Array, forms: _Forms) -> np.ndarray:
    """Which plain numbers are certainly written as `layout.written` writes their doubles.

    A short one without a zero behind its point is, unless the number is so small that it could be written with an
    exponent.
    """
    doubles = (numbers.fill_null(0.0) if numbers.null_count else numbers).to_numpy()
    integer = ~(forms.negative & (doubles == 0.0))
    fraction = ~forms.ends_in_zero & (np.abs(doubles) >= SMALLEST_FRACTION)
    long = forms.plain & forms.fraction & fraction & ~forms.short
    if long.any():
        places = pa.array(np.flatnonzero(long))
        same = pc.equal(numbers.take(places).cast(pa.string()), plain.take(places))
        fraction[long] = same.to_numpy(zero_copy_only=False)
    result: np.ndarray = np.where(forms.fraction, fraction, integer)
    return result


def _forms(texts: pa.Array) -> _Forms:
    parts = [_forms_of(texts.slice(start, TOGETHER)) for start in range(0, max(1, len(texts)), TOGETHER)]
    return _Forms(*map(np.concatenate, zip(*parts, strict=True)))


def _forms_of(texts: pa.Array) -> _Forms:
    """Each text's form, from the bytes of all of them, which lie one behind the other; an empty one is not plain."""
    ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    # One byte more, for what would be looked at behind the last text.
    content = np.append(
        np.frombuffer(texts.buffers()[2] or b"", np.uint8)[ends[0] : ends[-1]], np.uint8(ZERO)
    )
    ends = ends.astype(np.int64) - ends[0]
    starts, stops = ends[:-1], ends[1:]
    negative = (content[starts] == MINUS) & (starts < stops)
    signs = starts[negative]
    starts = starts + negative
    points, only_digits = _points(content, signs, starts, stops)
    fraction = points < stops
    digits, decimals = points - starts, stops - points - 1
    plain = only_digits & (digits >= 1) & (digits <= EXACT_DIGITS)
    plain &= (content[starts] != ZERO) | (digits == 1)
    plain &= ~fraction | ((decimals >= 1) & (decimals <= DECIMALS))
    short = stops - starts + negative <= EXACT_DIGITS
    return _Forms(plain, fraction, short, content[stops - 1] == ZERO, negative)


def _points(
    content: np.ndarray, signs: np.ndarray, starts: np.ndarray, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where each text has its only point, or ends without one, and whether all else in it is digits.

    content: bytes. signs: where one has a sign. starts, stops: of the texts without these.
    """
    is_other = (content - np.uint8(ZERO)) > 9
    is_other[signs] = False
    others = np.flatnonzero(is_other)
    if not len(others):
        return stops, np.ones(len(starts), bool)
    lengths = np.diff(stops, prepend=0)
    of = np.repeat(np.arange(len(stops)), lengths)[others]
    times, points = np.bincount(of, minlength=len(starts)), stops.copy()
    points[of] = others
    has_point = (times == 1) & (content[points] == POINT)
    return np.where(has_point, points, stops), (times == 0) | has_point
