"""Rows that one expression reads are those that openpyxl reads, and are few steps for the parser of XML."""

from __future__ import annotations

import io
import random

import pytest
from openpyxl.utils.datetime import WINDOWS_EPOCH
from openpyxl.worksheet._reader import WorkSheetParser

from dpportal.tables.formats import sheet_parser
from dpportal.tables.formats.cell_texts import text_of
from dpportal.tables.formats.sheet_parser import MostCells, SheetParser

SHEET = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<{p}worksheet{d} '
    'xmlns{c}="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><{p}sheetData>{rows}</{p}sheetData>'
    "</{p}worksheet>"
)
STRINGS = ["north", "a < b", ""]
DATES, DURATIONS = {0: {2, 3}, 1: {0, 2, 3}}, {3}
NUMBERS = (
    "0",
    "1",
    "007",
    "-3",
    "12345678901234567890",
    "1.50",
    "1e3",
    "-0.0",
    "0.1",
    "2958466",
    "61.5",
    "٣",
    "1_0",
)
TEXTS = ("x", " a ", "a &amp; b", "&amp;lt;", "a\nb", "Zürich", "]", "&apos;", "x_x005F_y", "tab\there")
FORMULAS = (
    "",
    "",
    "<f>A1&amp;B1</f>",
    '<f t="shared" ref="A1:A2" si="0">1&lt;2</f>',
    '<f t="shared" si="0"/>',
)
# Cells of which an element has to be made.
ODD = (
    *("", "", ""),
    *('<c t="str"><v>1<x/>2</v></c>', "<c><v>&#49;</v></c>", '<c t="str" x="1"><v>a</v></c>'),
)


def parser_of(markup: str, dates: set[int] = DATES[0]) -> SheetParser:
    return SheetParser(
        io.BytesIO(markup.encode()),
        STRINGS,
        data_only=True,
        epoch=WINDOWS_EPOCH,
        date_formats=dates,
        timedelta_formats=DURATIONS,
        most=MostCells(10**6, 10**6),
    )


def by_library(markup: str, dates: set[int]) -> tuple[list[tuple[int, dict[int, str]]], int]:
    """Rows and errors as the library reads them, rows without cells among them."""
    known = WorkSheetParser(io.BytesIO(markup.encode()), STRINGS, True, WINDOWS_EPOCH, dates, DURATIONS)
    rows, errors = [], 0
    for number, cells in known.parse():
        errors += sum(cell["data_type"] == "e" for cell in cells)
        texts = {c["column"]: text_of(c["value"]) for c in cells if c["data_type"] != "e"}
        rows.append((number, {place: text for place, text in texts.items() if text}))
    return rows, errors


def cell(draw: random.Random, place: str) -> str:
    kind = draw.choice(("", "n", "s", "b", "str", "inlineStr", "e"))
    style = draw.choice(("", ' s="0"', ' s="1"', ' s="2"', ' s="3"'))
    said = f' t="{kind}"' if kind else ""
    attributes = draw.choice((place + style + said, place + said + style))
    formula = draw.choice(FORMULAS)
    if draw.random() < 0.15 and kind != "e":
        return (
            f"<c{attributes}{draw.choice(('/>', '></c>', f'>{formula}<v/></c>', f'>{formula}<v></v></c>'))}"
        )
    if kind == "inlineStr":
        return f'<c{attributes}><is><t xml:space="preserve">{draw.choice(TEXTS)}</t></is></c>'
    value = {"s": str(draw.randrange(3)), "b": draw.choice("01"), "str": draw.choice(TEXTS), "e": "#N/A"}.get(
        kind, draw.choice(NUMBERS)
    )
    return f"<c{attributes}>{formula}<v>{value}</v></c>"


def row(draw: random.Random, number: int, *, has_places: bool) -> str:
    cells = "".join(
        cell(draw, f' r="{letter}{number}"' if has_places else "")
        for letter in ("A", "B", "Z", "AA", "AZ", "ABC")
    )
    odd = draw.choice(ODD)
    attributes = f' r="{number}" spans="1:6" ht="15" customHeight="1"' if has_places else ""
    return f"<row{attributes}>{cells}{odd}</row>{draw.choice(('', chr(10), '<row/>'))}"


@pytest.mark.filterwarnings("ignore:Cell .* is marked as a date")
@pytest.mark.parametrize("seed", range(4))
def test_rows_are_those_that_the_library_reads(monkeypatch, seed):
    monkeypatch.setattr(sheet_parser, "PIECE_BYTES", 700)
    draw, dates = random.Random(seed), DATES[seed % 2]
    rows = "".join(row(draw, number, has_places=seed < 3) for number in range(1, 150))
    markup = SHEET.format(p="", d="", c="", rows=rows)
    parser = parser_of(markup, dates)
    assert (list(parser.parse()), parser.errors) == by_library(markup, dates)
    assert 0 < parser._elements < 600 < 149 * 6


@pytest.mark.parametrize(
    "cells",
    [
        '<c r="A1" s="1" t="s"><v>0</v></c><c r="B1" s="1"/>',
        '<c r="A1" t="s" s="1"><v>0</v></c>',
        "<c><v>1</v></c><c/>",
        '<c r="A1"><f>1+1</f><v>2</v></c>',
        '<c r="A1" t="inlineStr"><is><t>a &lt; b</t></is></c>',
    ],
    ids=["Excel", "style last", "no addresses", "formula", "own text"],
)
@pytest.mark.parametrize("prefix", ["", "x:"])
def test_of_what_programs_write_no_element_is_made(cells, prefix):
    rows = f'<row r="1">{cells}</row>'
    if prefix:
        rows = rows.replace("<", "<x:").replace("<x:/", "</x:")
    markup = SHEET.format(p=prefix, d="", c=f":{prefix[:-1]}" if prefix else "", rows=rows * 3)
    parser = parser_of(markup)
    assert len(list(parser.parse())) == 3 and parser._elements == 0


@pytest.mark.parametrize(
    ("markup", "rows"),
    [
        ('<!-- <row r="9"><c><v>9</v></c></row> --><row r="2"><c><v>1</v></c></row>', [(2, {1: "1"})]),
        ('<row r="2"><c t="str"><v><![CDATA[<row><c><v>9</v></c></row>]]></v></c></row>', None),
        ('<?other <row r="9"><c><v>9</v></c></row> ?><row r="2"><c><v>1</v></c></row>', [(2, {1: "1"})]),
        (
            '<y xmlns="other"><row r="9"><c><v>9</v></c></row></y><row r="2"><c><v>1</v></c></row>',
            [(2, {1: "1"})],
        ),
    ],
    ids=["comment", "text", "instruction", "other names"],
)
def test_what_only_looks_like_a_row_is_none(markup, rows):
    parser = parser_of(SHEET.format(p="", d="", c="", rows=markup))
    expected = rows or [(2, {1: "<row><c><v>9</v></c></row>"})]
    assert list(parser.parse()) == expected


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="1" r="2"><c><v>1</v></c></row>',
        '<row r="1"><c s="1" s="1"><v>1</v></c></row>',
        '<row r="1"><c><v>1\x01</v></c></row>',
        '<row r="1"><c><v>&other;</v></c></row>',
        '<row r="1"><c t="s"><v>9</v></c></row>',
        '<row r="1"><c r="ZZZZ1"><v>1</v></c></row>',
        '<row y:r="1"><c><v>1</v></c></row>',
    ],
)
def test_a_row_that_is_damaged_is_refused_as_before(rows):
    with pytest.raises((ValueError, IndexError, sheet_parser.expat.ExpatError)):
        list(parser_of(SHEET.format(p="", d="", c="", rows=rows)).parse())
