"""What of a statement of PostgreSQL is no comment and no constant, by the rules by which the server reads it."""

from __future__ import annotations

import re
import string
import sys

# Of a name without quotation marks: any sign beyond ASCII is a letter, and a blank is one of these alone.
LETTER, BLANK = r"A-Za-z_\u0080-\U0010ffff", r"[ \t\n\r\f\v]"
NAME = rf'(?:[{LETTER}][{LETTER}0-9$]*|"(?:[^"]|"")+")'
CHAIN = re.compile(rf"{NAME}(?:{BLANK}*\.{BLANK}*{NAME})*")
# Of a constant that goes on: at least one line ends in between, and comments count as blanks.
ESCAPED = r"'(?:[^'\\]|\\.|'')*'"
GOES_ON = rf"(?:[ \t\f\v]|--[^\n\r]*+)*+[\n\r](?:{BLANK}|--[^\n\r]*+)*+{ESCAPED}"
# What a quotation mark, dollars or dashes begin, and where that ends; a backslash counts only in a constant after an E.
QUOTED = re.compile(
    rf"""(?P<comment>--[^\n\r]*|/\*)|(?<![{LETTER}0-9$])[eE]{ESCAPED}(?:{GOES_ON})*"""
    r"""|'(?:[^']|'')*'"""
    rf"""|(?<![{LETTER}0-9$])(?P<dollars>\$(?:[{LETTER}][{LETTER}0-9]*)?\$).*?(?P=dollars)"""
    rf"""|(?<![{LETTER}0-9$])[uU]&"(?P<coded>(?:[^"]|"")*)"(?:{BLANK}*uescape{BLANK}*'(?P<escape>[^'])')?"""
    r"""|(?P<name>"(?:[^"]|"")*")""",
    re.DOTALL | re.IGNORECASE,
)
COMMENT_SIDE = re.compile(r"/\*|\*/")
SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
CODE = r"{0}(?:{0}|\+([0-9a-fA-F]{{6}})|([0-9a-fA-F]{{4}}))"


def without_constants(text: str) -> str:
    """The text without comments, and with '' in place of each constant. Names stay, those by codes as they are meant.

    Nothing in a comment, a constant or a quoted name begins another: a name may have an apostrophe, a constant dashes.
    """
    return QUOTED.sub(_name_or_empty, _without_comments(text))


def names_of(chain: str) -> list[str]:
    """The names of a chain as the catalogs have them: a server of UTF-8 makes the letters of ASCII small, no others."""
    names = re.findall(NAME, chain)
    return [n[1:-1].replace('""', '"') if n.startswith('"') else n.translate(SMALL) for n in names]


def _without_comments(text: str) -> str:
    """With a blank in place of each comment; one that /* begins may hold others."""
    parts, place, begun = [], 0, 0
    while match := QUOTED.search(text, place):
        place = match.end()
        if match["comment"]:
            parts += [text[begun : match.start()], " "]
            place = begun = _end_of_comment(text, place) if match["comment"] == "/*" else place
    return "".join([*parts, text[begun:]])


def _end_of_comment(text: str, place: int) -> int:
    depth = 1
    while depth and (side := COMMENT_SIDE.search(text, place)):
        depth += 1 if side[0] == "/*" else -1
        place = side.end()
    return len(text) if depth else place


def _name_or_empty(match: re.Match[str]) -> str:
    if match["coded"] is not None:
        return f'"{_decoded(match["coded"], match["escape"] or chr(92))}"'
    return match["name"] or "''"


def _decoded(coded: str, escape: str) -> str:
    """A name in which letters may be written by their codes, those beyond 2^16 by two halves, too.

    What is no letter's code is something that no table is called by, and that the server refuses.
    """
    decoded = re.sub(CODE.format(re.escape(escape)), lambda code: _letter(code[1] or code[2], escape), coded)
    return decoded.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _letter(code: str | None, escape: str) -> str:
    if code is None:
        return escape
    number = int(code, 16)
    letter = chr(number) if 0 < number <= sys.maxunicode else "\ufffd"
    return letter.replace('"', '""')
