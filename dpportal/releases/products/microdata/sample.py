"""What a reader sees first of a synthetic table: ten of its rows, and of every column how its people are spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpportal.charts.cell_names import cell_names
from dpportal.charts.cells import merged, merged_labels, widths_within
from dpportal.charts.thumbnail import small_bars
from dpportal.platform.json_types import Json
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Boolean
from mechanisms.microdata.column_means import target_means
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import integer_half_widths
from mechanisms.synthesis.table import rows_of_cells

ROWS = 10
# Of a column: neighbours of more are put together, and of more values without an order the most frequent are shown.
MOST_BARS = 60


def first_rows(plan: MicrodataPlan, result: MicrodataResult, seed: bytes) -> list[list[str]]:
    """The first rows of the synthetic table's file, as texts; a missing value is empty."""
    domain, means = plan.of_columns(result.columns).domain, target_means(plan, result)
    frame = next(rows_of_cells(domain, result.rows, seed, chunk=ROWS, means=means))
    return [list(row) for row in zip(*(_texts(a, frame[a.name]) for a in domain.attributes), strict=True)]


def _texts(attribute: Attribute, values: pd.Series) -> list[str]:
    if pd.api.types.is_datetime64_any_dtype(values):
        values = values.dt.strftime("%Y-%m-%d")
    if isinstance(attribute, Boolean):
        values = values.map(dict(zip((False, True), attribute.codes()[:2], strict=True)))
    return ["" if pd.isna(value) else str(value) for value in values]


def columns(plan: MicrodataPlan, result: MicrodataResult) -> list[Json]:
    """Of each column that the rows have: name, small bars, and labels and noisy counts to draw; margin of each count.

    together: how many neighbouring cells one count adds up, the last perhaps fewer; the margin is that of so many.
    left_out: rarer values. is_ordered: whether the cells follow each other.
    """
    laws = margin_laws(plan)
    return [
        _column(plan.domain.attributes[place], result.margins[place], laws[place]) for place in result.columns
    ]


def _column(attribute: Attribute, noisy: Integers, law: NoiseLaw) -> Json:
    labels, counts, together = _shown(attribute, noisy)
    [half_width] = integer_half_widths(law, np.array([together], dtype=np.int64)).tolist()
    return {
        "name": attribute.shown_name,
        "bars": small_bars(np.maximum(counts, 0).tolist()),
        "labels": labels,
        "counts": counts.tolist(),
        "margin": half_width,
        "together": together,
        "is_ordered": attribute.ordered,
        "left_out": 0 if together > 1 else attribute.size - len(labels),
        "largest": labels[int(np.argmax(counts))],
    }


def _shown(attribute: Attribute, noisy: Integers) -> tuple[Sequence[str], Integers, int]:
    if attribute.size <= MOST_BARS:
        return cell_names(attribute), noisy, 1
    if attribute.ordered:
        (width,) = widths_within([attribute.size], MOST_BARS)
        return merged_labels(attribute, width, attribute.size), merged(noisy, [width]), width
    labels, largest = cell_names(attribute), np.sort(np.argsort(-noisy, kind="stable")[:MOST_BARS])
    return [labels[place] for place in largest], noisy[largest], 1
