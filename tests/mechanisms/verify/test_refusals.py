"""Whatever a file holds that is to be verified: the answer is a sentence, and no error of the program."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from mechanisms.verify.__main__ import main
from mechanisms.verify.json_values import has_endless_number

EARLIER = Path(__file__).parents[2] / "data/histogram_1.0.zip"


def fault_of(path: Path, capsys) -> str:
    assert main([str(path), "--json"]) == 1
    return json.loads(capsys.readouterr().out)["fault"]


@pytest.mark.parametrize(
    "release",
    [
        "[" * 100_000,
        '{"plan": {}, "files": {"a": 1}, "product": []}',
        '{"plan": {}, "files": {}, "product": {"a": 1}}',
    ],
    ids=["very deep", "a file that is a number", "a product that is no text"],
)
def test_what_no_portal_writes_is_refused_in_words(tmp_path, capsys, release):
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        for name, content in (("release.json", release), ("a", "")):
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    assert "no portal writes it so" in fault_of(tmp_path / "release.zip", capsys)


@pytest.mark.parametrize("amount", ["1e99999999", "1e-99999999", " 2.5E+1000000000"])
def test_a_number_that_no_program_ends_with_is_refused_at_once(tmp_path, capsys, amount):
    with zipfile.ZipFile(EARLIER) as before, zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        for info in before.infolist():
            content = before.read(info)
            if info.filename.endswith("release.json"):
                facts = json.loads(content)
                facts["plan"]["loss"]["amount"] = amount
                content = json.dumps(facts).encode()
            archive.writestr(info, content)
    assert "longer than any of a portal" in fault_of(tmp_path / "release.zip", capsys)


@pytest.mark.parametrize(
    "sign", ["\n", "\0", "\x1b[2K", "\u202e", "\ud800"], ids=["line", "NUL", "terminal", "turning", "half"]
)
def test_a_name_that_somebody_chose_writes_no_line_and_no_colour_of_the_report(tmp_path, capsys, sign):
    """A key such as “x⏎ holds  signature” would be read as a check that holds; half a character no page can say."""
    with zipfile.ZipFile(EARLIER) as before, zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        for info in before.infolist():
            content = before.read(info)
            if info.filename.endswith("release.json"):
                content = json.dumps({f"x{sign}holds": 1, **json.loads(content)}).encode()
            archive.writestr(info, content)
    assert main([str(tmp_path / "release.zip"), "--json"]) == 1
    told = " ".join(each["details"] for each in json.loads(capsys.readouterr().out)["findings"])
    assert "x?" in told and told.isprintable()
    main([str(tmp_path / "release.zip")])
    lines = capsys.readouterr().out.splitlines()
    assert not any(line.startswith("holds") for line in lines)


def test_a_value_of_a_column_may_look_so():
    assert not has_endless_number({"domain": [{"values": ["1e99999999"]}]})


def test_a_download_that_a_disk_has_damaged_is_to_be_downloaded_again(tmp_path, capsys):
    content = bytearray(EARLIER.read_bytes())
    for checksum in (content.find(b"PK\3\4") + 14, content.find(b"PK\1\2") + 16):
        content[checksum] ^= 1
    (tmp_path / "release.zip").write_bytes(content)
    assert "damaged: download it again" in fault_of(tmp_path / "release.zip", capsys)
