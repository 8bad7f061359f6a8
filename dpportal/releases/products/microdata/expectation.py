"""The error of a column to expect of every method at a release's cost, from formulas: for everyone."""

from __future__ import annotations

from dpportal.platform.json_types import Json
from mechanisms import registry
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.cost_estimate import foresee
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.limits import RowCount
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.protocol import PlanError


def expected_errors(plan: MicrodataPlan, result: MicrodataResult) -> list[Json]:
    """A line for each method that could have made the release, for the noisy number of people, as JSON.

    That of the release itself tells how many pairs were measured.
    """
    people = public_people(result)
    lines = []
    for method in registry.MICRODATA:
        used = method.name == plan.mechanism
        try:
            other = plan if used else _planned(method, plan)
        except PlanError:
            continue
        of_released = foresee(other.of_columns(result.columns), people)
        lines.append(
            {
                "title": method.title,
                "used": used,
                "column": foresee(other, people).column,
                "pairs": len({table.pair for table in result.tables}) if used else of_released.pairs,
            }
        )
    return lines


def public_people(result: MicrodataResult) -> int:
    """How many people there are by the measurement: the curator's own number is nobody else's business."""
    return max(1, round(result.total))


def _planned(method: Microdata, plan: MicrodataPlan) -> MicrodataPlan:
    """Another method's plan at the same cost, of which as many columns are kept."""
    wishes = Wishes() if plan.keep is None else Wishes(target=plan.wishes.target)
    choice = ColumnChoice(plan.keep, plan.criterion)
    rows = RowCount(public=plan.total)
    return method.plan(plan.domain, wishes, plan.loss, rows=rows, choice=choice, sums=plan.sums)
