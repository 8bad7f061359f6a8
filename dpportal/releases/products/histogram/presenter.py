"""What a histogram's bundle and pages show."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import numpy as np
from django.http import QueryDict

from dpportal.charts.area_map import MOST_AREAS, Areas
from dpportal.datasets.area_map import AreaMap
from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products.histogram import comparison, page, reader_choices, tables
from dpportal.releases.products.shared import explorer, stored_estimates
from dpportal.releases.products.shared.moved_people import moved_verdict
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from dpportal.releases.titles import spoken
from mechanisms import registry
from mechanisms.box_queries import CellSum, Picks
from mechanisms.histogram.box_sums import half_width_apart
from mechanisms.protocol import Plan, Result

# Cells up to which a job adds up all of them.
MAX_TOTALLED = 2**24


class HistogramPresenter(Presenter[Plan, Result]):
    """Noisy counts of every combination of columns, and a synthetic table drawn from them."""

    main_table = "histogram.csv"

    def tables(self, reconstructed: ReconstructedRelease[Plan, Result], folder: Path) -> list[Table]:
        is_plain = registry.mechanism(reconstructed.plan.mechanism).is_plain
        return tables.write(reconstructed.plan, reconstructed.result, reconstructed.seed, folder, is_plain)

    def page(self, reconstructed: ReconstructedRelease[Plan, Result]) -> Json:
        plan, result, release = reconstructed.plan, reconstructed.result, reconstructed.release
        shown = page.page(plan, result, _people_total(reconstructed), _sums(release, plan))
        if not reader_choices.begins_chosen(plan.domain):
            return shown
        form = reader_choices.ChartForm(spoken(plan.domain), QueryDict())
        sums, margin = _sums(release, plan), shown["interval"]
        return {**shown, "figure": reader_choices.figure(form, result.raw, sums, margin, result.counts)}

    def compare(self, reconstructed: ReconstructedRelease[Plan, Result], true: np.ndarray) -> Json:
        return comparison.build(reconstructed.plan, reconstructed.result, true)

    def verdict(self, comparison: Json) -> Verdict | None:
        return moved_verdict(comparison["errors"])

    def facts(self, reconstructed: ReconstructedRelease[Plan, Result]) -> Json:
        chosen = {"chosen_method": reconstructed.result.method} if reconstructed.result.method else {}
        return {"synthetic_rows": int(reconstructed.result.counts.sum()), **chosen}

    def stored_estimates(self, reconstructed: ReconstructedRelease[Plan, Result]) -> np.ndarray | None:
        # A reader must not wait for post-processing; where estimates are plain sums, the measurement is enough.
        plan, raw = reconstructed.plan, reconstructed.result.raw
        few = plan.domain.size <= explorer.MAX_CELLS
        return raw if few and not registry.mechanism(plan.mechanism).is_linear else None

    def chosen(self, release: Release, plan: Plan, shown: Json, question: QueryDict) -> Json:
        """The form that changes the chart, and the chart that its answers ask for."""
        if not reader_choices.fits(plan.domain) or not (values := _numbers(release, plan)):
            return {}
        maps, has_heat_map = _maps(release, plan), _is_heat_map(shown["figure"])
        form, first = (
            reader_choices.ChartForm(spoken(plan.domain), answers, maps, has_heat_map=has_heat_map)
            for answers in (question, QueryDict())
        )
        if form.on_map is None and form.choices() == first.choices():
            return {"chart_form": form}
        with values as numbers:
            sums, margin = _sums(release, plan), shown.get("interval")
            figure = reader_choices.figure(form, numbers, sums, margin, page.adjusted_counts(plan, shown))
            return {"chart_form": form, "figure": figure}

    def explore(self, release: Release, plan: Plan, question: QueryDict) -> Json:
        def answer(picks: Picks) -> CellSum:
            if (total := _measured_sum(release, plan, picks)) is not None:
                return total
            with stored_estimates.estimates(release) as values:
                return registry.mechanism(plan.mechanism).cell_sum(plan, values, picks)

        def difference(first: Picks, second: Picks) -> CellSum | None:
            with stored_estimates.measured(release) as values:
                method, inner, own = registry.mechanism(plan.mechanism).measured_by(plan, values)
                return method.cell_difference(inner, own, first, second)

        with stored_estimates.measured(release) as values:
            measured, inner, _own = registry.mechanism(plan.mechanism).measured_by(plan, values)
        is_estimated = measured.is_linear and not measured.is_plain
        limit = explorer.MAX_ESTIMATED_CELLS if is_estimated else explorer.MAX_CELLS
        if refusal := explorer.refusal(plan.domain.size, limit):
            return {"explorer_refusal": refusal}
        if not measured.is_linear and not stored_estimates.has_estimates(release):
            return {}
        return {
            "margin_apart": half_width_apart(inner) if measured.is_plain else None,
            "most_apart": page.most_apart(plan),
            **explorer.explored(
                spoken(plan.domain),
                question,
                answer,
                difference=difference if measured.is_plain else None,
                reason=str(explorer.NO_INTERVAL),
            ),
        }


def _is_heat_map(figure: Json) -> bool:
    return bool((figure["json"]["layout"].get("meta") or {}).get("is_map"))


def _maps(release: Release, plan: Plan) -> dict[int, Areas]:
    """The outlines that its dataset has for the values of its columns, by the column's place; of few enough values."""
    places = {name: place for place, name in enumerate(plan.domain.names)}
    maps = AreaMap.objects.filter(dataset=release.dataset_id, column__in=places)
    read = {places[own.column]: own.areas(plan.domain.attributes[places[own.column]]) for own in maps}
    return {place: areas for place, areas in read.items() if 0 < len(areas.shapes) <= MOST_AREAS}


def _numbers(release: Release, plan: Plan) -> AbstractContextManager[np.ndarray] | None:
    """The estimates of all cells; None where none are stored."""
    if registry.mechanism(plan.mechanism).is_plain:
        return stored_estimates.measured(release)
    return stored_estimates.estimates(release) if stored_estimates.has_estimates(release) else None


def _sums(release: Release, plan: Plan) -> Callable[[Picks], CellSum | None]:
    """Sums of boxes, where all boxes of a size have the same margin; else none."""
    if registry.mechanism(plan.mechanism).is_plain:
        return partial(_measured_sum, release, plan)
    return lambda _picks: None


def _people_total(reconstructed: ReconstructedRelease[Plan, Result]) -> CellSum | None:
    """All cells added up; None where that would take estimates, which have no margin, or a long time."""
    plan = reconstructed.plan
    if plan.domain.size > MAX_TOTALLED:
        return None
    return _measured_sum(reconstructed.release, plan, [np.arange(cells) for cells in plan.domain.shape])


def _measured_sum(release: Release, plan: Plan, picks: Picks) -> CellSum | None:
    """With a margin, by the method that measured; None where that takes estimates, which have none."""
    with stored_estimates.measured(release) as values:
        method, inner, own = registry.mechanism(plan.mechanism).measured_by(plan, values)
        return method.cell_sum(inner, own, picks) if method.is_linear else None
