"""The product "answers to many queries": a workload answered through a strategy of small error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpportal.datasets.models import DomainVersion
from dpportal.datasets.rawdata import records
from dpportal.publishing.dial import shown
from dpportal.publishing.table import Table
from dpportal.publishing.verdict import Verdict, answers_found, of_answers
from dpportal.releases.models import Optimisation, Release
from dpportal.releases.products import explorer, kept
from dpportal.releases.products.base import DraftError, Made, Product
from dpportal.releases.products.queries import (
    combination,
    comparison,
    matrices,
    page,
    recommending,
    strategies,
    tables,
    workloads,
)
from dpportal.releases.products.queries.form import MAX_COLUMNS, WorkloadForm
from dpportal.releases.products.queries.truth import largest_tables, margin
from dpportal.releases.products.recommended import Recommended
from dpportal.running import questions
from dpportal.running.jobs import JobState
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.boxes import CellSum, Picks
from mechanisms.domain import Domain
from mechanisms.matrix import box_sums
from mechanisms.matrix.answering import MatrixMechanism, with_reconstruction
from mechanisms.matrix.given import UploadedStrategy, WorkloadStrategy
from mechanisms.matrix.marginals import box_sums as marginal_sums
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan, QueryResult
from mechanisms.matrix.reconstruction import RECONSTRUCTION
from mechanisms.matrix.strategy.product import most_rows
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, PlanError

MAX_QUERIES = 2_000_000
# Cells up to which the tables that are asked for may themselves be the strategy.
MAX_RECONCILED = 4_096
# Sets of columns that marginal tables may have for a reader's sum to be worked out at once.
MAX_SUMMED_TABLES = 2**14
# Where a plan says which stored strategy it is for; empty if it needs none.
STORED = "stored_strategy"


class QueriesProduct(Product[QueryMechanism, QueryPlan, QueryResult]):
    """Answers to a workload of linear queries, consistent with each other, each with its interval."""

    name = Release.Product.QUERIES.value
    title = gettext_lazy("Answers to many queries")
    summary = gettext_lazy(
        "Every age range, all two-way tables, your own list of totals: many related numbers at the smallest error "
        "that the budget buys, consistent with each other."
    )
    readers_see = gettext_lazy(
        "the answers with their intervals, what was measured, and synthetic rows where there are any"
    )
    icon = "icon-queries"
    form = WorkloadForm
    choose_template = "releases/queries/_choose.html"
    offers_template = "releases/queries/_offers.html"
    review_template = "releases/queries/_review.html"
    page_template = "releases/queries/_page.html"
    compare_template = "releases/queries/_compare.html"
    readme_template = "releases/queries/readme.md"
    has_automatic = True
    wanted = gettext_lazy("95 % interval of a typical answer")
    parameters = (RECONSTRUCTION,)

    @property
    def mechanisms(self) -> Sequence[QueryMechanism]:
        return registry.QUERIES

    def check(self, domain: Domain) -> None:
        if not 1 <= len(domain.attributes) <= MAX_COLUMNS:
            raise DraftError(_("Choose what to ask, of at least one column."), "columns")

    def searches(self, draft: Release, domain: Domain, definition: Definition) -> list[dict[str, Any]]:
        workload = _workload(draft, domain)
        able = (m for m in self.mechanisms if m.optimises and not m.refusal(domain, workload, definition))
        return [strategies.question(m.name, domain, workload.text, definition) for m in able]

    def plan(
        self, method: QueryMechanism, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> QueryPlan:
        workload = _workload(draft, domain)
        if refusal := method.refusal(domain, workload, loss.definition):
            raise PlanError(refusal)
        if method.name == WorkloadStrategy.name and _is_slow(workload):
            raise PlanError(
                _(
                    "Working out its error would take long; a strategy made for tables is never worse. Choose that."
                )
            )
        stored = _stored_strategy(method, draft, workload, domain, loss.definition)
        if method.optimises:
            with strategies.replaced_if_unreadable(stored):
                plan = method.plan(domain, workload, loss, strategies.kept(stored))
        else:
            plan = method.plan(domain, workload, loss, strategies.kept(stored) if stored else None)
        if draft.people and draft.people > most_rows(plan.sensitivity):
            raise PlanError(
                _(
                    "Its weighted sums of so many people do not fit 64-bit numbers. Choose a strategy with smaller "
                    "weights, such as Cells, or ask for fewer columns at once."
                )
            )
        return _reconstructed(replace(plan, details={**plan.details, STORED: stored}), draft)

    def read_plan(self, value: Mapping[str, Any]) -> QueryPlan:
        workload = workloads.read(value["workload"], Domain.from_json(value["domain"]))
        stored = value["details"][STORED]
        return QueryPlan.from_json(value, workload, strategies.kept(stored) if stored else None)

    def offer(self, plan: QueryPlan, draft: Release, plans: Sequence[QueryPlan] = ()) -> dict[str, Any]:
        """gap: how far from the best possible the search has shown its strategy to be at most, in words.

        ratio: of root mean errors, to the highest lower bound that any method knows for these queries and this noise.
        """
        gap = plan.optimised.facts.get("gap") if plan.optimised else None
        bound = max((p.lower_bound or 0.0 for p in (plan, *plans)), default=0.0)
        ratio = (plan.total_error / bound) ** 0.5 if bound else None
        return {"gap": "" if gap is None else f"{100 * gap:.2g} %", "ratio": ratio}

    def foreseen(self, plan: QueryPlan, draft: Release) -> Verdict | None:
        if not draft.people:
            return None
        typical = draft.people / plan.workload.cells * plan.workload.even_root_mean()
        # As the dial beside it has it.
        half_width = shown(self.wanted_error(plan, draft)) or 0.0
        return of_answers(half_width, typical, _("A typical answer, if people were spread evenly,"))

    def found(self, comparison: Mapping[str, Any]) -> Verdict | None:
        numbers = comparison["numbers"]
        if not numbers.get("typical"):
            return None
        return answers_found(numbers["root_mean"] / numbers["typical"])

    def wanted_error(self, plan: QueryPlan, draft: Release) -> float:
        return 1.96 * plan.root_mean_error

    def order(self, plan: QueryPlan) -> float:
        return plan.total_error

    def recommended(self, draft: Release, plans: Mapping[str, QueryPlan], advice: Any) -> list[Recommended]:
        """Whichever is best in the end, the best so far, and the cells themselves if they are hardly worse."""
        return recommending.recommended({m.name: m.title for m in self.mechanisms}, plans)

    def count(self, release: Release, plan: QueryPlan, key: bytes) -> np.ndarray:
        """The tables of `plan.counted`, one after the other.

        One key for all, and rows that any column leaves out are in none: the same rows of a person are kept in each.
        Tables within a larger one that is counted are summed from it.
        """
        version = release.domain_version
        assert version is not None
        wholes = largest_tables(plan.counted)
        largest = list(dict.fromkeys(wholes.values()))
        counts = records.count_each(release.dataset, version, plan.domain, largest, key)
        counted = {
            whole: of_whole.reshape(plan.domain.project(whole).shape)
            for whole, of_whole in zip(largest, counts, strict=True)
        }
        parts = [margin(counted[wholes[columns]], wholes[columns], columns) for columns in plan.counted]
        return np.concatenate([part.ravel() for part in parts])

    def rows_counted(self, plan: QueryPlan, true: np.ndarray) -> int:
        """The total of the first table: all count the same rows."""
        return int(true[: plan.domain.project(plan.counted[0]).size].sum())

    def measure(self, plan: QueryPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.query_mechanism(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(self, plan: QueryPlan, measurement: Measurement) -> QueryResult:
        return registry.query_mechanism(plan.mechanism).reconstruct(plan, measurement)

    def tables(self, made: Made[QueryPlan, QueryResult], folder: Path) -> list[Table]:
        return tables.write(made.plan, made.result, made.seed, folder)

    def page(self, made: Made[QueryPlan, QueryResult]) -> dict[str, Any]:
        return page.page(made.plan, made.result)

    def compare(self, made: Made[QueryPlan, QueryResult], true: np.ndarray) -> dict[str, Any]:
        return comparison.build(made.plan, made.result, true)

    def facts(self, made: Made[QueryPlan, QueryResult]) -> dict[str, Any]:
        counts = made.result.counts
        return {"queries": made.plan.workload.queries} | (
            {} if counts is None else {"synthetic_rows": int(counts.sum())}
        )

    def asked(self, release: Release, plan: QueryPlan, question: Mapping[str, str]) -> dict[str, Any]:
        return combination.answer(release, plan, question.get("sum", ""))

    def explored(self, release: Release, plan: QueryPlan, question: QueryDict) -> dict[str, Any]:
        method = registry.query_mechanism(plan.mechanism)
        if _is_large(method, plan):
            return {}

        def answer(picks: Picks) -> CellSum | None:
            with kept.measured(release) as values:
                if isinstance(method, MarginalMechanism):
                    return marginal_sums.cell_sum(method, plan, values, picks)
                assert isinstance(method, MatrixMechanism)
                return box_sums.cell_sum(method, plan, values, picks)

        return explorer.explored(plan.domain, question, answer)


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


def _is_large(method: QueryMechanism, plan: QueryPlan) -> bool:
    """Whether a sum of cells would take long while a page waits, or none can be worked out."""
    if isinstance(method, MarginalMechanism):
        tables = sum(2 ** len(term.factors) for term in plan.workload.terms)
        return tables > MAX_SUMMED_TABLES or method.measured(plan).size > explorer.MAX_CELLS
    return not isinstance(method, MatrixMechanism) or plan.domain.size > explorer.MAX_CELLS


def _is_slow(workload: Workload) -> bool:
    """Whether many tables would have to be reconciled over many cells while a page waits."""
    return workload.cells > MAX_RECONCILED and len(workload.terms) > 1 and workload.marginals() is not None


def _stored_strategy(
    method: QueryMechanism, draft: Release, workload: Workload, domain: Domain, definition: Definition
) -> str:
    """Where the strategy is stored, if it was uploaded or searched for. Raises PlanError while there is none."""
    if method.name == UploadedStrategy.name and draft.parameters.get("strategy"):
        return matrices.stored_name(draft.parameters["strategy"])
    if not method.optimises:
        return ""
    search = questions.found(
        Optimisation, strategies.question(method.name, domain, workload.text, definition)
    )
    if search is None or search.active:
        raise PlanError(_("Its strategy for this workload is being worked out."))
    if search.state != JobState.DONE:
        raise PlanError(search.failure)
    return search.arrays
