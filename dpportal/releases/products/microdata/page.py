"""What the public page of a synthetic table shows: what was measured, and nothing that needs the truth."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd

from dpportal.charts.cell_names import cell_name
from dpportal.charts.pairs import pairs_figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.microdata import means, measured, relied_pairs, sample
from dpportal.releases.products.microdata.component_lines import component_lines
from dpportal.releases.products.microdata.dependency_lines import dependency_lines
from dpportal.releases.products.microdata.expectation import expected_errors, public_people
from dpportal.releases.products.shared.figures import figure_json
from dpportal.releases.products.shared.finding import counted
from mechanisms import registry
from mechanisms.box_queries import CellSum
from mechanisms.domain import Domain
from mechanisms.microdata.cost_estimate import foresee
from mechanisms.microdata.files import column_counts, measured_pairs
from mechanisms.microdata.pair_levels import PairLevels, pair_error
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult

MOST_LINES, MOST_PAIRS = 2_000, 1_000
# Pairs of values that cannot occur together which a page names; all are in release.json.
MOST_IMPOSSIBLE = 20


def page(plan: MicrodataPlan, result: MicrodataResult, everyone: CellSum | None, seed: bytes) -> Json:
    """Ten rows, every column's noisy counts, the pairs, and the error to expect from noise, as JSON.

    everyone: how many people there are. seed: of the synthetic rows.
    """
    released = plan.of_columns(result.columns)
    counts, pairs = column_counts(plan, result.margins, result.half_widths), measured_pairs(released, result)
    people = public_people(result)
    tables, levels = measured.shown(released.domain, result), PairLevels.of(result.tables, people)
    return {
        "finding": counted(everyone, result.total),
        "sample": sample.first_rows(plan, result, seed),
        "columns": sample.columns(plan, result),
        "rows": len(result.rows),
        "means": means.lines(plan, result),
        "kept": list(released.domain.shown_names) if plan.keep is not None else [],
        "relied_on": relied_pairs.relied_on(plan, levels),
        "levels": asdict(levels),
        "target": relied_pairs.named(plan)["target"],
        "impossible": relied_pairs.named(released)["zeros"][:MOST_IMPOSSIBLE],
        "all_impossible": len(released.wishes.zeros),
        "follows": dependency_lines(released),
        "counts": _count_lines(counts.head(MOST_LINES), plan.domain),
        "lines": len(counts),
        "measured": int(pairs["measured"].sum()),
        "pairs": len(pairs),
        "pair_lines": _pair_lines(pairs, tables, released.domain),
        "without_pairs": registry.microdata(plan.mechanism).without_pairs,
        "components": component_lines(released, result),
        "column": foresee(plan, people).column,
        "pair_error": pair_error(result.tables, people),
        "expected": expected_errors(plan, result),
        "tables": tables,
        "figure": figure_json(
            pairs_figure(released.domain.shown_names, _measurements(released, result), "measured")
        ),
        "steps": [[step, str(share)] for step, share in plan.shares.items()],
        "replicates": len(result.replicates),
    }


def _count_lines(counts: pd.DataFrame, domain: Domain) -> list[list[object]]:
    """Counts of single columns as readers see them."""
    shown = domain.titles
    lines = counts.values.tolist()
    return [[shown[column], cell_name(cell), *numbers] for column, cell, *numbers in lines]


def _pair_lines(pairs: pd.DataFrame, tables: list[Json], domain: Domain) -> list[Json]:
    """The pairs, measured ones first; of those their exactest table: its place, cells and margin."""
    shown = domain.titles
    best: dict[tuple[str, str], int] = {}
    for place, table in enumerate(tables):
        first, second = table["columns"]
        known = best.setdefault((first, second), place)
        if table["margin"] < tables[known]["margin"]:
            best[first, second] = place
    lines: list[Json] = []
    for first, second in zip(pairs["first"].map(shown), pairs["second"].map(shown), strict=True):
        if (best_line := best.get((first, second))) is None:
            lines.append({"columns": [first, second]})
        else:
            table = {key: tables[best_line][key] for key in ("cells", "margin")}
            lines.append({"columns": [first, second], "table": best_line, **table})
    return sorted(lines, key=lambda line: "table" not in line)[:MOST_PAIRS]


def _measurements(plan: MicrodataPlan, result: MicrodataResult) -> np.ndarray:
    """(d, d): how often each pair of columns was measured; NaN on the diagonal."""
    times = np.zeros((len(plan.domain.names),) * 2)
    np.fill_diagonal(times, np.nan)
    for a, b in (table.pair for table in result.tables):
        times[a, b] += 1
        times[b, a] += 1
    return times
