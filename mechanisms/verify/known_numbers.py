"""The numbers of a bundle, among which a text's are looked for where nothing says what they are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
import pandas as pd

from mechanisms.accounting import Loss
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.csv_tables import tables
from mechanisms.verify.json_values import leaves
from mechanisms.verify.loss_factor import factor_shown
from mechanisms.verify.shown_numbers import DATE, NUMBER, SHOWN, are_days, step_of, value_of

# Numbers that the portal's sentences have whatever was released: the example of a margin, levels, the first year of
# dates, lines of a spreadsheet.
WORDED = frozenset({39.0, 95.0, 99.9, 100.0, 1970.0, 1_048_576.0})
_FRACTION = re.compile("[0-9]+/[1-9][0-9]*")
# Up to here whole numbers stand in sentences as words do.
_SMALL = 12
# Files have ten digits.
_IN_FULL = 1e-8


class KnownNumbers:
    """The numbers of a bundle's tables and of release.json, and what follows from them at once."""

    def __init__(self, bundle: Bundle, derived: Sequence[float] = ()) -> None:
        """derived: what is worked out of the measurement, and in no table."""
        self._bundle, self._derived = bundle, np.array(derived, float)
        # The statement is what its own numbers are looked for beside.
        self._stated = [value for path, value in leaves(bundle.release) if path != "statement"]
        self._texts = {text for value in self._stated for text in SHOWN.findall(str(value))}

    def has(self, number: str) -> bool:
        """Whether a number as a text shows it is one of them, up to its last digit; a date, the day of one of them."""
        if number in self._texts:
            return True
        if DATE.fullmatch(number):
            return number in self._dates or bool(are_days(number, self._days).any())
        value = value_of(number)
        if value in WORDED or (value.is_integer() and value <= _SMALL):
            return True
        place = np.searchsorted(self._values, value)
        near = self._values[max(0, place - 1) : place + 1]
        return bool((np.abs(near - value) <= step_of(number) * (1 + 1e-9)).any())

    def has_value(self, value: float) -> bool:
        """Whether a number that nobody reads, such as one by which a table is sorted, is one of them in full."""
        place = np.searchsorted(self._values, abs(value))
        near = self._values[max(0, place - 1) : place + 1]
        return bool(np.isclose(near, abs(value), rtol=_IN_FULL, atol=_IN_FULL).any())

    @cached_property
    def _dates(self) -> set[str]:
        """Those that stand in the tables' names and texts."""
        words = (text for _stem, table in self._tables for text in _texts(table))
        return {date for text in words for date in DATE.findall(text)}

    @cached_property
    def _days(self) -> np.ndarray:
        """Numbers that may be days: those of the tables' columns, and what is worked out."""
        columns = [own for _stem, table in self._tables for own in _columns(table).values()]
        every = np.concatenate([self._derived, *columns])
        return np.asarray(every[np.isfinite(every)])

    @cached_property
    def _tables(self) -> list[tuple[str, pd.DataFrame]]:
        return list(tables(self._bundle))

    @cached_property
    def _values(self) -> np.ndarray:
        """Ascending, without signs."""
        parts = [
            np.array(list(self._of_release())),
            self._derived[np.isfinite(self._derived)],
            *(self._of_table(table) for _stem, table in self._tables),
        ]
        values = np.abs(np.concatenate(parts))
        with np.errstate(over="ignore"):  # of numbers that no text shows in percent
            return np.unique(np.concatenate([values, 100 * values]))

    def _of_release(self) -> Iterator[float]:
        release = self._bundle.release
        yield from (value_of(text) for text in self._texts if not DATE.fullmatch(text))
        yield from (float(value) for value in self._stated if isinstance(value, int | float))
        yield from map(float, map(Fraction, filter(_FRACTION.fullmatch, map(str, self._stated))))
        yield from map(float, (len(release["files"]), len(self._bundle.entries)))
        plan = release["plan"]
        if plan.get("lower_bound"):
            yield math.sqrt(plan["total_error"] / plan["lower_bound"])
        yield from _of_loss(Loss.from_json(release["plan"]["loss"]))

    def _of_table(self, table: pd.DataFrame) -> np.ndarray:
        """Its numbers, their sums, and margins between the ends of intervals."""
        numbers = [value_of(each) for text in _texts(table) for each in NUMBER.findall(text)]
        columns = _columns(table)
        sums = [part for own in columns.values() for part in (np.nansum(own), np.nansum(np.maximum(own, 0)))]
        names, margins = list(columns), []
        for name, low in columns.items():
            if name.endswith("lower"):
                high = columns.get(f"{name.removesuffix('lower')}upper")
                margins += (
                    []
                    if high is None
                    else [(high - low) / 2, *self._to_further_end(names, name, columns, low, high)]
                )
        every = np.concatenate([np.array(numbers), np.array(sums), np.array([len(table)], float), *margins])
        return np.asarray(every[np.isfinite(every)])

    def _to_further_end(
        self,
        names: list[str],
        name: str,
        columns: dict[str, np.ndarray],
        low: np.ndarray,
        high: np.ndarray,
    ) -> Iterator[np.ndarray]:
        """How far the estimate before an interval is from its further end."""
        for before in names[max(0, names.index(name) - 3) : names.index(name)]:
            yield np.maximum(columns[before] - low, high - columns[before])


def _texts(table: pd.DataFrame) -> list[str]:
    """Each text of each column once."""
    return [str(text) for name in table.columns for text in table[name].unique().tolist()]


def _columns(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Each column's numbers, NaN where a text is none."""
    return {str(name): pd.to_numeric(table[name], errors="coerce").to_numpy(float) for name in table.columns}


def _of_loss(loss: Loss) -> Iterator[float]:
    yield from (float(loss.amount), *factor_shown(loss))
