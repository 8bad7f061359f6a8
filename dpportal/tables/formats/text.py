"""Text files with a row on each line."""

from __future__ import annotations

from dpportal.tables.facts import FileLook, TableFacts
from dpportal.tables.formats.reader import Format, Reading


class Text(Format):
    """Lines of fields, whatever separates these. A file that nothing else recognises is taken for one."""

    name = "csv"
    titles = ("CSV", "TSV")
    endings = (".csv", ".tsv", ".tab", ".txt")
    holds_line_ends = False
    has_lines = True

    def look(self, reading: Reading) -> FileLook:
        from dpportal.tables.formats.looking import look_at_text

        return look_at_text(reading)

    def read(self, reading: Reading) -> TableFacts:
        if reading.is_further:
            from dpportal.tables.formats.line_rows import convert_lines

            return convert_lines(reading)
        from dpportal.tables.formats.csv_table import convert_csv

        return convert_csv(reading)
