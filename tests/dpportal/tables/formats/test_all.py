"""What holds of a file of every format that is registered."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dpportal.tables import UploadFault
from dpportal.tables.formats import FORMATS, TEXT, Format
from dpportal.tables.formats.typed_columns import TypedColumns
from tests.dpportal.tables.formats.small_files import file_of
from tests.dpportal.tables.formats.test_feather import read

TABLE = pa.table({"town": ["Aa", "Bb", "Cc"], "age": [31, 7, 44], "share": [0.5, 1.25, 0.75]})
every_format = pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)


@every_format
def test_the_same_table_is_the_same_dataset(known: Format, tmp_path: Path) -> None:
    plain, rows = read(tmp_path, file_of(TEXT, TABLE), "t.csv")
    for name in (f"t{known.endings[0]}", "t" if known.beginning else "t.csv"):
        facts, same = read(tmp_path, file_of(known, TABLE), name)
        assert (facts.format, same) == (known.name, rows)
        assert (facts.content_digest, facts.sketch) == (plain.content_digest, plain.sketch)


@every_format
def test_no_two_formats_share_an_ending_or_a_name(known: Format) -> None:
    others = [other for other in FORMATS if other is not known]
    assert known.endings and known.titles
    assert not set(known.endings) & {ending for other in others for ending in other.endings}
    assert known.name not in {other.name for other in others}


@every_format
def test_a_packed_file_is_refused_wherever_it_is_cut(known: Format, tmp_path: Path) -> None:
    content = file_of(known, TABLE)
    if known.beginning:
        for place in range(len(known.beginning) + 1, len(content), max(1, len(content) // 25)):
            with pytest.raises(UploadFault):
                read(tmp_path, content[:place], f"t{known.endings[0]}")


@every_format
def test_columns_of_lists_are_refused(known: Format, tmp_path: Path) -> None:
    """Where the format has such columns: `written` of one that has none raises NotImplementedError."""
    nested = pa.table({"nested": [[1], [2]]})
    if isinstance(known, TypedColumns):
        try:
            content = file_of(known, nested)
        except NotImplementedError:
            return
        with pytest.raises(UploadFault) as refusal:
            read(tmp_path, content, f"t{known.endings[0]}")
        assert refusal.value.code == "nested"
