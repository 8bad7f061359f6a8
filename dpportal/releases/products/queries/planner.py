"""What can be asked in many queries, what it costs, and how wrong the answers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.counted_word import counted_word
from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.publications.cost_search import shown
from dpportal.publications.verdict import Verdict, rounded
from dpportal.releases.models import Release
from dpportal.releases.products.queries import matrices, recommending, strategies, usefulness, workloads
from dpportal.releases.products.queries.form import MAX_COLUMNS, WorkloadForm
from dpportal.releases.products.shared.draft_form import DraftError
from dpportal.releases.products.shared.planner import ErrorLabel, Planner, WorkerQuestion
from dpportal.releases.products.shared.recommendation import Recommendations
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.matrix.answering import with_reconstruction
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan, times_bound
from mechanisms.matrix.reconstruction import RECONSTRUCTION
from mechanisms.matrix.strategy.product import most_rows
from mechanisms.matrix.workload.union import Workload
from mechanisms.protocol import PlanError

MAX_QUERIES = 2_000_000
# Cells up to which the tables that are asked for may themselves be the strategy.
MAX_RECONCILED = 4_096
# Where a plan says which stored strategy it is for; empty if it needs none.
STORED = "stored_strategy"


class QueriesPlanner(Planner[QueryMechanism, QueryPlan]):
    """Answers to a workload of linear queries, consistent with each other, each with its interval."""

    form = WorkloadForm
    has_automatic = True

    @property
    def methods(self) -> Sequence[QueryMechanism]:
        return registry.QUERIES

    def check(self, domain: Domain) -> None:
        if not 1 <= len(domain.attributes) <= MAX_COLUMNS:
            raise DraftError(_("Choose what to ask, of at least one column."), "columns")

    def worker_questions(self, draft: Release, domain: Domain, loss: Loss) -> list[WorkerQuestion]:
        """The strategies that are searched for."""
        workload, definition = _workload(draft, domain), loss.definition
        able = (m for m in self.methods if m.optimises and not m.refusal(domain, workload, definition))
        questions = (strategies.question(m.name, domain, workload.text, definition) for m in able)
        return [WorkerQuestion(strategies.STRATEGIES, question) for question in questions]

    def plan(
        self, method: QueryMechanism, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> QueryPlan:
        workload = _workload(draft, domain)
        if refusal := method.refusal(domain, workload, loss.definition):
            raise PlanError(refusal)
        if method.asks_workload and _is_slow(workload):
            raise PlanError(
                _(
                    "Working out its error would take long; a method made for tables is never worse. Choose that."
                )
            )
        stored = _stored_strategy(method, draft, workload, domain, loss.definition)
        if method.optimises:
            with strategies.replaced_if_unreadable(stored):
                plan = method.plan(domain, workload, loss, strategies.load(stored))
        else:
            plan = method.plan(domain, workload, loss, strategies.load(stored) if stored else None)
        if draft.people and draft.people > most_rows(plan.sensitivity):
            raise PlanError(
                _(
                    "Its weighted sums of so many people do not fit 64-bit numbers. Choose a method with smaller "
                    "weights, such as Cells, or ask for fewer columns at once."
                )
            )
        return _reconstructed(replace(plan, details={**plan.details, STORED: stored}), draft)

    def read_plan(self, value: Json) -> QueryPlan:
        workload = workloads.read(value["workload"], Domain.from_json(value["domain"]))
        stored = value["details"][STORED]
        return QueryPlan.from_json(value, workload, strategies.load(stored) if stored else None)

    def offer(self, plan: QueryPlan, draft: Release, plans: Sequence[QueryPlan] = ()) -> Json:
        """gap: how far from the best possible the search has shown its strategy to be at most, in words.

        ratio: of root mean errors, to the highest lower bound that any method knows for these queries and this noise.
        margin, least_margin: of a typical answer, and by that bound.
        """
        gap = plan.optimised.facts.get("gap") if plan.optimised else None
        bound = max((p.lower_bound or 0.0 for p in (plan, *plans)), default=0.0)
        ratio = times_bound(plan.total_error, bound)
        margin = self.error_of(plan, draft)
        return {
            "gap": "" if gap is None else f"{100 * gap:.2g} %",
            "ratio": ratio,
            "margin": rounded(margin),
            "least_margin": rounded(margin / ratio) if ratio else "",
        }

    def verdict(self, plan: QueryPlan, draft: Release) -> Verdict | None:
        if not draft.people:
            return None
        # As the dial beside it has it.
        half_width = shown(self.error_of(plan, draft)) or 0.0
        return usefulness.expected(
            half_width, draft.people, plan.workload, counted_word(plan.loss.unit.max_rows)
        )

    def error_label(self, draft: Release) -> ErrorLabel:
        return ErrorLabel(
            gettext_lazy("Margin of a typical answer (95 %)"), counted_word(draft.unit.max_rows)
        )

    def error_of(self, plan: QueryPlan, draft: Release) -> float:
        return 1.96 * plan.root_mean_error

    def rank(self, plan: QueryPlan) -> tuple[float, ...]:
        return (plan.total_error,)

    def recommend(self, draft: Release, plans: Mapping[str, QueryPlan]) -> Recommendations:
        """Whichever is best in the end, the best so far, and the cells themselves if they are hardly worse."""
        return Recommendations(recommending.recommendations({m.name: m for m in self.methods}, plans))


def _workload(draft: Release, domain: Domain) -> Workload:
    """What the draft asks. Raises DraftError if that cannot be asked (any more)."""
    try:
        workload = workloads.read(draft.parameters.get("workload", ""), domain)
    except PlanError as refusal:
        raise DraftError(str(refusal), "columns") from None
    if workload.queries > MAX_QUERIES:
        text = _("The workload has %(queries)s queries; at most %(limit)s can be released. Ask for fewer.")
        values = {"queries": f"{workload.queries:,}", "limit": f"{MAX_QUERIES:,}"}
        raise DraftError(text % values, "columns")
    return workload


def _reconstructed(plan: QueryPlan, draft: Release) -> QueryPlan:
    """The plan with the draft's way to make cells non-negative, where its method estimates cells."""
    if RECONSTRUCTION.name not in plan.details:
        return plan
    return with_reconstruction(plan, draft.parameters.get(RECONSTRUCTION.name, RECONSTRUCTION.default))


def _is_slow(workload: Workload) -> bool:
    """Whether many tables would have to be reconciled over many cells while a page waits."""
    return workload.cells > MAX_RECONCILED and len(workload.terms) > 1 and workload.marginals() is not None


def _stored_strategy(
    method: QueryMechanism, draft: Release, workload: Workload, domain: Domain, definition: Definition
) -> str:
    """Where the strategy is stored, if it was uploaded or searched for. Raises PlanError while there is none."""
    if method.is_uploaded and draft.parameters.get("strategy"):
        return matrices.stored_name(draft.parameters["strategy"])
    if not method.optimises:
        return ""
    return strategies.stored(strategies.question(method.name, domain, workload.text, definition))
