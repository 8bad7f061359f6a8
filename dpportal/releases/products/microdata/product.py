"""The product "synthetic table of many columns"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy

from dpportal.budgets.templatetags.numbers import percent
from dpportal.charts.report import stilled
from dpportal.datasets.models import DomainVersion
from dpportal.datasets.rawdata import records
from dpportal.publishing.descriptions import styles
from dpportal.publishing.headers import Headers
from dpportal.publishing.table import Table
from dpportal.publishing.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products import explorer, kept
from dpportal.releases.products.base import DraftError, Made, Product
from dpportal.releases.products.effort import Effort
from dpportal.releases.products.microdata import (
    assessment,
    claims,
    comparison,
    foresight,
    measured,
    page,
    simulations,
    tables,
    usefulness,
)
from dpportal.releases.products.microdata.form import ColumnsForm
from dpportal.releases.products.recommended import Recommended
from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.boxes import CellSum, Picks
from mechanisms.domain import Domain
from mechanisms.microdata.box_sums import cell_sum
from mechanisms.microdata.features import DISTANCE
from mechanisms.microdata.foresight import foresee
from mechanisms.microdata.mechanism import FEWEST_COLUMNS, Microdata, check_columns
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.wishes import Wishes
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, PlanError

# Cells of synthetic rows up to which readers may have them counted.
MOST_SUMMED = 2**27
MEASURED = gettext_lazy(
    "Read from the noisy counts that were measured. The synthetic rows have nearly as many, not exactly."
)
MODELLED = gettext_lazy(
    "Only modelled: no table that was measured holds this sum, so it is the share of synthetic rows times the "
    "estimated number of people. How wrong that is nobody can tell without the data, so no interval is stated. Single "
    "columns, and the groups of measured pairs, have one."
)


class MicrodataProduct(Product[Microdata, MicrodataPlan, MicrodataResult]):
    """Synthetic rows of 2 to 250 columns, the most telling of them if wished, from noisy tables of one and two."""

    name = Release.Product.MICRODATA.value
    title = gettext_lazy("Synthetic table of many columns")
    summary = gettext_lazy(
        "Rows to work with, of up to 250 columns at once: single columns and the pairs of columns that tell most are "
        "measured, and rows are made that agree with them."
    )
    readers_see = gettext_lazy(
        "the synthetic rows, the noisy counts of single columns, and which pairs were measured"
    )
    icon = "icon-microdata"
    form = ColumnsForm
    choose_template = "releases/microdata/_choose.html"
    offers_template = "releases/microdata/_offers.html"
    review_template = "releases/microdata/_review.html"
    page_template = "releases/microdata/_page.html"
    compare_template = "releases/microdata/_compare.html"
    readme_template = "releases/microdata/readme.md"
    wanted = gettext_lazy("Share of people in a wrong cell of a single column")
    wanted_unit = "%"
    wanted_sign = ""
    report_template = "releases/microdata/report.html"

    @property
    def mechanisms(self) -> Sequence[Microdata]:
        return registry.MICRODATA

    def check(self, domain: Domain) -> None:
        try:
            check_columns(domain)
        except PlanError as refusal:
            raise DraftError(str(refusal), "columns") from None

    def plan(
        self, method: Microdata, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> MicrodataPlan:
        if method.whole_rows and draft.dataset.is_elsewhere:
            raise PlanError(
                gettext(
                    "It is measured from whole rows, and of a table that lies elsewhere only counts come here."
                )
            )
        wishes = Wishes.from_json(draft.parameters.get("wishes", {}))
        rows = draft.dataset.rows
        total = rows if loss.over(domain).unit.total_public and isinstance(rows, int) else None
        plan = method.plan(
            domain,
            wishes,
            loss,
            rows=draft.parameters.get("rows"),
            total=total,
            keep=draft.parameters.get("keep"),
            criterion=draft.parameters.get("criterion") or DISTANCE,
        )
        if obstacle := self.effort(plan, draft.people).obstacle():
            raise PlanError(obstacle)
        return plan

    def read_plan(self, value: Mapping[str, Any]) -> MicrodataPlan:
        return MicrodataPlan.from_json(value)

    def offer(
        self, plan: MicrodataPlan, draft: Release, plans: Sequence[MicrodataPlan] = ()
    ) -> dict[str, Any]:
        return {
            "foresight": foresee(plan, draft.people) if draft.people else None,
            "effort": self.effort(plan, draft.people),
            "unheeded": claims.unheeded(plan),
            "weighted": claims.weighted(plan),
        }

    def effort(self, plan: MicrodataPlan, people: int | None) -> Effort:
        return foresight.effort(plan, people)

    def wanted_error(self, plan: MicrodataPlan, draft: Release) -> float | None:
        return 100 * foresee(plan, draft.people).column if draft.people else None

    def foreseen(self, plan: MicrodataPlan, draft: Release) -> Verdict | None:
        return usefulness.foreseen(plan, draft.people) if draft.people else None

    def found(self, comparison: Mapping[str, Any]) -> Verdict | None:
        return usefulness.found(comparison)

    def simulation(self, draft: Release, domain: Domain, loss: Loss) -> dict[str, Any] | None:
        if not draft.people or len(domain.shape) < FEWEST_COLUMNS:
            return None
        return simulations.question(domain, loss, draft.people, draft.parameters.get("keep"))

    def suggested(self, draft: Release, plans: Mapping[str, MicrodataPlan]) -> str:
        """What was closest to the truth when it was simulated; before that, the usual one."""
        simulated = _simulated(draft, plans)
        return simulated[0][0] if simulated else super().suggested(draft, plans)

    def advice(self, draft: Release, plans: Mapping[str, MicrodataPlan]) -> list[tuple[str, float]]:
        """Methods by their simulated error of pairs, least first; empty while nothing is known."""
        return _simulated(draft, plans)

    def recommended(
        self, draft: Release, plans: Mapping[str, MicrodataPlan], advice: Any
    ) -> list[Recommended]:
        """The method of least simulated error; none before the simulation has ended."""
        titles = {method.name: (method.title, method.summary) for method in self.mechanisms}
        figure = gettext(
            "Simulated: %(percent)s of the people in another cell of a pair of columns, on average."
        )
        return [
            Recommended(name, *titles[name], figure % {"percent": percent(error)})
            for name, error in advice[:1]
        ]

    def count(self, release: Release, plan: MicrodataPlan, key: bytes) -> np.ndarray:
        """The tables of `plan.counted`, those that only the compare page needs, then whole rows for a method that asks.

        The same rows count everywhere.
        """
        dataset, version = release.dataset, release.domain_version
        assert version is not None
        wanted = [*plan.counted, *comparison.further_tables(plan)]
        counts = records.count_tables(dataset, version, plan.domain, wanted, key)
        if not registry.microdata(plan.mechanism).whole_rows:
            return counts
        return np.concatenate([counts, records.packed_rows(dataset, version, plan.domain, key)])

    def rows_counted(self, plan: MicrodataPlan, true: np.ndarray) -> int:
        """The total of the first table: all count the same rows."""
        return int(true[: plan.domain.project(plan.counted[0]).size].sum())

    def compared(self, plan: MicrodataPlan, counts: np.ndarray) -> np.ndarray:
        """The tables; of whole rows nothing is kept."""
        return counts[: _tables_end(plan)]

    def measure(self, plan: MicrodataPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        """The counted tables, and what follows the tables of the compare page, meet noise."""
        method = registry.microdata(plan.mechanism)
        if not method.whole_rows:
            return method.measure(plan, counts[: plan.cells], noise)
        return method.measure(
            plan, np.concatenate([counts[: plan.cells], counts[_tables_end(plan) :]]), noise
        )

    def reconstruct(self, plan: MicrodataPlan, measurement: Measurement) -> MicrodataResult:
        return registry.microdata(plan.mechanism).reconstruct(plan, measurement)

    def tables(self, made: Made[MicrodataPlan, MicrodataResult], folder: Path) -> list[Table]:
        return [
            *tables.write(made.plan, made.result, made.seed, folder),
            *measured.write(_kept(made), made.result, Headers.of(made.plan.domain), folder),
        ]

    def page(self, made: Made[MicrodataPlan, MicrodataResult]) -> dict[str, Any]:
        return page.page(made.plan, made.result)

    def compare(self, made: Made[MicrodataPlan, MicrodataResult], true: np.ndarray) -> dict[str, Any]:
        """Distances of tables, and what takes real rows where these lie here."""
        found = comparison.build(made.plan, made.result, true)
        if made.release.dataset.is_elsewhere:
            return found
        domain, target = _kept(made), made.plan.wishes.target
        real = records.some_rows(made.release.dataset, domain, assessment.MOST_ROWS)
        return {**found, **assessment.assess(domain, target, made.result.rows, real)}

    def estimates(self, made: Made[MicrodataPlan, MicrodataResult]) -> np.ndarray | None:
        """The rows' cells, column by column, so that a reader's sum reads those of its columns alone."""
        rows = made.result.rows
        if rows.size > MOST_SUMMED:
            return None
        return np.ascontiguousarray(rows.T)

    def as_kept(self, result: MicrodataResult, estimates: np.ndarray) -> MicrodataResult:
        """With the kept rows: fits in floats end a little apart on another kind of processor, and rows far apart."""
        return replace(result, rows=np.array(estimates.T, order="F"))

    def explored(self, release: Release, plan: MicrodataPlan, question: QueryDict) -> dict[str, Any]:
        method = registry.microdata(plan.mechanism)

        def answer(picks: Picks) -> CellSum | None:
            with kept.measured(release) as values:
                if not kept.has_estimates(release):
                    return cell_sum(method, plan, values, None, picks)
                with kept.estimates(release) as rows:
                    return cell_sum(method, plan, values, rows, picks)

        return explorer.explored(plan.domain, question, answer, reason=str(MODELLED), note=str(MEASURED))

    def report(self, comparison: Mapping[str, Any]) -> dict[str, Any]:
        return {"styles": styles(), "maps": stilled(list(comparison["figures"].values()))}

    def facts(self, made: Made[MicrodataPlan, MicrodataResult]) -> dict[str, Any]:
        names = _kept(made).names
        measured = sorted({table.pair for table in made.result.tables})
        return {
            "columns": list(names),
            "synthetic_rows": len(made.result.rows),
            "measured_pairs": [[names[a], names[b]] for a, b in measured],
        }


def _simulated(draft: Release, plans: Mapping[str, MicrodataPlan]) -> list[tuple[str, float]]:
    """Of the methods that have a plan; these are for the same columns and cost."""
    found = simulations.ranking(next(iter(plans.values())), draft.people)
    return [(name, error) for name, error in found if name in plans]


def _tables_end(plan: MicrodataPlan) -> int:
    """Where the counted tables end, and whole rows begin if there are any."""
    return plan.cells + comparison.further_cells(plan)


def _kept(made: Made[MicrodataPlan, MicrodataResult]) -> Domain:
    """The columns that the rows have."""
    return made.plan.of_columns(made.result.columns).domain
