"""A part of a workbook in which only characters are left that XML has.

Some programs write a text's control characters as they are. XML has none of them, so one such text would make the whole
part unreadable. Each becomes U+FFFD, as a byte that no text has does in other files.
"""

from __future__ import annotations

import codecs
import re
from typing import IO

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REFERENCE = re.compile("&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
LONGEST_REFERENCE = len("&#1114111;")
# The beginning of a part in another encoding, which is left as it is.
OTHER_ENCODING = re.compile(rb"""\xff\xfe|\xfe\xff|<\?xml[^>]*encoding=["'](?!utf-8["'])""", re.IGNORECASE)


class LegalCharacters:
    """Reads a part piece by piece. source: its bytes."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = self._passes = False
        # The beginning of a reference that goes on in the next piece.
        self._held = ""

    def read(self, size: int) -> bytes:
        """About so many bytes; none at the part's end."""
        while piece := self._source.read(size):
            self._passes = self._passes or (not self._begun and bool(OTHER_ENCODING.match(piece)))
            self._begun = True
            if legal := piece if self._passes else self._legal(piece):
                return legal
        return self._legal(b"", last=True)

    def _legal(self, piece: bytes, *, last: bool = False) -> bytes:
        text = self._held + self._decoder.decode(piece, last)
        self._held = ""
        begun = text.rfind("&", max(0, len(text) - LONGEST_REFERENCE))
        if begun >= 0 and ";" not in text[begun:] and not last:
            text, self._held = text[:begun], text[begun:]
        return REFERENCE.sub(_legal_reference, FORBIDDEN.sub("\ufffd", text)).encode()


def _legal_reference(reference: re.Match[str]) -> str:
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    is_legal = number < 0x110000 and not FORBIDDEN.match(chr(number))
    return reference[0] if is_legal else "\ufffd"
