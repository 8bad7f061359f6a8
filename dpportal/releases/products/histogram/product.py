"""The product "histogram and synthetic table"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpportal.charts.counts import noise_figure
from dpportal.charts.style import Figure
from dpportal.datasets.models import DomainVersion
from dpportal.datasets.rawdata import records
from dpportal.publishing.table import Table
from dpportal.publishing.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products import explorer, kept
from dpportal.releases.products.base import ChoiceForm, DraftError, Made, Product, people_field
from dpportal.releases.products.effort import Effort
from dpportal.releases.products.histogram import advice as advising
from dpportal.releases.products.histogram import (
    comparison,
    foresight,
    neighbours,
    page,
    tables,
    usefulness,
)
from dpportal.releases.products.recommended import Recommended
from mechanisms import registry
from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.arrays import summed
from mechanisms.boxes import CellSum, Picks
from mechanisms.domain import Domain
from mechanisms.error import expectation
from mechanisms.histogram.box_sums import cell_sum, is_linear
from mechanisms.histogram.noisy import NoisyHistogram
from mechanisms.histogram.suited import unsuited
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, Mechanism, Plan, PlanError, Result

MAX_COLUMNS = 4
WARN_CELLS = 10**6
MAX_CELLS = 10**8


class CellsForm(ChoiceForm):
    """Which declared columns to count together, and how many people the curator thinks there are."""

    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose between one and four columns.")},
    )
    people = people_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["columns"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(name, name) for name in self.declared.names]

    def clean_columns(self) -> list[str]:
        columns = [name for name in self.declared.names if name in self.cleaned_data["columns"]]
        try:
            HistogramProduct().check(self.declared.project(columns))
        except DraftError as error:
            raise forms.ValidationError(error.message) from None
        return columns

    def apply(self, draft: Release) -> None:
        draft.columns, draft.people = self.cleaned_data["columns"], self.cleaned_data["people"]


class HistogramProduct(Product[Mechanism, Plan, Result]):
    """Noisy counts of every combination of one to four columns, and a synthetic table drawn from them."""

    name = Release.Product.HISTOGRAM.value
    title = gettext_lazy("Histogram and synthetic table")
    summary = gettext_lazy(
        "Noisy counts of every combination of one to four columns, each with its interval, and a synthetic table "
        "drawn from them that anyone may download."
    )
    readers_see = gettext_lazy(
        "the noisy counts, their intervals where there are any, and the synthetic table"
    )
    icon = "icon-histogram"
    form = CellsForm
    choose_template = "releases/histogram/_choose.html"
    offers_template = "releases/histogram/_offers.html"
    review_template = "releases/histogram/_review.html"
    page_template = "releases/histogram/_page.html"
    compare_template = "releases/histogram/_compare.html"
    readme_template = "releases/histogram/readme.md"
    wanted = gettext_lazy("95 % interval of a count")
    has_purpose = True

    @property
    def mechanisms(self) -> Sequence[Mechanism]:
        return registry.HISTOGRAMS

    def check(self, domain: Domain) -> None:
        if not 1 <= len(domain.attributes) <= MAX_COLUMNS:
            raise DraftError(_("Choose between one and four columns."), "columns")
        if domain.size > MAX_CELLS:
            text = _(
                "These columns make %(cells)s cells; at most 100,000,000 can be released. Use fewer columns, wider "
                "bins, or fewer categories."
            )
            raise DraftError(text % {"cells": f"{domain.size:,}"}, "columns")

    def plan(
        self, method: Mechanism, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> Plan:
        # What the release is for is the draft's, whatever was said of it with a method chosen before.
        said = {**draft.parameters, "purpose": draft.purpose}
        plan = method.plan(domain, {**said, **_public_total(draft, loss.over(domain).unit)}, loss)
        if obstacle := self.effort(plan, draft.people).obstacle():
            raise PlanError(obstacle)
        return plan

    def read_plan(self, value: Mapping[str, Any]) -> Plan:
        return Plan.from_json(value)

    def offer(self, plan: Plan, draft: Release, plans: Sequence[Plan] = ()) -> dict[str, Any]:
        version = draft.dataset.current_domain()
        hides_total = bool(version and version.unit_column) or draft.dataset.total_stays_private
        # The other relation is planned only where a page shows it.
        relations = partial(neighbours.relations, plan, hides_total)
        effort = self.effort(plan, draft.people)
        return {"expected": expectation(plan, draft.people), "relations": relations, "effort": effort}

    def effort(self, plan: Plan, people: int | None) -> Effort:
        return foresight.effort(plan, people)

    def suggested(self, draft: Release, plans: Mapping[str, Plan]) -> str:
        """The narrowest interval of those that have one; of equals the least standard error, then the usual one."""
        return min(
            plans, key=lambda name: (_figure(plans[name].half_width), _figure(plans[name].standard_error))
        )

    def unsuited(self, plan: Plan) -> str:
        return unsuited(plan)

    def advice(self, draft: Release, plans: Mapping[str, Plan]) -> advising.Advice | None:
        if not draft.people:
            return None
        try:
            return advising.advice(plans, draft.purpose, draft.people)
        except PlanError:  # a loss beyond all that was drawn
            return None

    def recommended(self, draft: Release, plans: Mapping[str, Plan], advice: Any) -> list[Recommended]:
        return advising.recommended(advice, plans) if advice else super().recommended(draft, plans, advice)

    def wanted_error(self, plan: Plan, draft: Release) -> float | None:
        return plan.half_width

    def amount_for(self, mechanism: str, loss: Loss, wanted: float) -> Decimal | None:
        method = next((m for m in self.mechanisms if m.name == mechanism), None)
        if not isinstance(method, NoisyHistogram):
            return None
        found = method.loss_for(math.floor(wanted), loss.definition, loss.unit).amount
        return Decimal(found.numerator) / Decimal(found.denominator)

    def count(self, release: Release, plan: Plan, key: bytes) -> np.ndarray:
        assert release.domain_version is not None
        return records.count(release.dataset, release.domain_version, plan.domain, key)

    def rows_counted(self, plan: Plan, true: np.ndarray) -> int:
        return summed(true)

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.mechanism(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        return registry.mechanism(plan.mechanism).reconstruct(plan, measurement)

    def tables(self, made: Made[Plan, Result], folder: Path) -> list[Table]:
        return tables.write(made.plan, made.result, made.seed, folder)

    def page(self, made: Made[Plan, Result]) -> dict[str, Any]:
        return page.page(made.plan, made.result)

    def compare(self, made: Made[Plan, Result], true: np.ndarray) -> dict[str, Any]:
        return comparison.build(made.plan, made.result, true)

    def foreseen(self, plan: Plan, draft: Release) -> Verdict | None:
        return usefulness.foreseen(plan, draft.people, draft.purpose) if draft.people else None

    def found(self, comparison: Mapping[str, Any]) -> Verdict | None:
        return usefulness.found(comparison["errors"])

    def cells_file(self, plan: Plan) -> str:
        return tables.CELLS if isinstance(registry.mechanism(plan.mechanism), NoisyHistogram) else ""

    def estimates(self, made: Made[Plan, Result]) -> np.ndarray | None:
        # A reader must not wait for post-processing; where estimates are plain sums, the measurement is enough.
        few = made.plan.domain.size <= explorer.MAX_CELLS
        linear = is_linear(registry.mechanism(made.plan.mechanism))
        return made.result.raw if few and not linear else None

    def explored(self, release: Release, plan: Plan, question: QueryDict) -> dict[str, Any]:
        method = registry.mechanism(plan.mechanism)
        stored = kept.measured if is_linear(method) else kept.estimates

        def answer(picks: Picks) -> CellSum:
            with stored(release) as values:
                return cell_sum(method, plan, values, picks)

        many = plan.domain.size > explorer.MAX_CELLS
        if many or (not is_linear(method) and not kept.has_estimates(release)):
            return {}
        return explorer.explored(plan.domain, question, answer, reason=str(explorer.NO_INTERVAL))

    def facts(self, made: Made[Plan, Result]) -> dict[str, Any]:
        chosen = {"chosen_method": made.result.method} if made.result.method else {}
        return {"synthetic_rows": int(made.result.counts.sum()), **chosen}

    def noise_figure(self, plan: Plan, people: int | None) -> Figure | None:
        # Where cells share noise, the plan's law is that of the shared measurements, not of a cell.
        if plan.standard_error != plan.noise.standard_error:
            return None
        return noise_figure(plan.noise, plan.domain.shape, people=people)


def _public_total(draft: Release, unit: PrivacyUnit) -> dict[str, int]:
    """The number of rows, where it is public."""
    rows = draft.dataset.rows
    return {"total": rows} if unit.total_public and isinstance(rows, int) else {}


def _figure(value: float | None) -> float:
    """A figure that a page shows; none is the worst."""
    return math.inf if value is None else value
