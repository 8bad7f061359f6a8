"""What is told of a column of categories."""

from __future__ import annotations

from mechanisms.moments.estimates import cut_to, with_estimate
from mechanisms.moments.ratios import Moment, linear, quotient, ratio
from mechanisms.summary.column_estimates import CategoryEstimates
from mechanisms.summary.rows import RowEstimates


def category_rows(rows: RowEstimates, name: str) -> CategoryEstimates:
    """Counts and shares of each value."""
    raw, counts = rows.with_all(rows.fused.cells[name]), rows.with_all(rows.possible_cells(name))
    gain, number = rows.model.cells[name].gain, rows.variance_in_columns[:, None]
    times, most = rows.times[:, None], rows.most
    variance = times * (rows.model.variances(name, 0.0) + gain**2 * number)
    reaches = rows.reaches_of_people[:, None]
    shares = ratio(
        Moment(raw, variance, times * number * gain), rows.number[:, None], times * number, reaches
    )
    return CategoryEstimates(
        with_estimate(counts, cut_to(linear(raw, variance, rows.reaches[:, None]), 0, most), 0, most),
        with_estimate(quotient(counts, rows.people[:, None]), cut_to(shares, 0, 1), 0, 1),
        shares,
    )
