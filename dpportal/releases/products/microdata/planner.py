"""What can be chosen of a synthetic table of many columns, what it costs, and how wrong it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from django.utils.translation import gettext, gettext_lazy

from dpportal.budgets.templatetags.numbers import percent
from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.publications.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products.microdata import cost_estimate, means, relied_pairs, simulations, usefulness
from dpportal.releases.products.microdata.dependency_lines import dependency_lines
from dpportal.releases.products.microdata.form import ColumnsForm
from dpportal.releases.products.shared.draft_form import DraftError
from dpportal.releases.products.shared.job_cost import JobCost
from dpportal.releases.products.shared.planner import ErrorLabel, Planner, WorkerQuestion
from dpportal.releases.products.shared.public_rows import public_rows
from dpportal.releases.products.shared.recommendation import Recommendation, Recommendations
from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.domain import Domain
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.cost_estimate import foresee
from mechanisms.microdata.features import DISTANCE, ColumnChoice
from mechanisms.microdata.limits import FEWEST_COLUMNS, RowCount, check_columns
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.replicates import every_pair, with_replicates
from mechanisms.protocol import PlanError


class MicrodataPlanner(Planner[Microdata, MicrodataPlan]):
    """Synthetic rows of 2 to 250 columns, the most telling of them if wished, from noisy tables of one and two."""

    form = ColumnsForm

    @property
    def methods(self) -> Sequence[Microdata]:
        return registry.MICRODATA

    def check(self, domain: Domain) -> None:
        try:
            check_columns(domain)
        except PlanError as refusal:
            raise DraftError(str(refusal), "columns") from None

    def plan(
        self, method: Microdata, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> MicrodataPlan:
        if method.whole_rows and draft.dataset.is_remote:
            raise PlanError(
                gettext(
                    "It is measured from whole rows, and of a table that lies elsewhere only counts come here."
                )
            )
        wishes = Wishes.from_json(draft.parameters.get("wishes", {}))
        has_replicates = draft.parameters.get("replicates", False)
        if has_replicates:
            wishes = replace(wishes, required=every_pair(domain))
        total = public_rows(draft, loss.for_domain(domain).unit)
        plan = method.plan(
            domain,
            wishes,
            loss,
            rows=RowCount(draft.parameters.get("rows"), total),
            choice=ColumnChoice(draft.parameters.get("keep"), draft.parameters.get("criterion") or DISTANCE),
            sums=draft.parameters.get("sums", False),
        )
        if has_replicates:
            plan = with_replicates(plan)
        if obstacle := self.job_cost(plan, draft.people).obstacle():
            raise PlanError(obstacle)
        return plan

    def read_plan(self, value: Json) -> MicrodataPlan:
        return MicrodataPlan.from_json(value)

    def offer(self, plan: MicrodataPlan, draft: Release, plans: Sequence[MicrodataPlan] = ()) -> Json:
        return {
            "foresight": foresee(plan, draft.people) if draft.people else None,
            "effort": self.job_cost(plan, draft.people),
            "bin_errors": partial(means.bins_in_words, plan),
            "noise_errors": partial(means.noise_in_words, plan, draft.people) if draft.people else (),
            "unheeded": relied_pairs.unheeded(plan),
            "weighted": relied_pairs.weighted(plan),
            **relied_pairs.named(plan),
            "follows": dependency_lines(plan),
        }

    def job_cost(self, plan: MicrodataPlan, people: int | None) -> JobCost:
        return cost_estimate.job_cost(plan, people)

    def error_label(self, draft: Release) -> ErrorLabel:
        # Single columns are of use at a small part of what their pairs take, of which no formula says anything.
        title = gettext_lazy("Share in a wrong cell of a single column")
        return ErrorLabel(title, unit="%", sign="", is_of_part=True)

    def error_of(self, plan: MicrodataPlan, draft: Release) -> float | None:
        return 100 * foresee(plan, draft.people).column if draft.people else None

    def verdict(self, plan: MicrodataPlan, draft: Release) -> Verdict | None:
        return usefulness.expected(plan, draft.people) if draft.people else None

    def worker_questions(self, draft: Release, domain: Domain, loss: Loss) -> list[WorkerQuestion]:
        """The simulation of all methods on made-up tables of this shape."""
        if not draft.people or len(domain.shape) < FEWEST_COLUMNS:
            return []
        question = simulations.question(domain, loss, draft.people, draft.parameters.get("keep"))
        return [WorkerQuestion(simulations.SIMULATIONS, question)]

    def best_method(self, draft: Release, plans: Mapping[str, MicrodataPlan]) -> str:
        """What was closest to the truth when it was simulated; before that, the usual one."""
        simulated = _simulated(draft, plans)
        return simulated[0][0] if simulated else super().best_method(draft, plans)

    def recommend(self, draft: Release, plans: Mapping[str, MicrodataPlan]) -> Recommendations:
        """The method of least simulated error; none before the simulation has ended."""
        titles = {method.name: (method.title, method.summary) for method in self.methods}
        figure = gettext("Simulated: %(percent)s in the wrong cell of a pair of columns, on average.")
        return Recommendations(
            [
                Recommendation(name, *titles[name], figure % {"percent": percent(error)})
                for name, error in _simulated(draft, plans)[:1]
            ]
        )


def _simulated(draft: Release, plans: Mapping[str, MicrodataPlan]) -> list[tuple[str, float]]:
    """Methods by their simulated error of pairs, least first; empty while nothing is known.

    plans: by method, for the same columns and cost.
    """
    ranked = simulations.ranking(next(iter(plans.values())), draft.people)
    return [(name, error) for name, error in ranked if name in plans]
