"""What stands around a table in its file: titles above it, several lines of names, notes below.

Proposals come from the first and last lines, and are declarations once the curator has seen them. Afterwards a line is
a note, or is not, by its own text alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import NamedTuple

from dpportal.tables.meaning.missing_words import missing_words
from dpportal.tables.meaning.parse_options import MOST_HEADER_LINES, ReadOptions

# Lines that are looked at for a proposal, and lines of names that are proposed.
SAMPLE_LINES, MOST_PROPOSED = 40, 4
# Lines below one of texts that it takes to tell whether it is like them, and the share that makes a column numbers.
FEWEST_ROWS, MAINLY = 3, 0.6
NUMBER = re.compile(r"[-+]?[0-9][0-9.,' \u00a0\u202f]*%?")
YEAR = re.compile(r"(18|19|20)[0-9]{2}")
# A unit as it stands below a name.
BRACKETED = re.compile(r"\(.+\)|\[.+\]")
BETWEEN = ": "
# How a note names itself, such as “Lecture : …”; and as much of one that does not as a rule has.
NAMED_NOTE = re.compile(r"([^\W\d_]{3,20})\s?[:：]\s")
BEGINNING = re.compile(r".{1,60}(?!\w)")
# How lines of sums begin, as a whole first value.
SUMS = re.compile(
    "(grand |general )?total|sum|all|summe|gesamt|insgesamt|ensemble|totale?|totaal|total g[eé]n[eé]ral|total geral"
    "|итого|всего|разом|razem|suma|celkem|spolu|ukupno|skupaj|összesen|yhteensä|totalt|summa|i alt|(γενικό )?σ[υύ]νολο"
    "|(genel )?toplam|合计|总计|合計|總計|계",
    re.IGNORECASE,
)
# Those with which a value may begin as well, such as “All day”.
SUMS_AND_VALUES = ("all", "sum", "ensemble")
# How lines of notes begin.
NOTES = (
    *(
        "Source",
        "Sources",
        "Note",
        "Notes",
        "Quelle",
        "Quellen",
        "Anmerkung",
        "Fuente",
        "Fonte",
        "Remarque",
        "Champ",
    ),
    *(
        "Bron",
        "Kilde",
        "Källa",
        "Lähde",
        "Źródło",
        "Zdroj",
        "Forrás",
        "Источник",
        "Примечание",
        "Πηγή",
        "Σημείωση",
    ),
    *("Kaynak", "来源", "资料来源", "数据来源", "資料來源", "出典", "注"),
)


class Line(NamedTuple):
    """A record of a file. first: its first line, counted from 0; after: the line after its last."""

    first: int
    after: int
    fields: list[str]


def filled(fields: Sequence[str]) -> int:
    """How many fields say something."""
    return sum(bool(text.strip()) for text in fields)


def is_empty(fields: Sequence[str]) -> bool:
    """Whether a line of several fields says nothing: it holds delimiters alone."""
    return len(fields) > 1 and not filled(fields)


def is_note(fields: Sequence[str], options: ReadOptions) -> bool:
    """Whether a line is no row by what is declared: it has too few values, or begins like a note."""
    if filled(fields) < options.fewest_filled:
        return True
    first = next((text.strip() for text in fields if text.strip()), "").casefold()
    return any(_begins(first, word.casefold()) for word in options.note_words)


def _begins(text: str, word: str) -> bool:
    """Whether a text begins with a word, and not with a longer one."""
    return text.startswith(word) and not text[len(word) : len(word) + 1].isalnum()


def joined_names(lines: Sequence[Sequence[str]]) -> list[str]:
    """The names of columns that stand in one line or more: of merged cells only the first holds the text.

    Above the last line, a text therefore reaches to the next one in its line, or in a line above.
    """
    width = max(map(len, lines), default=0)
    rows = [[" ".join(text.split()) for text in (*line, *[""] * (width - len(line)))] for line in lines]
    reaching = [*(_reaching(rows[: place + 1]) for place in range(len(rows) - 1)), *rows[-1:]]
    return [BETWEEN.join(dict.fromkeys(filter(None, parts))) for parts in zip(*reaching, strict=True)]


def _reaching(rows: Sequence[Sequence[str]]) -> list[str]:
    """The last row's texts, each up to where it or a row above has another."""
    reaching: list[str] = []
    for *above, text in zip(*rows, strict=True):
        reaching.append(text if any((text, *above)) or not reaching else reaching[-1])
    return reaching


def usual_width(lines: Sequence[Line]) -> int:
    """The number of fields that most lines have; where several are as common, the largest."""
    widths = Counter(len(line.fields) for line in lines)
    return max(widths, key=lambda width: (widths[width], width), default=0)


def with_top(options: ReadOptions, lines: Sequence[Line], width: int) -> ReadOptions:
    """The options with the lines of titles and names filled in where nobody declared them.

    lines: the first that are no titles by what is declared.
    """
    titles, names = proposed_top(lines, width) if options.header else (0, 1)
    if options.title_lines is not None:
        titles, names = options.title_lines, _name_lines(lines, width) or 1
    return replace(options, title_lines=titles, header_lines=options.header_lines or names)


def proposed_top(lines: Sequence[Line], width: int) -> tuple[int, int]:
    """How many lines stand above the names, and how many hold them; none and one where nothing tells."""
    start = next((n for n in range(len(lines)) if not _is_title(lines, n, width)), len(lines))
    below = lines[start:]
    if width < 2 or not below:
        return 0, 1
    titles = below[0].first if start else 0
    if start and not _is_text(below[0]):
        return 0, 1
    names = _name_lines(below, width)
    return (titles, names or 1) if start or names else (0, 1)


def _is_title(lines: Sequence[Line], number: int, width: int) -> bool:
    """Whether a line above the names is none of theirs."""
    line, values = lines[number], filled(lines[number].fields)
    if not _fits(line, width):
        return True
    is_apart = number + 1 < len(lines) and lines[number + 1].first > line.after
    return width > 2 and (values <= 1 or (is_apart and 2 * values <= width))


def _fits(line: Line, width: int) -> bool:
    return len(line.fields) == width or (len(line.fields) == width + 1 and not line.fields[-1])


def _name_lines(lines: Sequence[Line], width: int) -> int:
    """How many lines of the file it takes until each column has a name of its own; 0 if they do not get one.

    A line of texts below names is taken for more of them only where it shows that cells above are merged: it is empty
    below a name, says the same under several, fills their gaps above a line that is no text alone, or is below gaps and
    unlike the rows. Below names that are complete, a line of units belongs to them.
    """
    for count in range(1, min(len(lines), MOST_PROPOSED) + 1):
        line = lines[count - 1]
        if count > 1 and not (_is_text(line) and _is_further(lines, count - 1)):
            return 0
        names = joined_names([line.fields[:width] for line in lines[:count]])
        is_complete = filled(names) == width and len(set(names)) == width
        if is_complete and not _names_a_merged_column(lines, count):
            last = lines[count] if _are_units(lines, count) else line
            held = last.after - lines[0].first
            return held if held <= MOST_HEADER_LINES else 0
    return 0


def _names_a_merged_column(lines: Sequence[Line], count: int) -> bool:
    """Whether the next line goes on with the names, and has one for each column that is only below a merged cell."""
    if count < 2 or count >= len(lines) or not _is_text(lines[count]):
        return False
    own = zip_longest(*(line.fields for line in lines[:count]), fillvalue="")
    nameless = [place for place, texts in enumerate(own) if not any(map(str.strip, texts))]
    below = lines[count].fields
    has_names = all(place < len(below) and below[place].strip() for place in nameless)
    return bool(nameless) and has_names and _is_further(lines, count)


def _is_text(line: Line) -> bool:
    texts = [text.strip() for text in line.fields if text.strip()]
    return all(YEAR.fullmatch(text) or not NUMBER.fullmatch(text) for text in texts)


def _is_further(lines: Sequence[Line], number: int) -> bool:
    """Whether a line of texts goes on with the names of the line above it."""
    above, below = lines[number - 1].fields, lines[number].fields
    fills = not all(map(str.strip, above)) and all(map(str.strip, below))
    is_above_row = number + 1 < len(lines) and not _is_text(lines[number + 1])
    if _is_below_merged(above, below) or (fills and is_above_row):
        return True
    return _has_gap(above) and _is_unlike_rows(lines, number)


def _has_gap(fields: Sequence[str]) -> bool:
    """Whether a field is empty to the right of one that says something, as of merged cells."""
    return any(a.strip() and not b.strip() for a, b in pairwise(fields))


def _is_unlike_rows(lines: Sequence[Line], number: int) -> bool:
    """Whether rows say some texts again and again, and none of a line's: values come back, names do not."""
    columns = _columns(lines[number + 1 :])
    comes_back = any(len(set(filter(None, column))) < filled(column) for column in columns)
    return _has_rows_below(lines, number) and comes_back and not _is_among(lines[number], columns)


def _are_units(lines: Sequence[Line], number: int) -> bool:
    """Whether a line below names says units: texts in brackets, or above numbers alone."""
    if not _has_rows_below(lines, number) or not _is_text(lines[number]):
        return False
    texts, columns = [text.strip() for text in lines[number].fields], _columns(lines[number + 1 :])
    if all(BRACKETED.fullmatch(text) for text in texts if text):
        return not _is_among(lines[number], columns)
    are_above_numbers = all(
        _are_numbers(column) for text, column in zip(texts, columns, strict=False) if text
    )
    return are_above_numbers and not all(texts) and not missing_words(filter(None, texts))


def _has_rows_below(lines: Sequence[Line], number: int) -> bool:
    return number + FEWEST_ROWS < len(lines)


def _columns(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    return list(zip_longest(*([text.strip() for text in line.fields] for line in lines), fillvalue=""))


def _is_among(line: Line, columns: Sequence[Sequence[str]]) -> bool:
    """Whether a column says what the line says there."""
    texts = (text.strip() for text in line.fields)
    return any(text and text in column for text, column in zip(texts, columns, strict=False))


def _are_numbers(column: Sequence[str]) -> bool:
    texts = list(filter(None, column))
    numbers = sum(bool(NUMBER.fullmatch(text)) for text in texts)
    return numbers >= max(1, MAINLY * len(texts))


def _is_below_merged(above: Sequence[str], below: Sequence[str]) -> bool:
    texts = [text.strip() for text in below if text.strip()]
    is_empty_below_name = any(a.strip() and not b.strip() for a, b in zip(above, below, strict=False))
    return is_empty_below_name or len(set(texts)) < len(texts)


def _sum_of_a_part(first: str) -> str:
    """The word with which sums of a block of rows begin, such as “Totaal” of “Totaal Gouda”; else empty.

    As a rule it leaves out such lines between the blocks, too.
    """
    match = SUMS.match(first)
    word = match.group() if match else ""
    return word if _begins(first, word) and word.casefold() not in SUMS_AND_VALUES else ""


def proposed_notes(last: Sequence[Line], width: int) -> tuple[int, tuple[str, ...]]:
    """The fewest values of a row, and the words with which notes begin, that would leave out the notes at a file's end.

    0 and none where there seem to be none, or where no such rule would keep the row above them. A line of few texts
    that stands below a note is one, too.
    """
    most, words, unknown = -1, set[str](), list[str]()
    for line in reversed(last):
        first = next((text.strip() for text in line.fields if text.strip()), "")
        if word := _word_of_note(line, first, width):
            words.update((word, *unknown))
            unknown.clear()
        elif width > 2 and filled(line.fields) <= 1:
            most = max(most, filled(line.fields) if line.fields else -1)
        elif _may_be_note(line, width):
            unknown.append(_beginning(first))
        else:
            break
    return most + 1, tuple(sorted(words))


def _word_of_note(line: Line, first: str, width: int) -> str:
    """The word with which a line begins that is a sum or a note; else empty. first: its first text."""
    known = next((word for word in NOTES if _begins(first.casefold(), word.casefold())), "")
    if width > 1 and SUMS.fullmatch(first):
        return first
    if width > 2 and filled(line.fields) < width and (part := _sum_of_a_part(first)):
        return part
    named = NAMED_NOTE.match(first) if _may_be_note(line, width) else None
    return known or (named[1] if named else "")


def _may_be_note(line: Line, width: int) -> bool:
    """Whether a line may be a text in which a delimiter stands: it has few fields, and then none."""
    texts = filled(line.fields)
    is_text = 1 < texts < width / 2 and not filled(line.fields[texts:])
    return is_text and not any(NUMBER.fullmatch(text.strip()) for text in line.fields[:texts])


def _beginning(text: str) -> str:
    """As much of a text as says which it is, in whole words."""
    begun = BEGINNING.match(text)
    return begun.group() if begun else text
