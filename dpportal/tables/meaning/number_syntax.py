"""Patterns of texts: spaces, numbers, yes and no, in the syntax that all engines' regular expressions share."""

from __future__ import annotations

import unicodedata

from dpportal.tables.meaning.parse_options import ReadOptions

# All that Unicode calls white space, and the two marks that show nothing: a space of no width, a byte-order mark.
SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u200b\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# A text between its spaces.
TRIMMED = f"^[{SPACES}]*(.*?)[{SPACES}]*$"
# A text of this form is stored also as the double that it writes, so that most numbers need no reading at all.
PLAIN_NUMBER = "-?(?:0|[1-9][0-9]{0,14})(?:[.][0-9]{1,15})?"
# A smaller number may be written with an exponent.
SMALLEST_FRACTION = 0.001
EXPONENT = "(?:[eE][-+]?[0-9]{1,3})?"
INFINITE = "[-+]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
# A longer text is no number: not every engine reads one of any length.
LONGEST_NUMBER = 1000
EXACT_INTEGER = "[-+]?[0-9]{1,18}"
# Of English, French, German, Spanish, Italian and Dutch. Databases that know the capitals of ASCII alone leave an Í and
# an Ì within a word in small letters.
TRUE_WORDS = (
    *("true", "t", "yes", "y", "1"),
    *("oui", "ja", "s\u00ed", "s\u00cd", "s\u00ec", "s\u00cc", "si"),
)
FALSE_WORDS = ("false", "f", "no", "n", "0", "non", "nein", "nee")
# What programs write where they know no value. As an identifier each would make one person of all who have none.
NOBODY = (
    *(
        "NA",
        "N/A",
        "n/a",
        "#N/A",
        "<NA>",
        "NaN",
        "nan",
        "NAN",
        "NaT",
        "NULL",
        "Null",
        "null",
        "#NULL!",
        "<null>",
        "(null)",
    ),
    *("[NULL]", "NONE", "None", "none", "\\N"),
)
# Beyond all bounds of a domain, within 64 bits.
FURTHEST = 2.0**62


def number_pattern(options: ReadOptions) -> str:
    """The pattern of a number with the declared marks, and perhaps one of the declared units behind it."""
    bare = bare_number(options)
    if not options.units:
        return bare
    units = "|".join("".join(f"[{sign}]" for sign in prepared(unit, options)) for unit in options.units)
    return f"(?:{bare})(?:[{SPACES}]*(?:{units}))?"


def before_unit(options: ReadOptions) -> str:
    """The same with a group, the first, of what stands before the unit."""
    bare = bare_number(options)
    return number_pattern(options).replace(f"(?:{bare})", f"({bare})", 1)


def bare_number(options: ReadOptions) -> str:
    """The pattern of a number by itself; thousands only in full groups of three."""
    digits, point = "[0-9]+", f"[{options.decimal}]"
    if options.thousands:
        mark = f"[{''.join(options.thousands_marks)}]"
        digits = f"(?:[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|[0-9]+)"
    return f"[-+]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+){EXPONENT}"


def prepared(text: str, options: ReadOptions) -> str:
    """A declared text, prepared as a field's text is, so that both sides of a comparison are alike."""
    return unicodedata.normalize("NFC", text.strip(SPACES) if options.strip else text)
