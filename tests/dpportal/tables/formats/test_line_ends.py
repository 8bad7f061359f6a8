"""Line ends within fields, by which it is found whether each line of a text file is in a row."""

import pyarrow as pa
import pytest

from dpportal.tables import UploadFault
from dpportal.tables.formats.line_ends import LineEnds
from tests.dpportal.tables.storing import Stored


@pytest.mark.slow
def test_a_blank_line_within_a_field_hides_no_row_that_was_lost(tmp_path):
    """One thread of the engine drops a last row whose quotation mark is open."""
    content = b"a,b\n" + b'"x\n\ny",1\n' * 3 + b'4,"5\n'
    with pytest.raises(UploadFault, match="Row 5 opens a quotation mark and does not close it"):
        Stored(tmp_path, content)


def test_line_ends_of_fields_are_counted_also_of_a_part_of_an_array():
    ends = LineEnds()
    for texts in (["\n\n", "a\n\n\nb", "", None, "\n", "\nlong"], ["x"]):
        ends.add(pa.array(["\n\n", *texts]).slice(1))
    assert ends == LineEnds(fields=4, longest=5, all=7, blank=3)
