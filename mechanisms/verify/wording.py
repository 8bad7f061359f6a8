"""Texts that the portal words: whether the numbers in them occur among those of the files that were verified.

A text without the portal's templates cannot be made again. So each number that people read in it has to be that of
the line of a table that it stands in (`html_tables`), or what the sentence around it says that it is (`sentences`); in
Chinese it is the same as in English (`translated`). Any other is looked for among the numbers of the tables and of
release.json: as printed there, rounded to the digits that the text shows, in percent, as a margin of two ends of an
interval, or as a sum of a column. That binds the numbers, not the words around them.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import pandas as pd

from mechanisms.domain import Domain
from mechanisms.matrix.workload.union import EVERYTHING
from mechanisms.summary.plan import SummaryPlan
from mechanisms.tabular.headers import Headers
from mechanisms.verify import (
    chart_answers,
    chart_maps,
    chart_panels,
    chart_shares,
    charts,
    html_tables,
    lone_numbers,
    markup,
    page_text,
    printed_table,
    sentences,
    strategy,
    translated,
)
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.chart_names import is_cut
from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.foreign_digits import foreign, own_words
from mechanisms.verify.json_values import leaves
from mechanisms.verify.known_numbers import KnownNumbers
from mechanisms.verify.page_tables import PageTable, column_names, page_tables
from mechanisms.verify.quantities import Quantities
from mechanisms.verify.shown_numbers import DATE, SHOWN
from mechanisms.verify.svg_shapes import WORD_OF_NUMBER

AGREE = "worded by the portal; its numbers agree with those of the tables and of release.json"
ENDINGS = (".md", ".html", ".tex", ".svg")
PRINTED_FILE = "table1.csv"
DOCUMENTS, WORDS = ("datapackage.json", "croissant.json"), {"title", "description"}
ENGLISH, CHINESE, README = "report.html", "report.zh-hans.html", "README.md"
_DIGEST = re.compile(r"\b[0-9a-f]{8}(?:[0-9a-f]{56}|(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
# By which numbers cells are sorted, where a program sorts a table.
_SORTED, _UNSORTED = re.compile(r"data-sort=\"([^\"]*)\""), re.compile(r"nan|-1e\+300")
_PLAIN_FLOAT = re.compile(r"-?[0-9]{1,300}(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?")
# Of an axis.
_MARK = re.compile(f"{WORD_OF_NUMBER.pattern}|{DATE.pattern}")
# What may have digits after a letter or a dot, and those that portals write.
_WORD, _DIGITS = re.compile(r"[\w.]+"), re.compile("[0-9]+")
# At least three digits, each alone between blanks.
_SPACED = re.compile(r"(?<![^\s])[0-9](?:\s+[0-9]){2,}(?![^\s.,;:])")
_PORTALS_WORDS = {"sha256"}
# Tables of rows of many columns that speak of columns, and where.
_OF_COLUMNS, _NAMED = {"columns", "pairs", "measured", "groups"}, ("column", "first", "second")
# What pages call the query over all cells.
EVERYBODY = "all together"
# Numbers that a report names, at most.
_MOST_NAMED = 5


@dataclass(frozen=True)
class Compared:
    """Numbers of a text. bound: how many are those of their line or sentence; strange: others that should be."""

    bound: int = 0
    strange: tuple[str, ...] = ()

    def __add__(self, other: Compared) -> Compared:
        return Compared(self.bound + other.bound, self.strange + other.strange)


def check(bundle: Bundle) -> Iterator[Finding]:
    """One finding a text."""
    texts = _Texts(bundle)
    names = [name for name in bundle.entries if name.endswith(ENDINGS) or name == PRINTED_FILE]
    unread = [name for name in names if not markup.is_plain(name, bundle.content(name).decode("utf-8"))]
    if unread:
        yield Finding(unread[0], State.FAILED, "it is not read, since no portal writes such tags")
        return
    for name in names:
        yield texts.finding(name)
    yield texts.text_finding("statement", str(bundle.release.get("statement", "")))
    yield texts.text_finding("descriptions", _descriptions(bundle))


class _Texts:
    """What texts of a bundle say in numbers."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._quantities = Quantities(bundle)
        derived = self._quantities.derived
        self._known = KnownNumbers(
            bundle, [*derived.differences, *derived.limits, *derived.expected, *derived.newest]
        )
        texts = (bundle.release.get("statement"), bundle.release["plan"].get("explanation"))
        # What texts repeat word for word; longer ones first, of which another may be a part.
        self._repeated = sorted(
            (_flat(text) for text in texts if isinstance(text, str)), key=len, reverse=True
        )

    def finding(self, name: str) -> Finding:
        """Of a file."""
        text = self._bundle.content(name).decode("utf-8")
        compared = self._foreign(page_text.every_sign(name, text))
        if name.endswith((".html", ".svg")):
            compared += self._charts(name, text) + self._titles(text)
        compared += Compared(0, tuple(self._sorted_otherwise(text)))
        if name.endswith(".html"):
            compared += Compared(0, tuple(lone_numbers.lone(text, self._bundle.release, self._series.labels)))
        if name.endswith(".svg"):
            return _finding(
                name,
                compared,
                f"a drawing by the portal; {compared.bound} of its numbers are those of the tables",
            )
        if name == CHINESE and ENGLISH in self._bundle.entries:
            english = self._bundle.content(ENGLISH).decode("utf-8")
            strange = [*translated.strange(english, text), *translated.strange_cells(english, text)]
            strange += self._in_words(page_text.readable(name, text), translated.NUMBER)
            return _finding(
                name,
                compared + Compared(0, tuple(strange)),
                "worded by the portal; its numbers are those of report.html",
            )
        if name == README:
            readable = page_text.readable(name, text)
            text, strange = translated.english_part(readable, str(self._bundle.release["title"]))
            strange += self._in_words(readable.removeprefix(text), translated.NUMBER)
            compared += Compared(0, tuple(strange))
        if name.endswith(".html"):
            compared += Compared(0, tuple(self._spaced(text)))
            lines = html_tables.compared(self._as_on_pages, text, self._page_tables(name))
            compared += Compared(lines.numbers, tuple(lines.strange))
        compared += self._printed(name, text)
        shown = _cells(text) if name == PRINTED_FILE else page_text.readable(name, text)
        if name in (README, ENGLISH):
            compared += Compared(0, tuple(self._not_repeated(shown)))
        return self._finding_of(name, shown, compared)

    def text_finding(self, name: str, text: str) -> Finding:
        """Of a text that is no file."""
        return self._finding_of(name, text, self._foreign(text))

    def _finding_of(self, name: str, text: str, compared: Compared) -> Finding:
        """compared: what was seen of the numbers of its tables, and in another language."""
        text = self._without_repeated(text)
        places = sentences.placed(text, self._quantities)
        every = {match.start(): match[0] for match in SHOWN.finditer(text)}
        wrong = tuple(every[place] for place, is_own in places.items() if not is_own)
        others = tuple(dict.fromkeys(number for place, number in every.items() if place not in places))
        wrong += tuple(self._in_words(text, SHOWN))
        unknown = tuple(number for number in others if not self._known.has(number))
        seen = compared + Compared(len(places), wrong)
        if unknown and not seen.strange:
            named = _named(unknown)
            text = (
                f"worded by the portal; {len(unknown)} of its {len(others)} other numbers are in no table and not in "
                f"release.json: {named}"
            )
            return Finding(name, State.NOT_CHECKED, text)
        agree = f"worded by the portal; {seen.bound} numbers are those of their line, sentence or chart, others agree"
        return _finding(name, seen, agree if seen.bound else AGREE)

    def _in_words(self, text: str, numbers: re.Pattern[str]) -> Iterator[str]:
        """Words with digits after a letter or a dot that are no names of the release, nor have a number of it."""
        for word in dict.fromkeys(_WORD.findall(numbers.sub("\0", self._without_repeated(text)))):
            known = word in _PORTALS_WORDS or all(map(self._known.has, _DIGITS.findall(word)))
            if not known and word.strip(".") not in self._own_words:
                yield word

    def _foreign(self, text: str) -> Compared:
        return Compared(0, tuple(foreign(text, self._own_words)))

    def _spaced(self, page: str) -> Iterator[str]:
        """Digits with a blank between them, which are read as one number."""
        spaced = (run for paragraph in translated.paragraphs(page) for run in _SPACED.findall(paragraph))
        yield from (run for run in spaced if run not in self._own_words)

    @cached_property
    def _own_words(self) -> str:
        return own_words(self._bundle.release)

    def _titles(self, text: str) -> Compared:
        """Of its drawings: titles, subtitles and notes, and words at shapes that are no label and no number alone."""
        labels = self._series.labels
        words = (word for word in page_text.words_at_shapes(text) if word not in labels)
        others = [
            word
            for word in words
            if not (_MARK.fullmatch(word) or word.endswith("…") or is_cut(word, labels))
        ]
        shown = "\n".join([page_text.titles(text), *others])
        places = sentences.placed(shown, self._quantities)
        numbers = {match.start(): match[0] for match in SHOWN.finditer(shown)}
        strange = [
            number for place, number in numbers.items() if not places.get(place, self._known.has(number))
        ]
        return Compared(len(places), tuple(strange))

    def _sorted_otherwise(self, text: str) -> Iterator[str]:
        """The numbers by which cells of a table would be sorted, that are not in the tables; -1e300 is for none."""
        for number in dict.fromkeys(_SORTED.findall(text)):
            if not (_UNSORTED.fullmatch(number) or self._is_value(number)):
                yield number

    def _is_value(self, number: str) -> bool:
        return _PLAIN_FLOAT.fullmatch(number) is not None and self._known.has_value(float(number))

    def _page_tables(self, name: str) -> list[PageTable] | None:
        """Those of a report; Table 1 is compared by itself."""
        if name != ENGLISH or self._bundle.release["product"] == "summary":
            return None
        return page_tables(self._bundle.release, self._as_on_pages)

    def _printed(self, name: str, text: str) -> Compared:
        """What Table 1 says, in the file that has it alone, and in those that show it."""
        if not {PRINTED_FILE, "summary.csv"} <= self._bundle.entries.keys():
            return Compared()
        summary = self._quantities.tables["summary"]
        content = io.BytesIO(self._bundle.content(PRINTED_FILE))
        printed = pd.read_csv(content, dtype=str, keep_default_na=False)
        plan = SummaryPlan.from_json(self._bundle.release["plan"])
        if name == PRINTED_FILE:
            numbers, strange = printed_table.strange_cells(printed, summary, plan)
            return Compared(numbers, tuple(strange))
        if not name.endswith((".html", ".tex")):
            return Compared()
        return Compared(0, tuple(printed_table.strange_lines(name, text, printed, summary, plan)))

    def _charts(self, name: str, text: str) -> Compared:
        compared = charts.compared(text, self._series, in_page=name.endswith(".html"))
        return Compared(compared.numbers, tuple(compared.strange))

    @cached_property
    def _as_on_pages(self) -> dict[str, pd.DataFrame]:
        """Where tables speak of columns by the names that these have in files, pages have those for readers."""
        tables = self._quantities.tables
        if (plan := self._quantities.derived.queries) is not None and "answers" in tables:
            labels = islice(plan.workload.labels(plan.domain.for_readers), len(tables["answers"]))
            named = [EVERYBODY if label == EVERYTHING else label for label in labels]
            return {**tables, "answers": tables["answers"].assign(query=named)}
        if self._bundle.release["product"] != "microdata":
            return tables
        domain = Domain.from_json(self._bundle.release["plan"]["domain"])
        names = dict(zip(Headers.of(domain).columns.values(), domain.shown_names, strict=True))
        quantities = self._quantities.derived
        own = {
            "loadings": None if quantities.components is None else quantities.components.loadings,
            "means": quantities.means,
            "measured_pairs": quantities.pairs,
        }
        derived = {name: table for name, table in own.items() if table is not None and not table.empty}
        return derived | {
            stem: table.assign(**{place: table[place].replace(names) for place in _NAMED if place in table})
            if stem in _OF_COLUMNS
            else table
            for stem, table in tables.items()
        }

    @cached_property
    def _series(self) -> ChartSeries:
        own = self._quantities.tables
        texts = (
            text
            for table in self._as_on_pages.values()
            for name in table
            for text in (str(name), *table[name].unique())
        )
        labels = {
            *texts,
            *(str(value) for _path, value in leaves(self._bundle.release)),
            *translated.OWN_CELLS,
            *strategy.sets_of(self._bundle),
        }
        labels |= {label.replace("_", " ").strip() for label in labels}  # as readers are shown names
        series = ChartSeries(own, labels, self._weights(), self._charted())
        series.axes |= {(1.0, float(number)) for number in self._quantities.answers}
        series.names |= column_names(self._bundle.release["plan"])
        return series

    def _charted(self) -> Iterator[np.ndarray]:
        """What a chart picks or adds up itself: some of many answers, shares of a summary, counts of many columns."""
        if (plan := self._quantities.derived.queries) is not None:
            yield from chart_answers.shown_numbers(self._bundle, plan)
            yield from self._quantities.derived.factors.shares
        if "summary" in self._quantities.tables:
            yield from chart_shares.shown_numbers(self._quantities.tables["summary"])
        noisy = self._quantities.noisy_counts
        if len(noisy):
            for own in chart_panels.shown_numbers(
                Domain.from_json(self._bundle.release["plan"]["domain"]), noisy
            ):
                yield own
                for reach in self._quantities.derived.reaches:
                    yield from (own - reach, own + reach)

    def _weights(self) -> Iterator[np.ndarray]:
        """Of strategies that are small enough for a chart to show each of them, or how often pairs were measured."""
        known = self._quantities.derived
        if known.times_measured is not None:
            yield known.times_measured
        if known.queries is not None:
            yield from chart_answers.maps(self._bundle, known.queries)
        yield from known.factors.weights
        matrix = strategy.matrix_of(self._bundle) if strategy.STRATEGY in self._bundle.entries else None
        if matrix is not None and matrix.shape[0] * matrix.shape[1] <= chart_maps.MOST:
            yield matrix.toarray().astype(float)

    def _not_repeated(self, text: str) -> Iterator[str]:
        """The first number of the statement, or of the explanation, where the text has not all of theirs in a row."""
        own = SHOWN.findall(text)
        for repeated in self._repeated:
            row = SHOWN.findall(repeated)
            if row and not any(own[begin : begin + len(row)] == row for begin in range(len(own))):
                yield row[0]

    def _without_repeated(self, text: str) -> str:
        """Nor has it digests and names of files."""
        flat = _flat(_DIGEST.sub(" ", text))
        names = sorted(self._bundle.entries, key=len, reverse=True)
        for each in [*names, *(repeated for repeated in self._repeated if repeated != flat)]:
            flat = flat.replace(each, " ")
        return flat


def _finding(name: str, seen: Compared, agree: str) -> Finding:
    """agree: what it says where no number is strange."""
    if seen.strange:
        named = _named(seen.strange)
        text = f"worded by the portal; not those of their line, heading, sentence or chart are {named}"
        return Finding(name, State.NOT_CHECKED, text)
    return Finding(name, State.STATED, agree)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _named(numbers: Sequence[str]) -> str:
    return ", ".join(numbers[:_MOST_NAMED]) + (" …" if len(numbers) > _MOST_NAMED else "")


def _descriptions(bundle: Bundle) -> str:
    """What datapackage.json and croissant.json say of files and columns."""
    documents = [json.loads(bundle.content(name)) for name in DOCUMENTS if name in bundle.entries]
    texts = [value for each in documents for path, value in leaves(each) if path.rpartition(".")[2] in WORDS]
    return " ".join(map(str, texts))


def _cells(table: str) -> str:
    """The fields of a CSV file, which no comma joins."""
    return "\n".join(field for line in csv.reader(io.StringIO(table)) for field in line)
