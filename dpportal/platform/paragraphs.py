"""Text of several lines that somebody types."""

from __future__ import annotations

from django import forms


class ParagraphsField(forms.CharField):
    """Its end of a line is one character: browsers count so while one types, and send two."""

    def to_python(self, value: object) -> str:
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if text else ""
