"""What the bundle and pages of answers to many queries show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from django.http import QueryDict

from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict, measured_verdict
from dpportal.releases.models import Release
from dpportal.releases.products.queries import combination, comparison, page, page_limits, tables
from dpportal.releases.products.queries.parts import PartForm, part_figure, parts_of
from dpportal.releases.products.queries.range_form import counted_range, range_form
from dpportal.releases.products.shared import explorer, stored_estimates
from dpportal.releases.products.shared.figures import figure_json
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from mechanisms import registry
from mechanisms.box_queries import CellSum, Picks
from mechanisms.matrix import box_sums
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.marginals import box_sums as marginal_sums
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryPlan, QueryResult

# Answers that are stored beside the page, so that a part of them is drawn while a reader waits.
MAX_STORED = 2**20
# The field of the public page that names answers to add up.
SUM = "sum"


class QueriesPresenter(Presenter[QueryPlan, QueryResult]):
    """Answers with their intervals, what was measured, and synthetic rows where there are any."""

    main_table = "answers.csv"

    def tables(
        self, reconstructed: ReconstructedRelease[QueryPlan, QueryResult], folder: Path
    ) -> list[Table]:
        return tables.write(reconstructed.plan, reconstructed.result, reconstructed.seed, folder)

    def page(self, reconstructed: ReconstructedRelease[QueryPlan, QueryResult]) -> Json:
        return page.page(reconstructed.plan, reconstructed.result)

    def stored(self, shown: Json) -> Json:
        # A reader chooses a further part, which is drawn then.
        return {name: part for name, part in shown.items() if name != "parts"}

    def chosen(self, release: Release, plan: QueryPlan, shown: Json, question: QueryDict) -> Json:
        """The form that chooses a part of the workload, and its chart; and the count of a range."""
        if not stored_estimates.has_estimates(release):
            return {}
        form, ranges = PartForm(plan, question), counted_range(release, plan, question)
        chosen = {**ranges, **({"chart_form": form} if len(form.parts) > 1 else {})}
        if not form.chosen:
            return chosen
        with stored_estimates.estimates(release) as (answers, margins):
            figure = part_figure(plan, form.parts[form.chosen], answers, margins)
        return {**chosen, "figure": figure_json(figure)}

    def stored_estimates(
        self, reconstructed: ReconstructedRelease[QueryPlan, QueryResult]
    ) -> np.ndarray | None:
        result, plan = reconstructed.result, reconstructed.plan
        # Of one part everything is drawn already, unless it is of ranges.
        is_shown = len(parts_of(plan)) < 2 and range_form(plan, QueryDict()) is None
        if is_shown or result.answers.size > MAX_STORED:
            return None
        return np.stack([result.answers, result.half_widths])

    def compare(self, reconstructed: ReconstructedRelease[QueryPlan, QueryResult], true: np.ndarray) -> Json:
        return comparison.build(reconstructed.plan, reconstructed.result, true)

    def verdict(self, comparison: Json) -> Verdict | None:
        numbers = comparison["numbers"]
        if not numbers.get("typical"):
            return None
        return measured_verdict(numbers["root_mean"] / numbers["typical"])

    def facts(self, reconstructed: ReconstructedRelease[QueryPlan, QueryResult]) -> Json:
        counts = reconstructed.result.counts
        return {"queries": reconstructed.plan.workload.queries} | (
            {} if counts is None else {"synthetic_rows": int(counts.sum())}
        )

    def explore(self, release: Release, plan: QueryPlan, question: QueryDict) -> Json:
        """A sum of answers, and one of cells."""
        combined = combination.answer(release, plan, question.get(SUM, ""))
        return {**combined, **_cell_sums(release, plan, question)}


def _cell_sums(release: Release, plan: QueryPlan, question: QueryDict) -> Json:
    method = registry.query_mechanism(plan.mechanism)
    if not isinstance(method, MarginalMechanism | MatrixMechanism):
        return {}
    if refusal := page_limits.refusal(method, plan):
        return {"explorer_refusal": refusal}

    def answer(picks: Picks) -> CellSum | None:
        with stored_estimates.measured(release) as values:
            if isinstance(method, MarginalMechanism):
                return marginal_sums.cell_sum(method, plan, values, picks)
            return box_sums.cell_sum(method, plan, values, picks)

    return explorer.explored(plan.domain, question, answer)
