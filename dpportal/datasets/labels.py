"""Declared values with their labels, as lines of text; and what cannot stand beside a column's own cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from django.utils.translation import gettext as _

from dpportal.platform.listed_names import listed
from dpportal.platform.visible_text import hidden_sign
from mechanisms.domain import MISSING_LABEL, OTHER_LABEL, Attribute, Categorical, DomainError

BETWEEN = " = "
LONGEST_TITLE = 120


def with_words(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values and their labels of lines `value = label`; a value alone is its own label.

    No labels where none differs from its value. Raises DomainError where one side of the sign is empty.
    """
    parts = [line.partition(BETWEEN if BETWEEN in line else BETWEEN.strip()) for line in lines]
    pairs = [(value.strip(), word.strip() if between else value.strip()) for value, between, word in parts]
    for number, pair in enumerate(pairs, 1):
        if not all(pair):
            text = _("Line %(number)s has no label. Write value = label, such as 1 = Primary.")
            raise DomainError(text % {"number": number})
    values, words = tuple(value for value, _word in pairs), tuple(word for _value, word in pairs)
    return values, () if words == values else words


def wrong_title(title: str) -> str:
    """What is wrong with what readers are to see in place of a column's name, or nothing."""
    if len(title) > LONGEST_TITLE:
        return _("A name for readers has at most %(most)s characters.") % {"most": LONGEST_TITLE}
    return hidden_sign(title)


def lines_of(attribute: Categorical) -> list[str]:
    """The lines of which `with_words` makes the attribute again, or one for each value where it has no labels."""
    if not attribute.words:
        return list(attribute.values)
    pairs = zip(attribute.values, attribute.words, strict=True)
    return [v if v == word and BETWEEN.strip() not in v else f"{v}{BETWEEN}{word}" for v, word in pairs]


def wrong_values(attribute: Categorical, *, own_missing: bool, is_open: bool) -> str:
    """What is wrong with the declared values and their labels, or nothing.

    own_missing, is_open: whether the column has cells of its own for missing and for other values.
    """
    named = attribute.words or attribute.values
    if hidden := next(filter(None, (hidden_sign(name, has_lines=True) for name in named)), ""):
        return hidden
    if not all(map(_composed, (*attribute.values, *attribute.words))):
        return _("A value or a label is empty. An empty field is a missing value, so take it off the list.")
    if own_missing and MISSING_LABEL.casefold() in {name.casefold() for name in named}:
        text = _(
            "“%(label)s” is already the name of a cell of this column, that of empty fields. Take it off the list, or "
            "do not count missing values separately."
        )
        return text % {"label": MISSING_LABEL}
    # What is called Other shares its cell; what is almost called so would stand beside it.
    if is_open and (alike := [name for name in named if _is_almost_other(name)]):
        text = _(
            "“%(value)s” and the cell “%(label)s” would be taken for each other. Write “%(label)s” in the list: the "
            "cell then has it, with all values that are not on the list."
        )
        return text % {"value": alike[0][:80], "label": OTHER_LABEL}
    if attribute.words and any(BETWEEN in value for value in attribute.values):
        return _("A value that has a label cannot hold “ = ” itself.")
    if len({_composed(value) for value in attribute.values}) != len(attribute.values):
        return _(
            "Two values are the same text, but for spaces or accents written in two ways. List each once."
        )
    if len(set(map(_composed, attribute.words))) != len(set(attribute.words)):
        return _("Two labels are the same text, but for accents written in two ways. Write them alike.")
    return ""


def _is_almost_other(name: str) -> bool:
    return name != OTHER_LABEL and name.casefold() == OTHER_LABEL.casefold()


def shares_other(attribute: Attribute) -> bool:
    """Whether a declared value or label is called as the cell for all other values is, and so shares it."""
    if not isinstance(attribute, Categorical) or attribute.closed:
        return False
    return OTHER_LABEL in (attribute.words or attribute.values)


def shared_other_text(columns: Sequence[str]) -> str:
    """What is said of columns of which that holds."""
    text = _(
        "%(columns)s: what is called “Other” shares a cell with every value that is not on the list. Call it "
        "otherwise to count it alone."
    )
    return text % {"columns": listed(column[:80] for column in columns)}


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())
