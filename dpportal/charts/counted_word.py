"""What counts are counts of, in a word: people, or rows where a person may have several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.utils.translation import gettext as _

# Most rows that one person has in what is being drawn. Drawings ask for the word in dozens of places, as texts ask for
# the reader's language, so it is set around them in the same way.
_ROWS: ContextVar[int] = ContextVar("most rows of a person", default=1)
_PICKS_ROW: ContextVar[bool] = ContextVar("one of a person's several rows counts", default=False)


@contextmanager
def counting_rows(most: int, *, picks_row: bool = False) -> Iterator[None]:
    """Within it charts count people, or rows where a person may have several.

    most: rows of one person that count. picks_row: whether that is one, drawn at random of several.
    """
    tokens = _ROWS.set(most), _PICKS_ROW.set(picks_row)
    try:
        yield
    finally:
        _ROWS.reset(tokens[0])
        _PICKS_ROW.reset(tokens[1])


def counted_word(most: int | None = None) -> str:
    """“people”, or “rows” where a person may have up to `most` > 1; None: as `counting_rows` around it says."""
    return _("rows") if (_ROWS.get() if most is None else most) > 1 else _("people")


def picked_row_caption() -> str:
    """That a count is of people by one of their rows each, and not of all who ever had such a row; else nothing."""
    return _("Each person counts by one of their rows, drawn at random.") if _PICKS_ROW.get() else ""


def of_number(word: str, number: object) -> str:
    """The word for one of what is counted where the number is 1, however it is written."""
    ones = {_("people"): _("person"), _("rows"): _("row")}
    return ones.get(word, word) if str(number) == "1" else word


def counted_by(columns: str) -> str:
    """“People by age”, a chart's title. Its two texts are whole, so that a stored one is known again and translated."""
    text = _("Rows by %(columns)s") if _ROWS.get() > 1 else _("People by %(columns)s")
    return text % {"columns": columns}
