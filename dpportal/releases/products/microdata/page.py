"""What the public page of a synthetic table shows: what was measured, and nothing that needs the truth."""

from __future__ import annotations

import numpy as np

from dpportal.charts.pairs import pairs_figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.microdata import measured, relied_pairs
from dpportal.releases.products.microdata.component_lines import component_lines
from dpportal.releases.products.microdata.expectation import expected_errors, public_people
from dpportal.releases.products.microdata.tables import column_counts, measured_pairs
from dpportal.releases.products.shared import bin_error
from dpportal.releases.products.shared.figures import figure_json
from mechanisms import registry
from mechanisms.microdata.cost_estimate import foresee, pair_error
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.synthesis.table import people_in_rows

MOST_LINES = 2_000
# Pairs of values that cannot occur together which a page names; all are in release.json.
MOST_IMPOSSIBLE = 20


def page(plan: MicrodataPlan, result: MicrodataResult) -> Json:
    """Noisy counts of single columns with intervals, the pairs, and the error to expect from noise, as JSON."""
    released = plan.of_columns(result.columns)
    counts, pairs = column_counts(plan, result), measured_pairs(released, result)
    people = public_people(result)
    shown = pairs[pairs["measured"]]
    return {
        "rows": len(result.rows),
        "bin_errors": bin_error.in_words(released.domain, people_in_rows(released.domain, result.rows)),
        "kept": list(released.domain.names) if plan.keep is not None else [],
        "relied_on": relied_pairs.relied_on(plan),
        "impossible": [list(zero) for zero in released.wishes.zeros[:MOST_IMPOSSIBLE]],
        "all_impossible": len(released.wishes.zeros),
        "follows": [list(pair) for pair in released.wishes.follows],
        "counts": counts.head(MOST_LINES).values.tolist(),
        "lines": len(counts),
        "measured": [
            [first, second, int(groups), round(float(error), 2)]
            for first, second, _measured, groups, error in shown.itertuples(index=False)
        ],
        "pairs": len(pairs),
        "without_pairs": registry.microdata(plan.mechanism).without_pairs,
        "components": component_lines(released, result),
        "column": foresee(plan, people).column,
        "pair_error": pair_error(result.tables, people),
        "expected": expected_errors(plan, result),
        "tables": measured.shown(released.domain, result),
        "figure": figure_json(
            pairs_figure(released.domain.names, _measurements(released, result), "measured")
        ),
        "steps": [[step, str(share)] for step, share in plan.shares.items()],
        "replicates": len(result.replicates),
    }


def _measurements(plan: MicrodataPlan, result: MicrodataResult) -> np.ndarray:
    """(d, d): how often each pair of columns was measured; NaN on the diagonal."""
    times = np.zeros((len(plan.domain.names),) * 2)
    np.fill_diagonal(times, np.nan)
    for a, b in (table.pair for table in result.tables):
        times[a, b] += 1
        times[b, a] += 1
    return times
