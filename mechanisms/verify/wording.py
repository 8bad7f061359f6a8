"""Texts that the portal words: whether the numbers in them occur among those of the files that were verified.

A text without the portal's templates cannot be made again. So each number that people read in it is looked for among
the numbers of the tables and of release.json: as printed there, rounded to the digits that the text shows, in percent,
as a margin of two ends of an interval, or as a sum of a column. That binds the numbers, not the words around them.
Those in tables of a page are those of the lines that they stand in (`html_tables`).
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator
from functools import cached_property
from html import unescape

import numpy as np
import pandas as pd

from mechanisms.accounting import Loss, chance_factor
from mechanisms.verify import html_tables
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.html_tables import Compared
from mechanisms.verify.json_values import leaves

AGREE = "worded by the portal; its numbers agree with those of the tables and of release.json"
ENDINGS = (".md", ".html", ".tex", ".svg")
PRINTED = "table1.csv"
DOCUMENTS, WORDS = ("datapackage.json", "croissant.json"), {"title", "description"}
# Numbers that the portal's sentences have whatever was released: the example of a margin, levels, the first year of
# dates, lines of a spreadsheet.
WORDED = frozenset({39.0, 95.0, 100.0, 1970.0, 1_048_576.0})
# Up to here whole numbers stand in sentences as words do.
_SMALL = 12
# A thousands' separator stands before three digits alone.
_NUMBER = re.compile(
    r"(?<![\w.])[0-9]{1,3}(?:[,\u202f][0-9]{3})+(?:\.[0-9]+)?"
    r"|(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
)
_UNREAD = re.compile(r"<(style|script)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_DIGEST = re.compile(r"\b[0-9a-f]{8}(?:[0-9a-f]{56}|(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
_SHOWN = re.compile(r"\b(?:title|aria-label|alt)=\"([^\"]*)\"")
_DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
# Of each table so many lines, of which texts show the first ones or the largest.
_MOST_LINES = 100_000
# Numbers that a report names, at most.
_MOST_NAMED = 5


def check(bundle: Bundle) -> Iterator[Finding]:
    """One finding a text."""
    known = Known(bundle)
    for name in bundle.entries:
        if name.endswith(".svg"):
            yield Finding(name, State.STATED, "a drawing by the portal, of which the digest alone is signed")
        elif name.endswith(ENDINGS) or name == PRINTED:
            text = bundle.content(name).decode("utf-8")
            lines = html_tables.compared(bundle, text) if name.endswith(".html") else None
            yield _finding(name, readable(name, text), known, lines)
    yield _finding("statement", str(bundle.release.get("statement", "")), known)
    yield _finding("descriptions", _descriptions(bundle), known)


def _descriptions(bundle: Bundle) -> str:
    """What datapackage.json and croissant.json say of files and columns."""
    documents = [json.loads(bundle.content(name)) for name in DOCUMENTS if name in bundle.entries]
    said = [value for each in documents for path, value in leaves(each) if path.rpartition(".")[2] in WORDS]
    return " ".join(map(str, said))


def _finding(name: str, text: str, known: Known, lines: Compared | None = None) -> Finding:
    numbers = list(dict.fromkeys(_NUMBER.findall(_DIGEST.sub(" ", text))))
    strange = [number for number in numbers if not known.has(number)]
    if lines and lines.strange:
        named = ", ".join(lines.strange[:_MOST_NAMED])
        text = f"worded by the portal; numbers in its tables are not those of the lines that they stand in: {named}"
        return Finding(name, State.NOT_CHECKED, text)
    if not strange:
        in_lines = (
            f"; {lines.numbers:,} are those of the lines that they stand in"
            if lines and lines.numbers
            else ""
        )
        return Finding(name, State.STATED, AGREE + in_lines)
    named = ", ".join(strange[:_MOST_NAMED]) + (" …" if len(strange) > _MOST_NAMED else "")
    return Finding(
        name,
        State.NOT_CHECKED,
        f"worded by the portal; {len(strange)} of its {len(numbers)} different numbers are in no table and not in "
        f"release.json: {named}",
    )


def readable(name: str, text: str) -> str:
    """What people read of a text. Drawings show published numbers as lengths, and are not looked at."""
    if not name.endswith(".html"):
        return text.replace("\\%", "%")
    shown = _DRAWING.sub(" ", _UNREAD.sub(" ", text))
    return unescape(f"{_TAG.sub(' ', shown)} {' '.join(_SHOWN.findall(shown))}")


class Known:
    """The numbers of a bundle's tables and of release.json, and what follows from them at once."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        # The statement is what its own numbers are looked for beside.
        self._said = [value for path, value in leaves(bundle.release) if path != "statement"]
        self._texts = {text for value in self._said for text in _NUMBER.findall(str(value))}

    def has(self, number: str) -> bool:
        """Whether a number as a text shows it is one of them, up to its last digit."""
        if number in self._texts:
            return True
        value = _value(number)
        if value in WORDED or (value.is_integer() and value <= _SMALL):
            return True
        decimals = len(number.partition(".")[2].partition("e")[0])
        place = np.searchsorted(self._values, value)
        near = self._values[max(0, place - 1) : place + 1]
        return bool((np.abs(near - value) <= 10.0**-decimals * (1 + 1e-9)).any())

    @cached_property
    def _values(self) -> np.ndarray:
        """Ascending, without signs."""
        parts = [np.array(list(self._of_release())), *map(self._of_table, self._tables())]
        values = np.abs(np.concatenate(parts))
        return np.unique(np.concatenate([values, 100 * values]))

    def _of_release(self) -> Iterator[float]:
        release = self._bundle.release
        yield from (_value(text) for text in self._texts)
        yield from (float(value) for value in self._said if isinstance(value, int | float))
        yield from map(float, (len(release["files"]), len(self._bundle.entries)))
        plan = release["plan"]
        if plan.get("lower_bound"):
            yield math.sqrt(plan["total_error"] / plan["lower_bound"])
        yield from _of_loss(Loss.from_json(release["plan"]["loss"]))

    def _tables(self) -> Iterator[pd.DataFrame]:
        for name in self._bundle.entries:
            if name.endswith(".csv") and not name.endswith(".sdmx.csv") and name != PRINTED:
                content = io.BytesIO(self._bundle.content(name))
                yield pd.read_csv(content, dtype=str, keep_default_na=False, nrows=_MOST_LINES)

    def _of_table(self, table: pd.DataFrame) -> np.ndarray:
        """Its numbers, their sums, and margins between the ends of intervals."""
        words = [text for name in table.columns for text in table[name].unique().tolist()]
        found = [_value(each) for text in words for each in _NUMBER.findall(text)]
        columns = {
            name: pd.to_numeric(table[name], errors="coerce").to_numpy(float) for name in table.columns
        }
        sums = [part for own in columns.values() for part in (np.nansum(own), np.nansum(np.maximum(own, 0)))]
        names, margins = list(columns), []
        for name, low in columns.items():
            if name.endswith("lower"):
                high = columns.get(f"{name.removesuffix('lower')}upper")
                margins += (
                    [] if high is None else [(high - low) / 2, *self._beside(names, name, columns, low, high)]
                )
        every = np.concatenate([np.array(found), np.array(sums), np.array([len(table)], float), *margins])
        return np.asarray(every[np.isfinite(every)])

    def _beside(
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


def _value(number: str) -> float:
    return float(re.sub("[,\u202f]", "", number))


def _of_loss(loss: Loss) -> Iterator[float]:
    amount = float(loss.amount)
    yield amount
    factor = chance_factor(amount)
    if math.isfinite(factor):
        # A promise is rounded up to three digits.
        digits = 10.0 ** (math.floor(math.log10(factor)) - 2)
        yield from (factor, math.ceil(factor / digits) * digits)
