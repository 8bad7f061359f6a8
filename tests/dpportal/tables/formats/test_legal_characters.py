"""A character that XML does not have spoils its own text in a further workbook, not the workbook."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from dpportal.tables import UploadFault
from dpportal.tables.formats.legal_characters import LegalCharacters
from tests.dpportal.tables.storing import workbook
from tests.dpportal.tables.test_line_rows import read

ODD = {
    "control character": (b"a\x01b", "a\ufffdb"),
    "NUL": (b"a\0b", "a\ufffdb"),
    "reference to one": (b"a&#1;b", "a\ufffdb"),
    "reference in hexadecimals": (b"a&#x1F;b&#xD800;", "a\ufffdb\ufffd"),
    "no UTF-8": (b"M\xfcller", "M\ufffdller"),
    "no character": (b"a\xef\xbf\xbfb", "a\ufffdb"),
    "legal": ("ü&#252;&#x1F600;&amp;".encode(), "üü\U0001f600&"),
}
INLINE = b'<c r="B3" t="inlineStr"><is><t>%s</t></is></c>'


def with_text(folder: Path, text: bytes, *, inline: bool) -> bytes:
    """A workbook in which this stands for the second row's text, in the sheet or among the shared strings."""
    whole, file = workbook(folder, ["a", "b"], ["x", "5"], ["y", "here"], ["z", "6"]), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if inline and name.endswith("sheet1.xml"):
                before, _cell, after = content.partition(b'<c r="B3"')
                content = before + INLINE % text + after.partition(b"</c>")[2]
            new.writestr(name, content if inline else content.replace(b">here<", b">%s<" % text))
    return file.getvalue()


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "shared"])
@pytest.mark.parametrize(("written", "text"), ODD.values(), ids=ODD.keys())
def test_a_character_that_xml_does_not_have_spoils_its_own_text(tmp_path, written, text, inline):
    content = with_text(tmp_path, written, inline=inline)
    assert read(tmp_path, content, 2, "more.xlsx")[1] == [["x", "5"], ["y", text], ["z", "6"]]
    if "\ufffd" in text:  # its curator can correct an upload before anything is counted
        with pytest.raises(UploadFault):
            read(tmp_path, content, 0, "more.xlsx")


@pytest.mark.parametrize("size", range(1, 12))
def test_pieces_are_read_as_the_whole_is(size):
    """Letters of several bytes and references lie across pieces."""
    whole = (
        b"\xef\xbb\xbf<t>&#1;\xc3\xa9&#x1F600;\x02&amp;\xff& &#99999999;&#x10FFFF;\xf0\x9f\x98\x80&#0;</t>&#"
    )
    pieces = LegalCharacters(io.BytesIO(whole))
    read_pieces = b"".join(iter(lambda: pieces.read(size), b""))
    assert read_pieces.decode() == (
        "\ufeff<t>\ufffdé&#x1F600;\ufffd&amp;\ufffd& &#99999999;&#x10FFFF;\U0001f600\ufffd</t>&#"
    )


@pytest.mark.parametrize(
    "whole",
    [
        "<?xml version='1.0'?><t>é</t>".encode("utf-16"),
        b"<?xml version='1.0' encoding='ISO-8859-1'?><t>\xe9</t>",
    ],
)
def test_a_part_in_another_encoding_is_left_as_it_is(whole):
    assert LegalCharacters(io.BytesIO(whole)).read(1000) == whole
