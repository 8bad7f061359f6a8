"""Names and texts one after the other, with the marks of the reader's language between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

_FULL_WIDTH = tuple("。！？：；，、")


def listed(names: Iterable[object]) -> str:
    """“a, b, c” in English. The last is joined as the others are, so that a name may have an “and” of its own."""
    between = _("{first}, {next}").removeprefix("{first}").removesuffix("{next}")
    return between.join(map(str, names))


def listed_values(values: Sequence[str]) -> str:
    """The same of a column's values; where one has a comma of its own, semicolons part them."""
    return (
        joint(";").join(values)
        if any(mark in value for value in values for mark in ",，、")
        else listed(values)
    )


def alternatives(names: Sequence[str]) -> str:
    """“a, b or c”."""
    *several, last = names
    return _("%(several)s or %(last)s") % {"several": listed(several), "last": last} if several else last


def in_sentence(names: Sequence[str]) -> str:
    """“a, b and c”."""
    *several, last = names
    return _("%(several)s and %(last)s") % {"several": listed(several), "last": last} if several else last


def joint(mark: str) -> str:
    """A comma, colon, semicolon or full stop between two texts, with its blank. Raises KeyError for another mark."""
    return {",": _(", "), ":": _(": "), ";": _("; "), ".": _(". ")}[mark]


def with_number(name: object, number: int) -> str:
    """A name, and how many there are of it."""
    return _("%(name)s (%(number)s)") % {"name": name, "number": number}


def in_a_row(sentences: Iterable[str]) -> str:
    """Those sentences that are not empty, with a blank between them unless the mark before is as wide as one."""
    joined = ""
    for sentence in filter(None, sentences):
        joined += ("" if not joined or joined.endswith(_FULL_WIDTH) else " ") + sentence
    return joined
