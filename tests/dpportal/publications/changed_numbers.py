"""How many numbers of a bundle's texts, tables and charts could be changed without being noticed.

One digit of a number is replaced by another, every digest and the signature are made anew, and the program that
verifies has to name something. A name of a file or of a statistic, as Q1, is no number; nor are frames of drawings
and tenths of a pixel.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import State
from mechanisms.verify.wording import check
from tests.dpportal.publications.forging import forged

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9][0-9,\u202f]*(?:\.[0-9]+)?")
_UNREAD = re.compile(
    r"<(style|script)\b.*?</\1>|<!--.*?-->|[0-9a-f]{64}|&[^;\s]*;|[\w.-]+\.(?:csv|svg|html|tex|xlsx|json)",
    re.DOTALL,
)
_TAG = re.compile(r"<[^>]*>")
_SHAPE = re.compile(r'<(?:polyline|polygon|path)\s[^>]*?(?:points|\bd)="([^"]*)"[^>]*>')
_SHADE = re.compile(r'<path\s+d="M[^"]*h-[^"]*"[^>]*fill-opacity="([0-9.]+)"')
_FRAME = re.compile(r"--grid|--control|v5\"|H784")
_PARTS = {
    "table": re.compile(r"<table\b.*?</table>", re.DOTALL),
    "chart": re.compile(r"<svg\b.*?</svg>", re.DOTALL),
}
TEXTS = (".md", ".html", ".tex", ".svg")


@dataclass(frozen=True)
class Number:
    """Where a number stands. kind: sentence, table, chart, shape, or shade of a map."""

    file: str
    begin: int
    end: int
    kind: str


def numbers(bundle: Bundle) -> Iterator[Number]:
    """Those that people read, and those that shapes are drawn by."""
    for name in bundle.entries:
        if name.endswith(TEXTS) or name == "table1.csv":
            text = bundle.content(name).decode()
            for begin, end, kind in _places(name, text):
                yield Number(name, begin, end, kind)


def _places(name: str, text: str) -> Iterator[tuple[int, int, str]]:
    is_marked_up = name.endswith((".html", ".svg"))
    unread = [match.span() for match in _UNREAD.finditer(text)]
    tags = [match.span() for match in _TAG.finditer(text)] if is_marked_up else []
    parts = {kind: [match.span() for match in part.finditer(text)] for kind, part in _PARTS.items()}
    for match in _NUMBER.finditer(text):
        if not _is_in(match.start(), [*unread, *tags]):
            kinds = [kind for kind in ("chart", "table") if _is_in(match.start(), parts[kind])]
            yield (
                *match.span(),
                kinds[0] if kinds else "sentence" if is_marked_up or name.endswith(".md") else "table",
            )
    yield from _shades(text) if is_marked_up else ()
    for shape in _SHAPE.finditer(text) if is_marked_up else ():
        if not _FRAME.search(shape[0]):
            for match in re.finditer(r"[0-9]+(?=\.[0-9])", shape[1]):
                yield (shape.start(1) + match.start(), shape.start(1) + match.end(), "shape")


def _shades(text: str) -> Iterator[tuple[int, int, str]]:
    """Of maps that have more than one."""
    for drawing in _PARTS["chart"].finditer(text):
        shades = list(_SHADE.finditer(drawing[0]))
        for shade in shades if len(shades) > 1 else ():
            yield drawing.start() + shade.start(1), drawing.start() + shade.end(1), "shade"


def _is_in(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(begin <= place < end for begin, end in spans)


def noticed(path: Path, count: int, seed: int) -> dict[str, tuple[int, list[str]]]:
    """Of `count` changed numbers of each kind how many were noticed, and which were not."""
    chance, bundle = random.Random(seed), Bundle.read(path)
    known = set(map(str, check(bundle)))
    kinds: defaultdict[str, list[Number]] = defaultdict(list)
    for number in numbers(bundle):
        kinds[number.kind].append(number)
    found: dict[str, tuple[int, list[str]]] = {}
    for kind, every in kinds.items():
        missed = []
        for number in chance.choices(every, k=count):
            text = bundle.content(number.file).decode()
            other = _another(text[number.begin : number.end], chance)
            content = text[: number.begin] + other + text[number.end :]
            findings = check(Bundle.read(forged(path, {number.file: content.encode()})))
            if not any(
                each.state in (State.FAILED, State.NOT_CHECKED) and str(each) not in known
                for each in findings
            ):
                missed.append(
                    f"{number.file}: {text[max(0, number.begin - 30) : number.end + 15]!r} as {other}"
                )
        found[kind] = count - len(missed), missed
    return found


def _another(number: str, chance: random.Random) -> str:
    place = chance.choice([place for place, letter in enumerate(number) if letter.isdigit()])
    digit = chance.choice([digit for digit in "0123456789" if digit != number[place]])
    return f"{number[:place]}{digit}{number[place + 1 :]}"
