"""Texts that others read show all that they hold: no control character, and none that turns the direction of writing.

With these a title can look like another one, or turn what stands beside it. Letters that are written from right to
left, the marks that belong to them, and what joins emoji are texts like all others.

Source: Unicode Standard Annex 9, and Technical Report 36.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

from django import forms
from django.utils.translation import gettext as _

from dpportal.platform.paragraphs import ParagraphsField
from dpportal.platform.turning_signs import TURNING

_LINES = frozenset("\n\r\t")
# Control characters, halves of characters, and separators of lines and paragraphs.
_REFUSED = {"Cc", "Cs", "Zl", "Zp"}
_ONE_LINE = re.compile(r"\s+")

if TYPE_CHECKING:
    _Form = forms.BaseForm
else:
    _Form = object


def hidden_sign(text: str, *, has_lines: bool = False) -> str:
    """Why a text is not shown to others, and what to do; empty if it may be. has_lines: whether it may have several."""
    for place, sign in enumerate(text, 1):
        is_end = has_lines and sign in _LINES
        if sign in TURNING or (unicodedata.category(sign) in _REFUSED and not is_end):
            sentence = _(
                "Character %(place)s is one that nobody sees (%(code)s): it can hide or turn what stands beside it. "
                "Take it out, or type the text anew."
            )
            return sentence % {"place": place, "code": f"U+{ord(sign):04X}"}
    return ""


def shown_name(text: str) -> str:
    """A name that another program gave, without such signs."""
    return _ONE_LINE.sub(" ", "".join(sign if not hidden_sign(sign) else " " for sign in text)).strip()


class VisibleTexts(_Form):
    """A form whose texts others read: one that holds such a sign is refused with a sentence.

    shown: the names of these texts; empty for all that are typed.
    """

    shown: ClassVar[Collection[str]] = ()

    def full_clean(self) -> None:
        super().full_clean()
        for name, field in self.fields.items():
            if isinstance(field, forms.CharField) and (not self.shown or name in self.shown):
                self._refuse_hidden(name, field)

    def _refuse_hidden(self, name: str, field: forms.CharField) -> None:
        value = getattr(self, "cleaned_data", {}).get(name)
        has_lines = isinstance(field, ParagraphsField) or isinstance(field.widget, forms.Textarea)
        for text in value if isinstance(value, list) else [value or ""]:
            if wrong := hidden_sign(text, has_lines=has_lines):
                self.add_error(name, wrong)
                return
