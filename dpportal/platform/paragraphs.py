"""Text of several lines that somebody types."""

from __future__ import annotations

from django import forms


class ParagraphsField(forms.CharField):
    """Counts the end of a line as one character, as browsers do while one types; they send two."""

    def to_python(self, value: object) -> str:
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if text else ""
