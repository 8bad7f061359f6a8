"""How the text of one field becomes a value, in SQL: by that text and the declared options alone.

No other row can change what a text means. Only primitives that DuckDB, PostgreSQL and Spark share are used: trim,
replace, full matches of plain regular expressions, their groups, casts and CASE. `reference` says the same in Python,
and the tests compare the two text by text.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from dpportal.datasets.rawdata.dates import FIRST_OF_1900S, MONTHS, DatePattern, date_pattern
from dpportal.datasets.rawdata.engine import literal
from dpportal.datasets.rawdata.options import ReadOptions

# All that Unicode calls white space, and the two marks that show nothing: a space of no width, a byte-order mark.
SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u200b\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# A text between its spaces. The engine's own trim takes three times as long with so many kinds of space.
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


@dataclass(frozen=True)
class Reading:
    """SQL of a dataset's fields. options: settled. A field is any SQL of its stored text."""

    options: ReadOptions

    def text(self, field: str) -> str:
        """The text that counts, NULL if it means that there is no value."""
        text = f"nullif(nfc_normalize({trimmed(field) if self.options.strip else field}), '')"
        if not self.options.missing:
            return text
        words = ", ".join(literal(prepared(word, self.options)) for word in self.options.missing)
        return f"CASE WHEN {text} IN ({words}) THEN NULL ELSE {text} END"

    def number(self, text: str) -> str:
        """A text as a double, NULL if it is no number. Numbers beyond all doubles are infinite."""
        plain = self._plain(text)
        finite = (
            f"coalesce(TRY_CAST({plain} AS DOUBLE), "
            f"CASE WHEN starts_with({text}, '-') THEN '-inf'::DOUBLE ELSE 'inf'::DOUBLE END)"
        )
        infinite = f"CASE WHEN starts_with({text}, '-') THEN '-inf'::DOUBLE ELSE 'inf'::DOUBLE END"
        return (
            f"CASE WHEN {_matches(text, number_pattern(self.options))} AND length({text}) <= {LONGEST_NUMBER} "
            f"THEN {finite} "
            f"WHEN {_matches(text, INFINITE)} THEN {infinite} END"
        )

    def whole(self, text: str) -> str:
        """A text as a whole number: exact up to 18 digits, else the floor of its double; NULL if it is no number."""
        plain = self._plain(text)
        exact = f"{_matches(text, number_pattern(self.options))} AND {_matches(plain, EXACT_WHOLE)}"
        return f"CASE WHEN {exact} THEN TRY_CAST({plain} AS BIGINT) ELSE {floor_of(self.number(text))} END"

    def truth(self, text: str) -> str:
        """1 for a word or number of yes, 0 for one of no, NULL otherwise."""
        number = self.number(text)
        return (
            f"CASE WHEN lower({text}) IN {TRUE_WORDS} THEN 1 WHEN lower({text}) IN {FALSE_WORDS} THEN 0 "
            f"WHEN {number} = 1 THEN 1 WHEN {number} = 0 THEN 0 END"
        )

    def day(self, text: str) -> str:
        """A text as a date in the declared format, NULL if it is none; a time of day is passed over."""
        form = date_pattern(str(self.options.date_format))
        if self.options.date_format == "iso":
            read = f"left({text}, 10)"
        else:
            read = (
                f"concat({_year(text, form)}, '-', {_month(text, form)}, '-', {_group(text, form, form.day)})"
            )
        return f"CASE WHEN {_matches(text, form.pattern)} THEN TRY_CAST({read} AS DATE) END"

    def person(self, field: str, *, ignore_case: bool) -> str:
        """What two rows of one person have in common: the identifier trimmed and composed; NULL if there is none."""
        text = f"nullif(nfc_normalize({trimmed(field)}), '')"
        # Composed again, since a small letter may be one character where the capital with its mark is two; by way of
        # capitals, since Greek has two small letters of one capital.
        return f"nfc_normalize(lower(nfc_normalize(upper({text}))))" if ignore_case else text

    def _plain(self, text: str) -> str:
        """A number's text with a point and without marks between thousands."""
        if self.options.thousands:
            text = f"replace({text}, {literal(self.options.thousands)}, '')"
        return text if self.options.decimal == "." else f"replace({text}, ',', '.')"


def prepared(text: str, options: ReadOptions) -> str:
    """What `Reading.text` makes of a declared text, so that both sides of a comparison are alike."""
    return unicodedata.normalize("NFC", text.strip(SPACES) if options.strip else text)


def trimmed(field: str) -> str:
    """SQL: a text without the spaces around it."""
    return f"regexp_extract({field}, {literal(TRIMMED)}, 1, 's')"


def floor_of(number: str) -> str:
    """SQL: a double rounded down to 64 bits, clamped to what they hold."""
    low, high = literal(-FURTHEST), literal(FURTHEST)
    return f"CASE WHEN {number} < {low} THEN {low} WHEN {number} > {high} THEN {high} ELSE floor({number}) END::BIGINT"


def _matches(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, {literal(pattern)})"


def _group(text: str, form: DatePattern, group: int) -> str:
    return f"regexp_extract({text}, {literal(f'^{form.pattern}$')}, {group})"


def _year(text: str, form: DatePattern) -> str:
    year = _group(text, form, form.year)
    return (
        f"concat(CASE WHEN {year} >= '{FIRST_OF_1900S}' THEN '19' ELSE '20' END, {year})"
        if "y" in form.letters
        else year
    )


def _month(text: str, form: DatePattern) -> str:
    month = _group(text, form, form.month)
    if "m" in form.letters:
        return month
    names = " ".join(f"WHEN '{name}' THEN '{number}'" for number, name in enumerate(MONTHS, 1))
    return f"CASE lower(left({month}, 3)) {names} END"
