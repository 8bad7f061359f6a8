"""No and yes as lines of text: how the table writes them, and what they are called.

Every table is read by the same words for no and yes. Other words, such as nie and tak, are categories: as mere names of
false and true they would leave every row unread.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.labels import BETWEEN
from dpportal.datasets.out_of_domain_forms import FieldError
from dpportal.platform.json_types import Json
from dpportal.tables.meaning.number_syntax import FALSE_WORDS, TRUE_WORDS
from mechanisms.domain import Attribute, Boolean, Categorical, DomainError

READ_SO = (*FALSE_WORDS, *TRUE_WORDS)
# Kinds of first rows of which none, or hardly any, is a word that is read as no or yes.
UNREAD_KINDS = ("text", "date")
UNREAD = gettext_lazy(
    "The first rows of this column hold other texts than those that are read as no and yes. Write how the table writes "
    "no and how it writes yes, such as nie and tak, or choose categories."
)


def is_unread(look: Json) -> bool:
    """Whether first rows of a described column were seen, and are not written as no and yes are read."""
    seen = look.get("repeats") is not None
    return seen and not look.get("truths") and look.get("kind") in UNREAD_KINDS


def refuse_unread(attribute: Attribute, look: Json) -> None:
    """Raise DomainError if yes and no are to be the usual words, and the column's first rows hold others."""
    if isinstance(attribute, Boolean) and not attribute.values and is_unread(look):
        raise DomainError(f"{attribute.name}: {UNREAD}")


def truth_words(no: str, yes: str, looks: Sequence[Json] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values and the labels of no and yes, each pair empty where nobody says them.

    A line is `value = label`, or one of the two: a label where the first rows of the described columns write no and
    yes in a way that is read, such as 0 and 1; else the text of the table. Raises FieldError.
    """
    if not (no.strip() or yes.strip()) and any(map(is_unread, looks)):
        raise FieldError("no", UNREAD)
    written = {tuple(look.get("truths", ())) for look in looks}
    are_read = bool(written) and all(written)
    (no_value, no_word), (yes_value, yes_word) = _parts(no, are_read), _parts(yes, are_read)
    for first, second in ((no_value, yes_value), (no_word, yes_word)):
        if bool(first) != bool(second):
            raise FieldError(
                "no" if second else "yes", _("Say it for no and for yes, or for neither of the two.")
            )
    words = (no_word, yes_word) if no_word else ()
    if words and not no_value:
        return written.pop() if len(written) == 1 else (), words
    return (no_value, yes_value) if no_value else (), words


def _parts(line: str, are_read: bool) -> tuple[str, str]:
    value, between, word = (part.strip() for part in line.partition(BETWEEN.strip()))
    is_label = not between and are_read and value.casefold() not in READ_SO
    return ("", value) if is_label else (value, word)


def as_read(attribute: Boolean) -> Boolean | Categorical:
    """The attribute, or categories of its two values where these are no texts that are read as no and yes."""
    if is_read_so(attribute):
        return attribute
    name, missing, values, words = attribute.name, attribute.missing_cell, attribute.values, attribute.words
    closed, to, title = attribute.closed, attribute.misfits_to, attribute.title
    return Categorical(name, missing, values, words=words, closed=closed, misfits_to=to, title=title)


def is_read_so(attribute: Boolean) -> bool:
    """Whether its values are texts that every table is read by as no and yes."""
    pairs = zip(attribute.values, (FALSE_WORDS, TRUE_WORDS), strict=False)
    return all(value.casefold() in known for value, known in pairs)


def truth_lines(attribute: Boolean) -> tuple[str, str]:
    """The lines of which `truth_words` makes the same again."""
    values, words = attribute.values or ("", ""), attribute.words or ("", "")
    # A label alone would be taken for a text of the table where nobody knows what that writes.
    no, yes = (
        f"{value}{BETWEEN}{word}".strip() if word else value
        for value, word in zip(values, words, strict=True)
    )
    return no, yes
