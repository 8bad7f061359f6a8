"""Files in every encoding: what is found, what is declared, and what a byte without meaning spoils."""

import pytest

from dpportal.tables.formats.encoding import WIDE
from dpportal.tables.meaning.parse_options import ENCODINGS
from tests.dpportal.tables.storing import Stored

# Each reads a file in a process of its own, as the portal does.
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("windows-1252", "windows-1252"),
    ],
)
def test_the_encoding_is_found(tmp_path, encoding, said):
    stored = Stored(tmp_path, "name,city\nJosé,Köln\nAnn,Århus\n".encode(encoding))
    assert stored.facts.options.encoding == said
    assert stored.rows == [("José", "Köln"), ("Ann", "Århus")]
    assert stored.facts.columns[0].name == "name"


def test_utf_16_with_the_high_byte_first_is_read(tmp_path):
    stored = Stored(tmp_path, b"\xfe\xff" + "a,b\né,1\n".encode("utf-16-be"))
    assert stored.rows == [("é", "1")]
    assert stored.facts.options.encoding == "utf-16-be"


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b""])
def test_once_the_order_of_bytes_is_declared_no_first_bytes_change_it(tmp_path, mark):
    rows = "1,2\n3,4\n".encode("utf-16-le")
    stored = Stored(tmp_path, mark + rows, encoding="utf-16-le", header=False)
    assert stored.facts.options.encoding == "utf-16-le"
    assert stored.rows[1] == ("3", "4")


@pytest.mark.parametrize("encoding", sorted(set(ENCODINGS) - {"utf-16", "utf-32", *WIDE}))
def test_a_file_of_ascii_alone_is_the_same_text_in_every_encoding(encoding):
    letters = bytes(range(128))
    assert letters.decode(encoding).encode() == letters


def test_a_named_encoding_is_used(tmp_path):
    stored = Stored(tmp_path, "a,b\nцена,1\n".encode("cp1251"), encoding="windows-1251")
    assert stored.rows == [("цена", "1")]


def test_a_byte_without_meaning_spoils_its_own_field_alone(tmp_path):
    stored = Stored(tmp_path, b"a,b\n\x81\xe9,1\n", encoding="windows-1252")
    assert (stored.rows, stored.oddities.replaced_bytes) == ([("\ufffd\u00e9", "1")], 1)


def test_a_late_byte_that_is_not_utf_8_changes_no_other_row(tmp_path):
    head = "name,n\n" + "Zürich,1\n" * 200_000
    stored = Stored(tmp_path, head.encode() + b"Jos\xe9,2\n" + b"Bob,3\n" * 100_000)
    assert stored.facts.options.encoding == "utf-8"
    assert stored.rows[0] == ("Zürich", "1")
    assert stored.rows[200_000] == ("Jos\ufffd", "2")
    assert (stored.facts.rows, stored.oddities.replaced_bytes) == (300_001, 1)


def test_half_a_character_at_the_end_is_replaced(tmp_path):
    stored = Stored(tmp_path, "a,b\n1,2\n3,4".encode("utf-16")[:-1])
    assert stored.rows == [("1", "2"), ("3", "\ufffd")]
