"""Words of a drawing that people read as other numbers than each word says: digits beside digits, and turned ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mechanisms.verify.chart_names import is_cut
from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.svg_shapes import WORD_OF_NUMBER, Word

# Pixels of a letter, and between two words on one line, which portals leave more of; lines are further apart.
_LETTER, _BETWEEN, _OFF_LINE = 6.6, 4.0, 6.0
_BEGINS, _ENDS = re.compile("[-\u2212+±.,%]?[0-9]"), re.compile("[0-9][.,%]?$")
_SHARE_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}


def joined(words: Sequence[Word]) -> Iterator[str]:
    """Digits that stand so near behind those of another word that both are read as one number."""
    lines = sorted(words, key=lambda word: word.y)
    for place, word in enumerate(lines):
        for other in lines[place + 1 :]:
            if other.y - word.y > _OFF_LINE:
                break
            yield from (f"{first.text}{second.text}" for first, second in _touching(word, other))


def _touching(one: Word, other: Word) -> Iterator[tuple[Word, Word]]:
    """Both in the order in which they are read, where one is a number and nothing parts their digits."""
    if not any(WORD_OF_NUMBER.fullmatch(word.text) for word in (one, other)):
        return
    first, second = sorted((one, other), key=_begin)
    apart = _begin(second) - _begin(first) - _width(first)
    if apart < _BETWEEN and _ENDS.search(first.text) and _BEGINS.match(second.text):
        yield first, second


def strange_turned(words: Sequence[Word], series: ChartSeries) -> Iterator[str]:
    """Numbers that stand askew below a shape, where names of the bundle do."""
    numbers = (word.text for word in words if WORD_OF_NUMBER.fullmatch(word.text))
    yield from (text for text in numbers if text not in series.labels and not is_cut(text, series.labels))


def _begin(word: Word) -> float:
    return word.x - _SHARE_BEFORE[word.anchor] * _width(word)


def _width(word: Word) -> float:
    return _LETTER * len(word.text)
