"""Why something cannot be done, in words: a template with named values, so that it can be said in another language."""

from __future__ import annotations

from typing import Any, Self


class Wording(str):
    """A sentence, and what it was made of. template: in English, with the names of `values` in braces."""

    __slots__ = ("template", "values")
    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """The template as `str.format` fills it; one without values stays as it is."""
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template, made.values = template, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (self.template,), self.values


class RefusalError(ValueError):
    """What cannot be done; the message says why and what to change, and holds parameters and shapes, never data.

    A template stands in the code as it is, so that a catalogue of translations can be made of all of them.
    """

    def __init__(self, template: str, /, **values: object) -> None:
        self.wording = template if isinstance(template, Wording) else Wording(template, **values)
        super().__init__(str(self.wording))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.wording,)
