"""Files as offices write them: titles, merged names in several lines, blank lines and notes around a table."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from dpportal.tables import first_rows, look
from dpportal.tables.facts import TableFacts
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats import Reading, merged_cells
from dpportal.tables.formats.frame import Line, is_note, proposed_notes
from dpportal.tables.formats.import_worker import convert_here
from dpportal.tables.formats.merged_cells import MergedColumn, merged_columns
from dpportal.tables.meaning.parse_options import Limits, ReadOptions

MESSY = """Ministry of Labour, Department of Statistics
Table 3: Persons by district, 2023

District;Persons;;Income;
;sex;age;gross;net
North;f;34;2100,50;1700
South;m;51;1900,25;

"East;
West";f;27;0,00;0
Total;;;4000,75;1700
Source: Ministry of Labour, own computation
* provisional
"""
NAMES = ["District", "Persons: sex", "Persons: age", "Income: gross", "Income: net"]
ROWS = [
    ["North", "f", "34", "2100,50", "1700"],
    ["South", "m", "51", "1900,25", None],
    ["East;\nWest", "f", "27", "0,00", "0"],
]
DECIMALS = "Ministry of Labour, Statistics\nTable 4\n\nDistrict;age;income\n" + "North;34;2100,50\n" * 9
RULE: dict[str, Any] = {"fewest_filled": 2, "note_words": ("Total", "Source")}


def read(
    folder: Path, content: bytes, name: str, columns: int = 0, **options: Any
) -> tuple[TableFacts, list[Any]]:
    source, target = folder / "upload", folder / "table.parquet"
    source.write_bytes(content)
    reading = Reading(
        source,
        target,
        name,
        ReadOptions(**options),
        Limits(),
        lambda share: None,
        None,
        columns,
        "csv" * bool(columns),
    )
    facts = convert_here(reading)
    return facts, [list(row) for row in first_rows(target, 100)]


def sheet(folder: Path, *merged: str) -> bytes:
    """The same table in the second sheet of a workbook, with cells that are merged. merged: further ranges."""
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["What this workbook holds"])
    page = book.create_sheet("Table 3")
    for row in [
        ["Ministry of Labour"],
        ["Table 3: Persons by district, 2023"],
        [],
        ["District", "Persons", None, "Income", None],
        [None, "sex", "age\n(years)", "gross", "net"],
        ["North", "f", 34, 2100.5, 1700],
        ["South", "m", 51, 1900.25, None],
        [],
        ["East", "f", 27, 0, 0],
        ["Total", None, None, 4000.75, 1700],
        ["Source: Ministry of Labour"],
    ]:
        page.append(row)
    for area in ("A4:A5", "B4:C4", "D4:E4", "A1:E1", *merged):
        page.merge_cells(area)
    book.save(folder / "made.xlsx")
    return (folder / "made.xlsx").read_bytes()


def test_titles_and_joined_names_are_proposed_and_notes_left_out_as_declared(tmp_path):
    facts, rows = read(tmp_path, MESSY.encode("windows-1252"), "Table 3.csv", **RULE)
    assert (facts.options.title_lines, facts.options.header_lines, facts.options.delimiter) == (3, 2, ";")
    assert [column.name for column in facts.columns] == NAMES
    assert rows == ROWS
    assert (facts.oddities.note_lines, facts.oddities.blank_rows) == (3, 1)


def test_without_a_rule_no_line_below_the_names_is_left_out(tmp_path):
    with pytest.raises(UploadFault, match="Row 11 has 1 field"):
        read(tmp_path, MESSY.encode(), "Table 3.csv")


@pytest.mark.slow
def test_a_sheet_is_read_alike(tmp_path):
    facts, rows = read(tmp_path, sheet(tmp_path), "t.xlsx", sheet="Table 3", **RULE)
    assert (facts.options.title_lines, facts.options.header_lines) == (3, 2)
    assert [column.name for column in facts.columns] == [*NAMES[:2], "Persons: age (years)", *NAMES[3:]]
    assert [row[0] for row in rows] == ["North", "South", "East"]
    assert facts.oddities.note_lines == 2
    facts, rows = read(tmp_path, sheet(tmp_path), "t.xlsx", sheet="Table 3", note_words=("Total",))
    assert (facts.rows, facts.oddities.notes_at_end) == (4, 1)


def test_merged_titles_and_names_lose_no_value_and_are_not_spoken_of(tmp_path):
    """Names are joined, so that each column has those above it; below them a value stands in one cell alone."""
    whole = read(tmp_path, sheet(tmp_path), "t.xlsx", sheet="Table 3", **RULE)[0]
    assert whole.oddities.merged_ranges == 0
    more = read(tmp_path, sheet(tmp_path, "A6:A7", "D9:E9"), "t.xlsx", sheet="Table 3", **RULE)[0]
    assert more.oddities.merged_ranges == 2


def test_merged_cells_are_filled_down_where_that_is_declared(tmp_path):
    """Offices merge a district over its rows: all rows but the first had none. Names and blank rows stay."""
    merged, options = ("A6:A9", "D6:E7"), {"sheet": "Table 3", **RULE}
    plain = read(tmp_path, sheet(tmp_path, *merged), "t.xlsx", **options)[1]
    assert [(row[0], row[3]) for row in plain] == [("North", "2100.5"), (None, None), (None, "0")]
    facts, rows = read(tmp_path, sheet(tmp_path, *merged), "t.xlsx", **options, fill_merged=True)
    assert [(row[0], row[3]) for row in rows] == [("North", "2100.5"), ("North", "2100.5"), ("North", "0")]
    assert [column.name for column in facts.columns][:2] == NAMES[:2]
    assert (facts.oddities.merged_ranges, facts.options.fill_merged) == (0, True)


def test_ranges_are_read_across_pieces_and_more_than_there_may_be_are_refused(monkeypatch):
    markup = b"".join(b'<mergeCell ref="AB%d:AC%d"/>' % (3 * n, 3 * n + 1) for n in range(1, 60))
    expected = [MergedColumn(28, 3 * n, 3 * n + 1) for n in range(1, 60)]
    for piece in (300, 301, 977):
        monkeypatch.setattr(merged_cells, "PIECE_BYTES", piece)
        assert merged_columns(io.BytesIO(b"<x/>" + markup + b'<mergeCell ref="A1:C1"/>')) == expected
    monkeypatch.setattr(merged_cells, "MOST_RANGES", 50)
    with pytest.raises(UploadFault, match="merged ranges"):
        merged_columns(io.BytesIO(markup))


@pytest.mark.slow
def test_a_further_file_is_cut_by_the_stored_rule_and_a_line_by_its_own_text(tmp_path):
    settled = read(tmp_path, MESSY.encode(), "Table 3.csv", **RULE)[0].options
    lines = MESSY.replace('"East;\nWest"', "East").splitlines()
    stored = {**settled.__dict__}
    everything = read(tmp_path, "\n".join(lines).encode(), "May.csv", 5, **stored)
    assert [row[0] for row in everything[1]] == ["North", "South", "East"]
    assert [column.name for column in everything[0].columns] == NAMES
    for place in range(5, len(lines)):  # whatever one line says, the others are read as before
        spoiled = [*lines[:place], 'x;"', *lines[place + 1 :]]
        rows = read(tmp_path, "\n".join(spoiled).encode(), "May.csv", 5, **stored)[1]
        assert rows == [row for row in everything[1] if row[0] != lines[place].partition(";")[0]]


@pytest.mark.parametrize(
    "content",
    [
        b"a,b,c\n1,2,3\n",
        b"name\nfoo\nbar\n",
        b"a;b\n1,5;2\n",
        b"sep=;\na;b;c\nx;y;z\n",
        b"\n\na,b,c\nx,,z\n",
        b"id,a,a b\nx,x,y\n",
    ],
)
def test_nothing_is_proposed_above_a_plain_table(tmp_path, content):
    facts, _rows = read(tmp_path, content, "plain.csv")
    assert (facts.options.title_lines, facts.options.header_lines) == (0, 1)


def test_names_below_merged_ones_are_proposed_where_they_fill_the_gaps_above_a_row(tmp_path):
    """A table of texts alone, whose last column has no name, keeps its rows."""
    merged = b"Patient;;Stay;\nsex;age group;ward;nights\nf;0-17;surgery;2\nm;65+;internal;0\n"
    facts, rows = read(tmp_path, merged, "stays.csv")
    assert [column.name for column in facts.columns] == [
        "Patient: sex",
        "Patient: age group",
        "Stay: ward",
        "Stay: nights",
    ]
    assert rows[0] == ["f", "0-17", "surgery", "2"]
    with pytest.raises(UploadFault, match="name"):
        read(tmp_path, b"kind;\na;x\nb;y\n", "texts.csv")


PUPILS = [f"E{n:03};{'FM'[n % 2]};{6 + n % 3};CP;{'oui' if n % 5 else 'non'};{110 + n}\n" for n in range(30)]
GROUPS, INNER = "Pupil;;;;Health;\n", "number;sex;age;class;glasses;height\n"
PUPIL_NAMES = ["number", "sex", "age", "class", "glasses", "height"]
OF_GROUPS = [
    *[f"Pupil: {name}" for name in PUPIL_NAMES[:4]],
    *[f"Health: {name}" for name in PUPIL_NAMES[4:]],
]


@pytest.mark.parametrize("units", [";;(years);;;(cm)\n", ";;years;;;cm\n"])
@pytest.mark.parametrize("title", ["", "Table 3\nAll schools\n\n"])
def test_units_below_names_are_joined_to_them(tmp_path, units, title):
    for groups, named in [(GROUPS, OF_GROUPS), ("", PUPIL_NAMES)]:
        content = title + groups + INNER + units + "".join(PUPILS)
        facts, rows = read(tmp_path, content.encode(), "pupils.csv")
        assert facts.options.header_lines == 2 + bool(groups)
        says = units.strip().split(";")
        assert [c.name for c in facts.columns] == [
            f"{a}: {b}" if b else a for a, b in zip(named, says, strict=True)
        ]
        assert len(rows) == 30 and rows[0][0] == "E000"


def test_groups_of_names_are_joined_above_rows_of_texts_alone(tmp_path):
    """Texts of rows come back in their columns, and names do not."""
    rows = [row.rpartition(";")[0].replace(";6;", ";young;").replace(";7;", ";old;") for row in PUPILS[:2]]
    texts = "\n".join([*rows * 5, ""])
    for level in ("", "Who;;School;;\n"):
        content = f"Pupil;;;;Health\n{level}number;sex;age;class;glasses\n{texts}"
        assert read(tmp_path, content.encode(), "pupils.csv")[0].options.header_lines == 2 + bool(level)


def test_a_first_row_of_missing_words_is_no_line_of_units(tmp_path):
    for row in ("NA;NA;NA", ";NA;k.A.", "12;;"):
        content = f"age;height;weight\n{row}\n" + "12;140;40\n" * 9
        facts, rows = read(tmp_path, content.encode(), "t.csv", delimiter=";")
        assert (facts.options.header_lines, len(rows)) == (1, 10)


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (
            "Persons;;;Household\nWho;;Where;\nage;sex;region;size\n",
            ["Persons: Who: age", "Persons: Who: sex", "Persons: Where: region", "Household: size"],
        ),
        (
            "id;Persons;;\n;Who;;Where\n;age;sex;region\n",
            ["id", "Persons: Who: age", "Persons: Who: sex", "Persons: Where: region"],
        ),
    ],
)
def test_a_third_line_of_names_is_joined_as_two_are(tmp_path, lines, names):
    """Two lines gave each column some name, so the third was read as a row; and a group reached into the next one."""
    rows = "".join(f"{20 + n};{'fm'[n % 2]};north;{n % 4}\n" for n in range(9))
    facts, read_rows = read(tmp_path, f"Table 1\n\n{lines}{rows}".encode(), "t.csv")
    assert [column.name for column in facts.columns] == names
    assert facts.options.header_lines == 3 and len(read_rows) == 9


def test_a_first_row_of_texts_below_two_lines_of_names_stays_a_row(tmp_path):
    content = "Persons;;Household\nage;sex;\n" + "20-29;f;small\n30-39;m;large\n" * 9
    facts, read_rows = read(tmp_path, content.encode(), "t.csv")
    assert [column.name for column in facts.columns] == ["Persons: age", "Persons: sex", "Household"]
    assert len(read_rows) == 18


def test_a_row_is_never_proposed_as_names(tmp_path):
    with pytest.raises(UploadFault) as refused:
        read(tmp_path, b"id,name,,\n17,Anna,x,y\n18,Ben,x,z\n", "t.csv")
    assert refused.value.code == "blank-name"
    with pytest.raises(UploadFault) as refused:
        read(tmp_path, b"name,town,,\nAnna,Bern,x,y\nBen,Bern,x,z\n", "t.csv", quote="'")
    assert refused.value.code == "blank-name"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_the_curator_sees_the_lines_and_what_is_proposed(tmp_path, name):
    source, scratch = tmp_path / "upload", tmp_path / "scratch"
    scratch.mkdir()
    source.write_bytes(sheet(tmp_path) if name == "t.xlsx" else MESSY.encode())
    options = ReadOptions(sheet="Table 3" if name == "t.xlsx" else None)
    seen = look(source, name, options, Limits(), scratch)
    assert (seen.title_lines, seen.header_lines, seen.names[1]) == (3, 2, "Persons: sex")
    assert seen.first[0].fields[0].startswith("Ministry of Labour")
    assert [line.number for line in seen.first[:4]] == [1, 2, 4, 5]
    assert (seen.fewest_filled, seen.note_words) == (2 * (name == "t.csv"), ("Source", "Total"))
    assert [s.name for s in seen.sheets] == ["Read me", "Table 3"] * (name == "t.xlsx")


def test_a_name_of_two_lines_is_one(tmp_path):
    content = b'Table 3\n\nid,"number of\npersons",town\n1,2,Bern\n2,3,Bern\n'
    for cut in (content, content.partition(b"\n\n")[2]):
        facts, rows = read(tmp_path, cut, "t.csv")
        assert [column.name for column in facts.columns] == ["id", "number of persons", "town"]
        assert len(rows) == 2


def test_decimal_commas_in_every_row_are_no_delimiters_whatever_the_title_says(tmp_path: Path) -> None:
    facts, rows = read(tmp_path, DECIMALS.encode(), "table.csv")
    assert [column.name for column in facts.columns] == ["District", "age", "income"]
    assert rows[0] == ["North", "34", "2100,50"] and facts.rows == 9


PADDED = "Office;;\n;;\ntown;sex;income\n{}Insgesamt;;99,00\n;;\nQuelle: own computation;;\n"


def test_sums_and_notes_that_a_spreadsheet_has_filled_up_are_proposed_to_be_left_out(tmp_path):
    """A sheet that was saved as CSV has as many delimiters in its titles and notes as in its rows."""
    content = PADDED.format("Talheim;w;10,50\nSeeburg;m;9,25\n" * 30).encode()
    seen = read(tmp_path, content, "t.csv")[0]
    assert (seen.rows, seen.oddities.notes_at_end) == (63, 3)
    rule = {"fewest_filled": seen.oddities.fewest_filled, "note_words": seen.oddities.note_words}
    assert rule == {"fewest_filled": 1, "note_words": ("Insgesamt", "Quelle")}
    assert read(tmp_path, content, "t.csv", **rule)[0].rows == 60


@pytest.mark.parametrize(
    ("total", "source"), [("Σύνολο", "Πηγή"), ("GENEL TOPLAM", "Kaynak"), ("合计", "资料来源")]
)
def test_sums_and_notes_of_other_languages_are_proposed_to_be_left_out_below_blank_lines(
    tmp_path, total, source
):
    """Also where a line without values stands among the last rows: it says nothing, so a rule may leave it out."""
    rows = "Αθήνα;2;10\n;;\nΒόλος;3;9\n" * 9
    content = f"town;people;age\n{rows};;\n{total};;45\n{source}: own computation;;\n"
    oddities = read(tmp_path, content.encode(), "t.csv", delimiter=";")[0].oddities
    assert (oddities.notes_at_end, oddities.fewest_filled) == (3, 1)
    assert oddities.note_words == tuple(sorted((total, source)))


@pytest.mark.parametrize(
    ("named", "is_sum"), [("Totaal", True), ("Total", True), ("Subset", False), ("All", False)]
)
def test_sums_of_blocks_of_rows_are_proposed_to_be_left_out(named, is_sum):
    """By the word with which they begin, between the blocks, too; a row that has all its values is none of them."""
    fields = [
        [[town, "m", "12", "30"], [f"{named} {town}", "", "", "58"]] for town in ("Gouda", "Total Delft")
    ]
    lines = [Line(place, place + 1, each) for place, each in enumerate([*fields[0], *fields[1]])]
    fewest, words = proposed_notes(lines, 4)
    assert words == ((named,) if is_sum else ()) and fewest == 0
    rule = ReadOptions(note_words=words)
    assert is_note(fields[0][1], rule) == is_sum and not is_note(fields[0][0], rule)


def test_a_word_that_only_begins_like_a_note_is_none(tmp_path):
    content = "topic;people;age\n" + "Maths;2;10\n" * 9 + "Noted;;\n"
    assert read(tmp_path, content.encode(), "t.csv", delimiter=";")[0].oddities.note_words == ()


# A note with delimiters in it, between a blank line, a sum and another note that has a name for itself.
FRENCH = (
    "{}{};;;;;;\nTotal;;;;;46;\nChamp : France.;;;;;;\n{};;;;;\nNSP = ne sait pas; ND = non déclaré;;;;;\n"
)


@pytest.mark.parametrize("note", ["Lecture : 3 h; 4 j", "Voir le guide; page 3"])
def test_a_note_with_a_delimiter_in_it_does_not_end_the_proposal(tmp_path, note):
    names = "dossier;sexe;âge;diplôme;heures;salaire;date\n"
    rows = "".join(f"E{n};f;{20 + n};Licence;35;{n};2024\n" for n in range(20))
    content = FRENCH.format(names + rows, "", note).encode()
    known = "Lecture" if note.startswith("Lecture") else note.partition(";")[0]
    oddities = read(tmp_path, content, "t.csv")[0].oddities
    assert (oddities.notes_at_end, oddities.fewest_filled) == (5, 1)
    assert oddities.note_words == tuple(sorted(("Champ", "NSP = ne sait pas", "Total", known)))
    rule = {"fewest_filled": oddities.fewest_filled, "note_words": oddities.note_words}
    for further in (0, 7):
        facts, _rows = read(
            tmp_path, content, "t.csv", further, delimiter=";", title_lines=0, header_lines=1, **rule
        )
        assert (facts.rows, facts.oddities.note_lines, facts.oddities.blank_rows) == (20, 4, 1)


@pytest.mark.parametrize("end", ["Source: own;;\n", "Source: own;;\n;;\n;;\n"])
def test_a_line_of_delimiters_alone_is_blank_where_notes_are_left_out(tmp_path, end):
    content = f"a;b;c\n1;2;3\n;;\n1;2;4\n;;\n{end}".encode()
    for further in (0, 3):
        facts, rows = read(
            tmp_path,
            content,
            "t.csv",
            further,
            delimiter=";",
            title_lines=0,
            header_lines=1,
            note_words=("Source",),
        )
        assert [row[2] for row in rows] == ["3", "4"]
        assert (facts.oddities.note_lines, facts.oddities.notes_at_end) == (1, 0)
        assert facts.oddities.blank_rows == 2 + end.count("\n;;")


def test_the_lines_show_what_is_proposed_beside_what_is_declared(tmp_path):
    """Further notes are among the lines that are shown, and the rule for them has the declared one in it."""
    source, scratch = tmp_path / "upload", tmp_path / "scratch"
    scratch.mkdir()
    rows = "".join(f"{n};{n};{n}\n" for n in range(40))
    for end, options, rule in (
        ("Total;;9\n" + "Source: own;;\n" * 9, {"note_words": ("Source",)}, (0, ("Source", "Total"))),
        (";;\n", {}, (1, ())),
        ("Source: own;;\n", {"note_words": ("Source",)}, (0, ())),
    ):
        source.write_text(f"a;b;c\n{rows}{end}")
        seen = look(source, "t.csv", ReadOptions(**options), Limits(), scratch)
        assert (seen.fewest_filled, seen.note_words) == rule
        if any(rule):
            assert seen.last[1].number <= 41 < seen.last[2].number or len(seen.last) == 6
            assert 42 in [line.number for line in seen.last]
