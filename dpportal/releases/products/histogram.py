"""The product "histogram and synthetic table"."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpportal.datasets.models import DomainVersion
from dpportal.datasets.rawdata import records
from dpportal.releases import charts
from dpportal.releases.models import Release
from dpportal.releases.products import (
    histogram_comparison,
    histogram_neighbours,
    histogram_page,
    histogram_tables,
)
from dpportal.releases.products.base import ChoiceForm, DraftError, Made, Product, Table
from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.domain import Domain
from mechanisms.error import expectation
from mechanisms.mechanism import Measurement, Mechanism, Plan, Result
from mechanisms.noise import Noise

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
    people = forms.IntegerField(
        label=gettext_lazy("Your estimate of the number of people"),
        min_value=1,
        max_value=10**10,
        help_text=gettext_lazy(
            "Used only to show what errors mean. Take it from public knowledge; it need not be exact."
        ),
    )

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


class HistogramProduct(Product):
    """Noisy counts of every combination of one to four columns, and a synthetic table drawn from them."""

    name = Release.Product.HISTOGRAM.value
    title = gettext_lazy("Histogram and synthetic table")
    summary = gettext_lazy(
        "Noisy counts of every combination of one to four columns, each with its interval, and a synthetic table "
        "drawn from them that anyone may download."
    )
    icon = "icon-histogram"
    form = CellsForm
    choose_template = "releases/histogram/_choose.html"
    offers_template = "releases/histogram/_offers.html"
    review_template = "releases/histogram/_review.html"
    page_template = "releases/histogram/_page.html"
    compare_template = "releases/histogram/_compare.html"
    readme_template = "releases/histogram/readme.md"
    has_interval = True
    has_ranking = True

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
        return method.plan(domain, {**draft.parameters, **_public_total(draft, version)}, loss)

    def read_plan(self, value: Mapping[str, Any]) -> Plan:
        return Plan.from_json(value)

    def offer(self, plan: Plan, draft: Release, plans: Sequence[Plan] = ()) -> dict[str, Any]:
        # The other relation is planned only where a page shows it.
        relations = partial(histogram_neighbours.relations, plan)
        return {"expected": expectation(plan, draft.people), "relations": relations}

    def count(self, release: Release, plan: Plan, key: bytes) -> np.ndarray:
        assert release.domain_version is not None
        return records.count(release.dataset, release.domain_version, plan.domain, key)

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.mechanism(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        return registry.mechanism(plan.mechanism).reconstruct(plan, measurement)

    def tables(self, made: Made, folder: Path) -> list[Table]:
        # The public seed of the synthetic table: the measurement's own digest.
        seed = hashlib.sha256(made.release.measurement_sha256.encode()).digest()
        return histogram_tables.write(made.plan, made.result, seed, folder)

    def page(self, made: Made) -> dict[str, Any]:
        return histogram_page.page(made.plan, made.result)

    def compare(self, made: Made, true: np.ndarray) -> dict[str, Any]:
        return histogram_comparison.build(made.plan, made.result, true)

    def facts(self, made: Made) -> dict[str, Any]:
        return {"synthetic_rows": int(made.result.counts.sum())}

    def noise_figure(self, plan: Plan, people: int | None) -> charts.Figure | None:
        # Where cells share noise, the plan's law is that of the shared measurements, not of a cell.
        if plan.standard_error != plan.noise.standard_error:
            return None
        return charts.noise_figure(plan.noise, plan.domain.shape, people=people)


def _public_total(draft: Release, version: DomainVersion) -> dict[str, int]:
    """The number of rows, where the neighbouring relation makes it public."""
    known = version.neighbours == "replace-one" and not version.unit_column and draft.dataset.rows is not None
    return {"total": draft.dataset.rows} if known and draft.dataset.rows is not None else {}
