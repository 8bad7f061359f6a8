"""What somebody may alter in each kind of a bundle's files."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.dpportal.publications.forging import altered, one_of_each


def csv_changes(content: bytes) -> list[bytes]:
    """Another value in each column in turn, a line less, a line more, another header, and a blank before a field."""
    lines = list(csv.reader(io.StringIO(content.decode(), newline="")))
    tables = [[lines[0], *lines[1:-1]], [*lines, lines[-1]], [[f"{lines[0][0]}x", *lines[0][1:]], *lines[1:]]]
    for place in range(len(lines[0])):
        middle = len(lines) // 2
        field = lines[middle][place]
        other = str(int(field) + 1) if field.lstrip("-").isdigit() else f"{field}1"
        changed = [*lines[middle][:place], other, *lines[middle][place + 1 :]]
        tables.append([*lines[:middle], changed, *lines[middle + 1 :]])
    return [_csv(table) for table in tables] + [content.replace(b"\n", b"\n ", 1)]


def _csv(lines: list[list[str]]) -> bytes:
    held = io.StringIO(newline="")
    csv.writer(held, lineterminator="\n").writerows(lines)
    return held.getvalue().encode()


def workbook_changes(content: bytes) -> list[bytes]:
    """A second sheet, a formula, a comment of the zip, another cell."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    further = {**parts, "xl/worksheets/sheet2.xml": parts[sheet]}
    formula = {**parts, sheet: parts[sheet].replace(b"<row>", b"<row><c><f>1+1</f></c>", 1)}
    other = {
        **parts,
        sheet: parts[sheet].replace(b"</row></sheetData>", b"<c><v>7</v></c></row></sheetData>"),
    }
    hidden = {**parts, "xl/workbook.xml": parts["xl/workbook.xml"].replace(b"data", b"more")}
    return [_zip(each) for each in (further, formula, other, hidden)] + [_zip(parts, b"n = 7")]


def _zip(parts: dict[str, bytes], comment: bytes = b"") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def parquet_changes(content: bytes) -> list[bytes]:
    """Texts beside the rows, a row less, another name, another value, bytes that no column has."""
    table = pq.read_table(io.BytesIO(content))
    first = table.column(0)
    value = pc.add(first, 1) if pa.types.is_integer(first.type) else pc.utf8_upper(first.cast(pa.string()))
    tables = [
        table.replace_schema_metadata({"n": "7"}),
        table.slice(1),
        table.rename_columns([f"{name}x" for name in table.column_names]),
        table.set_column(0, table.field(0).with_metadata({"n": "7"}), first),
        table.set_column(0, table.column_names[0], value),
    ]
    return [_parquet(each) for each in tables] + [content[:4] + b"1234" + content[4:]]


def _parquet(table: pa.Table) -> bytes:
    held = io.BytesIO()
    pq.write_table(table, held, compression="zstd")
    return held.getvalue()


def array_changes(content: bytes) -> list[bytes]:
    values = np.load(io.BytesIO(content))
    held = io.BytesIO()
    np.save(held, values + 1)
    return [held.getvalue()]


def json_changes(content: bytes) -> list[bytes]:
    document = json.loads(content)
    paths = [path for path in one_of_each(document) if not path.endswith((".title", ".description"))]
    return [_json(altered(document, path)) for path in paths] + [_json({**document, "more": 1})]


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def text_changes(content: bytes) -> list[bytes]:
    """A number that is in no table, where people read it."""
    sentence = b"In truth they were 71,234.5."
    if b"</body>" in content:
        return [content.replace(b"</body>", b"<p>" + sentence + b"</p></body>")]
    return [content + sentence]


def drawing_changes(content: bytes) -> list[bytes]:
    """Another height of the first point of a line, and another mark of an axis."""
    line = re.compile(rb'(<polyline points="[0-9.]+,)([0-9.]+)')
    marks = re.compile(rb'(text-anchor="end"[^>]*>)(-?[0-9]+)<')
    return [
        line.sub(lambda at: at[1] + b"%.1f" % (float(at[2]) + 20), content, count=1),
        marks.sub(lambda at: at[1] + b"%d<" % (int(at[2]) + 7), content, count=1),
    ]


CHANGES: dict[str, Callable[[bytes], list[bytes]]] = {
    ".csv": csv_changes,
    ".xlsx": workbook_changes,
    ".parquet": parquet_changes,
    ".npy": array_changes,
    ".json": json_changes,
    ".svg": drawing_changes,
    **dict.fromkeys((".md", ".html", ".tex", ".py", ".ipynb", ".npz"), text_changes),
}
