"""Why something cannot be done, in words: a template with named values, so that it can be said in another language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

# Values that are texts of methods, which a catalogue has; all others may be names that people typed.
OURS = {"title", "summary"}
_look_up: Callable[[str], str] = str


def look_up_by(look_up: Callable[[str], str]) -> None:
    """Have every template looked up, such as in a catalogue of translations, before it is filled in."""
    global _look_up
    _look_up = look_up


class Wording(str):
    """A sentence, and what it was made of. template: in English, with the names of `values` in braces."""

    __slots__ = ("template", "values")
    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """The template as `str.format` fills it; one without values stays as it is."""
        translation = _look_up(template)
        shown = {name: _look_up(str(value)) if name in OURS else value for name, value in values.items()}
        wording = super().__new__(cls, translation.format(**shown) if values else translation)
        wording.template, wording.values = template, values
        return wording

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (self.template,), self.values


class RefusalError(ValueError):
    """What cannot be done; the message says why and what to change, and holds parameters and shapes, never data.

    A template stands in the code as it is, so that a catalogue of translations can be made of all of them.
    """

    def __init__(self, template: str, /, **values: object) -> None:
        self.wording = template if isinstance(template, Wording) else Wording(template, **values)
        super().__init__(str(self.wording))

    def __str__(self) -> str:
        """Looked up when it is read: whoever catches it may speak another language."""
        return str(Wording(self.wording.template, **self.wording.values))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.wording,)
