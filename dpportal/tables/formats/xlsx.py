"""Workbooks of Excel 2007 and later."""

from __future__ import annotations

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.facts import FileLook, TableFacts
from dpportal.tables.formats.reader import Format, Reading


class Xlsx(Format):
    """A zip archive of sheets in XML."""

    name = "xlsx"
    titles = ("XLSX",)
    endings = (".xlsx",)
    beginning = b"PK\x03\x04"
    has_sheets = True
    has_lines = True
    skips_empty_rows = True

    def recognises(self, head: bytes, source: FilePath) -> bool:
        from dpportal.tables.formats.archives import part_names

        return super().recognises(head, source) and "xl/workbook.xml" in part_names(source)

    def look(self, reading: Reading) -> FileLook:
        from dpportal.tables.formats.looking import look_at_sheet

        return look_at_sheet(reading)

    def read(self, reading: Reading) -> TableFacts:
        from dpportal.tables.formats.xlsx_table import convert_xlsx

        return convert_xlsx(reading)
