"""What the public page of a synthetic table shows: what was measured, and nothing that needs the truth."""

from __future__ import annotations

from typing import Any

from dpportal.releases.products.microdata.directions import component_lines
from dpportal.releases.products.microdata.tables import column_counts, measured_pairs
from mechanisms.microdata.foresight import foresee
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult

MOST_LINES = 2_000


def page(plan: MicrodataPlan, result: MicrodataResult) -> dict[str, Any]:
    """Noisy counts of single columns with intervals, the pairs, and the error to expect from noise, as JSON."""
    kept = plan.of_columns(result.columns)
    counts, pairs = column_counts(plan, result), measured_pairs(kept, result)
    foresight = foresee(plan, max(1, round(result.total)))
    shown = pairs[pairs["measured"]]
    return {
        "rows": len(result.rows),
        "kept": list(kept.domain.names) if plan.keep is not None else [],
        "counts": counts.head(MOST_LINES).values.tolist(),
        "lines": len(counts),
        "measured": [
            [first, second, int(groups), round(float(error), 2)]
            for first, second, _measured, groups, error in shown.itertuples(index=False)
        ],
        "pairs": len(pairs),
        "components": component_lines(kept, result),
        "column": foresight.column,
        "pair": foresight.pair,
        "steps": [[step, str(share)] for step, share in plan.shares.items()],
    }
