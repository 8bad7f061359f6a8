"""What texts look like that mean something: spaces, numbers, words of truth, in what all engines' expressions allow."""

from __future__ import annotations

import unicodedata

from dpportal.datasets.rawdata.options import ReadOptions

# All that Unicode calls white space, and the two marks that show nothing: a space of no width, a byte-order mark.
SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u200b\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# A text between its spaces.
TRIMMED = f"^[{SPACES}]*(.*?)[{SPACES}]*$"
# A text of this form is stored also as the double that it writes, so that most numbers need no reading at all.
PLAIN_NUMBER = "-?(?:0|[1-9][0-9]{0,14})(?:[.][0-9]{1,15})?"
EXPONENT = "(?:[eE][-+]?[0-9]{1,3})?"
INFINITE = "[-+]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
# A longer text is no number: not every engine reads one of any length.
LONGEST_NUMBER = 1000
EXACT_WHOLE = "[-+]?[0-9]{1,18}"
TRUE_WORDS = ("true", "t", "yes", "y", "1")
FALSE_WORDS = ("false", "f", "no", "n", "0")
# Beyond all bounds of a domain, within 64 bits.
FURTHEST = 2.0**62


def number_pattern(options: ReadOptions) -> str:
    """What a number looks like with the declared marks; thousands only in whole groups of three."""
    digits, point = "[0-9]+", f"[{options.decimal}]"
    if options.thousands:
        mark = f"[{options.thousands}]"
        digits = f"(?:[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|[0-9]+)"
    return f"[-+]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+){EXPONENT}"


def prepared(text: str, options: ReadOptions) -> str:
    """What is made of a declared text as of a field's, so that both sides of a comparison are alike."""
    return unicodedata.normalize("NFC", text.strip(SPACES) if options.strip else text)
