"""What only the curator sees of a stream: released beside true running counts, with the errors against their band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.charts.cell_names import named
from dpportal.charts.increments import increments_figure
from dpportal.charts.series import Timeline, errors_figure, series_figure
from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.publications.publishing import record_comparison
from dpportal.publications.verdict import Verdict, measured_verdict
from dpportal.streams import vault
from dpportal.streams.measure import largest_increment
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import chosen_place, unit_of
from dpportal.streams.series_view import MAX_BARS
from dpportal.streams.vault import TrueCounts
from mechanisms import registry
from mechanisms.continual.consistent import never_falling

COMPARED_PERIODS = 500


class NothingToCompareError(Exception):
    """There are no true counts to compare with; the message says why."""


def comparison_for(stream: Stream, person: User, chosen: str) -> Json:
    """The newest periods beside the true running counts, as of `build`; the look is recorded.

    Raises NothingToCompareError, and VaultError where the true counts cannot be opened now.
    """
    newest = list(stream.periods.order_by("-index")[:COMPARED_PERIODS])[::-1]
    true = vault.true_counts(newest)
    if not newest or true is None:
        raise NothingToCompareError(
            _("There is nothing to compare: no period was added, or the records were deleted.")
        )
    record_comparison(stream, person)
    return build(stream, newest, true, chosen)


def build(stream: Stream, periods: list[Period], counted: Sequence[TrueCounts], chosen: str) -> Json:
    """Charts, rows and headline numbers of some neighbouring periods, the last one included.

    counted: of each period, (k,). chosen: which of them is drawn and listed, from "0"; the numbers are over all.
    """
    true, clipped = np.stack([one.sums for one in counted]), np.stack([one.clipped for one in counted])
    released = np.array([period.released for period in periods], dtype=np.int64)
    widths = np.array([period.half_width for period in periods], dtype=np.int64)
    errors = released - true
    place = chosen_place(stream, chosen)
    variances = _variances(stream, periods)
    smooth = np.stack([never_falling(column, variances) for column in released.T], axis=1)
    return {
        "figures": {
            **_figures(stream, periods, released[:, place], true[:, place], widths),
            "increments": _increments(stream, periods, released[:, [place]], true[:, [place]]),
        },
        "rows": _rows(stream, periods, released[:, place], true[:, place], widths, clipped[:, place])[::-1],
        "clipped": {
            "counts": int(clipped.sum()),
            "periods": int(clipped.any(axis=1).sum()),
            "of": len(periods),
        },
        "largest_increment": largest_increment(stream),
        "chosen": place,
        "counts": list(enumerate(named(stream.labels))) if len(stream.labels) > 1 else [],
        "inside": float((np.abs(errors) <= widths[:, None]).mean()),
        "root_mean_error": _root_mean_square(errors),
        "never_falling_error": _root_mean_square(smooth - true),
        "expected_error": float(np.sqrt(variances.mean())),
        "largest_error": int(np.abs(errors).max()),
        "unit": unit_of(stream),
        "verdict": _verdict(errors[-1], true[-1]),
    }


def _verdict(errors: np.ndarray, true: np.ndarray) -> Verdict:
    """Of the newest running counts: their error as a share of the counts; (k,) each."""
    return measured_verdict(_root_mean_square(errors) / max(float(np.abs(true).mean()), 1.0))


def _figures(
    stream: Stream, periods: list[Period], released: np.ndarray, true: np.ndarray, widths: np.ndarray
) -> dict[str, Figure]:
    labels = [stream.calendar.mark(period.index) for period in periods]
    time = Timeline(labels, unit_of(stream), periods[-1].index)
    return {
        "series": series_figure(time, released=released, true=true, half_widths=widths),
        "errors": errors_figure(time, released=released, true=true, half_widths=widths),
    }


def _increments(stream: Stream, periods: list[Period], released: np.ndarray, true: np.ndarray) -> Figure:
    """What the newest periods added, released and true. released, true: (T, 1)."""
    first = 0 if periods[0].index == 1 else 1
    last = slice(-min(MAX_BARS, len(periods) - first), None)
    indices = np.array([period.index for period in periods[last]])
    plan = stream.plan
    labels = [stream.calendar.mark(int(index)) for index in indices]
    return increments_figure(
        Timeline(labels, unit_of(stream), periods[-1].index),
        [""],
        added=np.diff(released, axis=0, prepend=0)[last],
        half_widths=registry.stream(plan.mechanism).increment_half_widths(plan, indices),
        true=np.diff(true, axis=0, prepend=0)[last],
    )


def _rows(
    stream: Stream,
    periods: list[Period],
    released: np.ndarray,
    true: np.ndarray,
    widths: np.ndarray,
    clipped: np.ndarray,
) -> list[Json]:
    name = stream.calendar.name
    columns = (released.tolist(), true.tolist(), widths.tolist(), clipped.tolist())
    return [
        {
            "label": name(period.index),
            "released": count,
            "half_width": width,
            "true": actual,
            "error": count - actual,
            "inside": abs(count - actual) <= width,
            "clipped": was_clipped,
        }
        for period, count, actual, width, was_clipped in zip(periods, *columns, strict=True)
    ]


def _variances(stream: Stream, periods: list[Period]) -> np.ndarray:
    plan = stream.plan
    indices = np.array([period.index for period in periods])
    return registry.stream(plan.mechanism).variances(plan, indices)


def _root_mean_square(errors: np.ndarray) -> float:
    return float(np.sqrt((errors.astype(float) ** 2).mean()))
