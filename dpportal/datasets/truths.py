"""No and yes as lines of text: how the table writes them, and what they are called."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.datasets.labels import BETWEEN
from dpportal.datasets.out_of_domain_forms import FieldError
from dpportal.platform.listed_names import listed
from dpportal.tables.meaning.number_syntax import FALSE_WORDS, TRUE_WORDS
from mechanisms.domain import Boolean


def truth_words(no: str, yes: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values and the labels of no and yes, each pair empty where nobody says them.

    A line is `value = label`, a value alone where it is one that is read so, or else a label alone. Raises FieldError.
    """
    (no_value, no_word), (yes_value, yes_word) = _parts("no", no, FALSE_WORDS), _parts("yes", yes, TRUE_WORDS)
    for first, second in ((no_value, yes_value), (no_word, yes_word)):
        if bool(first) != bool(second):
            raise FieldError(
                "no" if second else "yes", _("Say it for no and for yes, or for neither of the two.")
            )
    values = (no_value, yes_value) if no_value else ()
    words = (no_word, yes_word) if no_word else ()
    return values, words


def _parts(field: str, line: str, known: tuple[str, ...]) -> tuple[str, str]:
    value, between, word = (part.strip() for part in line.partition(BETWEEN.strip()))
    if not between:
        return (value, "") if value.casefold() in known else ("", value)
    if value.casefold() not in known:
        text = _("Only %(values)s are read so. To count other texts, choose categories.")
        raise FieldError(field, text % {"values": listed(known)})
    return value, word


def is_read_so(attribute: Boolean) -> bool:
    """Whether its values are texts that every table is read by as no and yes."""
    pairs = zip(attribute.values, (FALSE_WORDS, TRUE_WORDS), strict=False)
    return all(value.casefold() in known for value, known in pairs)


def truth_lines(attribute: Boolean) -> tuple[str, str]:
    """The lines of which `truth_words` makes the same again."""
    values, words = attribute.values or ("", ""), attribute.words or ("", "")
    no, yes = (BETWEEN.join(filter(None, pair)) for pair in zip(values, words, strict=True))
    return no, yes
