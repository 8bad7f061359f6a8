"""The data files of a synthetic table's bundle: the rows, and what was measured with intervals."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpportal.platform.json_types import Json
from dpportal.publications import codebook
from dpportal.publications.csv_frames import write_frame
from dpportal.publications.headers import Headers
from dpportal.publications.label_columns import written
from dpportal.publications.table import Table
from dpportal.releases.products.microdata.measured import COUNT_FIELDS
from dpportal.releases.products.shared.synthetic_files import write_frames
from mechanisms.microdata.column_means import target_means
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.synthesis.table import rows_of_cells

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
    values = [value for a in plan.domain.attributes for value in written(a, a.labels())]
    counts = headers.within(column_counts(plan, result), "column").assign(value=values)
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


def column_counts(plan: MicrodataPlan, result: MicrodataResult) -> pd.DataFrame:
    """A line for every value of every column, of those too that the rows leave out."""
    frames = [
        pd.DataFrame(
            {
                "column": attribute.name,
                "value": attribute.labels(),
                "noisy_count": noisy,
                "interval_lower": noisy - half,
                "interval_upper": noisy + half,
            }
        )
        for attribute, noisy, half in zip(
            plan.domain.attributes, result.margins, result.half_widths, strict=True
        )
    ]
    return pd.concat(frames, ignore_index=True)


def measured_pairs(plan: MicrodataPlan, result: MicrodataResult) -> pd.DataFrame:
    """A line for every pair of the plan's columns; of one that was measured repeatedly the combined standard error."""
    names, precision = plan.domain.names, dict.fromkeys(plan.tables.pairs, 0.0)
    cells = {table.pair: table.values.size for table in result.tables}
    for table in result.tables:
        precision[table.pair] += 1 / table.variance
    return pd.DataFrame(
        {
            "first": [names[a] for a, _b in precision],
            "second": [names[b] for _a, b in precision],
            "measured": [pair in cells for pair in precision],
            "groups": pd.array([cells.get(pair) for pair in precision], dtype="Int64"),
            "standard_error": [p**-0.5 if p else None for p in precision.values()],
        }
    )
