"""The data files of a synthetic table's bundle: the rows, and what was measured with intervals."""

from __future__ import annotations

from pathlib import Path

from dpportal.platform.json_types import Json
from dpportal.publications import codebook
from dpportal.publications.table import Table
from dpportal.releases.products.microdata.measured import COUNT_FIELDS
from dpportal.releases.products.shared.synthetic_files import write_frames
from mechanisms.microdata.column_means import target_means
from mechanisms.microdata.files import column_lines, measured_pairs
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.synthesis.table import rows_of_cells
from mechanisms.tabular.csv_frames import write_frame
from mechanisms.tabular.headers import Headers

COLUMN_FIELDS = [
    {"name": "column", "type": "string"},
    {"name": "value", "type": "string"},
    *COUNT_FIELDS,
]
PAIR_FIELDS: list[Json] = [
    {"name": "first", "type": "string", "title": "Column"},
    {"name": "second", "type": "string", "title": "Column"},
    {"name": "measured", "type": "boolean", "trueValues": ["True"], "falseValues": ["False"]},
    {"name": "groups", "type": "integer", "title": "Cells of the measured table, after grouping values"},
    {"name": "standard_error", "type": "number", "title": "Of one measured count, in rows"},
]


def write(plan: MicrodataPlan, result: MicrodataResult, seed: bytes, folder: Path) -> list[Table]:
    """The synthetic rows in two formats, the noisy counts of single columns, and which pairs were measured."""
    columns, pairs = folder / "columns.csv", folder / "pairs.csv"
    released, headers = plan.of_columns(result.columns), Headers.of(plan.domain)
    counts = headers.within(column_lines(plan, result.margins, result.half_widths), "column")
    write_frame(counts, columns)
    measured = headers.within(measured_pairs(released, result), "first", "second")
    write_frame(measured, pairs, float_format="%.6g")
    frames = rows_of_cells(released.domain, result.rows, seed, means=target_means(plan, result))
    return [
        *write_frames(released.domain, frames, headers, folder),
        Table(columns, "Noisy counts of every single column, with margins (95 %)", COLUMN_FIELDS),
        Table(pairs, "Which pairs of columns were measured, and which are only modelled", PAIR_FIELDS),
        codebook.write(plan.domain, folder),
    ]
