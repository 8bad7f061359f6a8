"""Which strategy to take for a workload."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from dpportal.publishing.verdict import rounded
from dpportal.releases.products.base import AUTOMATIC, AUTOMATIC_TITLE
from dpportal.releases.products.recommended import Recommended
from mechanisms.matrix.given import CellsStrategy
from mechanisms.matrix.mechanism import QueryPlan

# The cells themselves are the simplest to explain, which is worth so much more error.
WORTH = 1.5


def recommended(titles: Mapping[str, str], plans: Mapping[str, QueryPlan]) -> list[Recommended]:
    """Whichever is best in the end, the best one now, and the cells themselves where they are hardly worse."""
    best = min(plans, key=lambda name: plans[name].total_error)
    error = plans[best].root_mean_error
    found = [
        Recommended(
            AUTOMATIC,
            str(AUTOMATIC_TITLE),
            _("Whichever has the smallest total error when you confirm; now that is %(title)s.")
            % {"title": titles[best]},
            _figure(plans[best]),
        ),
        Recommended(best, titles[best], _("The smallest error of all strategies now."), _figure(plans[best])),
    ]
    cells = plans.get(CellsStrategy.name)
    if cells and best != CellsStrategy.name and cells.root_mean_error <= WORTH * error:
        why = _("Counts each cell by itself: the simplest to explain, with %(ratio)s times the least error.")
        ratio = f"{cells.root_mean_error / error:.2f}"
        found.append(
            Recommended(
                CellsStrategy.name, titles[CellsStrategy.name], why % {"ratio": ratio}, _figure(cells)
            )
        )
    return found


def _figure(plan: QueryPlan) -> str:
    return _("an answer ± %(half)s") % {"half": rounded(1.96 * plan.root_mean_error)}
