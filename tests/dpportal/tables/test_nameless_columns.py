"""A text file whose lines end or begin with a delimiter has columns without a name: empty ones are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpportal.tables import look
from dpportal.tables.faults import UploadFault
from dpportal.tables.meaning.parse_options import Limits, ReadOptions
from tests.dpportal.tables.test_frame import read

ROWS = 45
NAMES = ["Sex", "Age", "Region"]
# Where the values stand in a line.
PLACES = {
    "at the end": "{};{};{};",
    "two at the end": "{};{};{};;",
    "at the beginning": ";{};{};{}",
    "between": "{};{};;{}",
    "quoted": '{};{};"";{}',
    "of spaces": "{};{};  ;{}",
    "all around": ";;{};{};;{};",
}
every_place = pytest.mark.parametrize("line", PLACES.values(), ids=PLACES)
TITLES = "Health Survey 2023{}\nMinistry of Health{}\n;;\n"


def lines(line: str, *names: str, further: str = "") -> str:
    rows = "".join(f"{line.format('fm'[n % 2], 20 + n, 'North')}\n" for n in range(ROWS))
    return f"{line.format(*names or NAMES)}\n{rows}{further}"


@every_place
@pytest.mark.parametrize("titles", ["", TITLES.format("", ""), TITLES.format(";;;", ";;;")])
def test_empty_columns_without_a_name_are_left_out(tmp_path: Path, line: str, titles: str) -> None:
    facts, rows = read(tmp_path, (titles + lines(line)).encode(), "t.csv", delimiter=";")
    assert [column.name for column in facts.columns] == NAMES
    assert [column.kind for column in facts.columns] == ["text", "integer", "text"]
    assert facts.rows == ROWS and rows[0] == ["f", "20", "North"]
    assert facts.oddities.blank_rows == 0


@every_place
def test_a_further_file_is_read_by_the_same_rule(tmp_path: Path, line: str) -> None:
    """By its names alone: a row with more in it is left out, and decides on no other."""
    more = line.replace("{};{}", "{};{}", 1).format("m", 70, "South")
    spoiled = line.replace(';"";', ";7;").replace(";  ;", ";7;").replace(";;", ";7;")
    spoiled = spoiled if spoiled != line else f"7{line}" if line.startswith(";") else f"{line}7"
    content = lines(line, further=f"{spoiled.format('m', 71, 'South')}\n{more}\n").encode()
    facts, rows = read(tmp_path, content, "t.csv", 3, delimiter=";", title_lines=0, header_lines=1)
    assert [column.name for column in facts.columns] == NAMES
    assert (facts.rows, facts.oddities.spoiled_rows) == (ROWS + 1, 1)
    assert rows[-1] == ["m", "70", "South"]


@pytest.mark.parametrize(
    ("content", "column"),
    [
        ("Sex;Age;;Region\n" + "f;20;;North\n" * 50_000 + "m;20;7;North\n", 3),
        (";Sex;Age\n1;f;20\n2;m;30\n", 1),
        ("Sex;Age;\nf;20;x\n", 3),
    ],
    ids=["far below", "numbers of rows", "last"],
)
def test_a_column_of_values_without_a_name_is_refused_by_its_number(
    tmp_path: Path, content: str, column: int
) -> None:
    with pytest.raises(UploadFault) as refused:
        read(tmp_path, content.encode(), "t.csv")
    assert (refused.value.code, refused.value.column) == ("blank-name", column)
    assert str(refused.value).startswith(f"Column {column} has values and no name.")


@pytest.mark.parametrize("options", [{}, {"title_lines": 0, "header_lines": 2}], ids=["proposed", "declared"])
def test_an_empty_column_is_not_named_by_a_group_above_others(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    content = "Person;;Household;;\n" + lines("{};{};{};x;").replace(";x", ";Persons", 1).replace(";x", ";2")
    facts, _rows = read(tmp_path, content.encode(), "t.csv", **options)
    names = ["Person: Sex", "Person: Age", "Household: Region", "Household: Persons"]
    assert [column.name for column in facts.columns] == names
    again, _rows = read(tmp_path, content.encode(), "t.csv", 4, delimiter=";", title_lines=0, header_lines=2)
    assert [column.name for column in again.columns] == names


@pytest.mark.parametrize("ends", [(";", "", ""), (";", ";", ""), (";", "", ";"), (";;", ";", ";")])
def test_a_header_may_end_with_a_delimiter_where_rows_do_not(tmp_path: Path, ends: tuple[str, ...]) -> None:
    content = "Sex;Age{}\nf;20{}\nm;30{}\n".format(*ends).encode()
    for further in (0, 2):
        declared = {"title_lines": 0, "header_lines": 1} if further else {}
        facts, rows = read(tmp_path, content, "t.csv", further, delimiter=";", **declared)
        assert ([column.name for column in facts.columns], rows) == (
            ["Sex", "Age"],
            [["f", "20"], ["m", "30"]],
        )
        assert facts.oddities.spoiled_rows == 0


@pytest.mark.parametrize("end", ["", ";"])
def test_a_table_of_one_column_may_end_each_line_with_a_delimiter(tmp_path: Path, end: str) -> None:
    content = f"Age;\n20{end}\n30{end}\n".encode()
    for further in (0, 1):
        declared = {"title_lines": 0, "header_lines": 1} if further else {}
        facts, rows = read(tmp_path, content, "t.csv", further, delimiter=";", **declared)
        assert ([column.name for column in facts.columns], rows) == (["Age"], [["20"], ["30"]])


def test_names_below_lines_of_delimiters_alone_are_names(tmp_path: Path) -> None:
    content = (";;;\n\n;;;\n" + lines("{};{};{};")).encode()
    for further in (0, 3):
        facts, _rows = read(tmp_path, content, "t.csv", further, delimiter=";")
        assert ([column.name for column in facts.columns], facts.rows) == (NAMES, ROWS)


def test_the_lines_are_shown_without_empty_columns(tmp_path: Path) -> None:
    source, scratch = tmp_path / "upload", tmp_path / "scratch"
    scratch.mkdir()
    source.write_text(TITLES.format(";;;", ";;;") + lines(PLACES["all around"]))
    seen = look(source, "t.csv", ReadOptions(), Limits(), scratch)
    assert (seen.names, seen.title_lines) == (tuple(NAMES), 3)
    assert seen.first[-1].fields == ("m", "31", "North")
