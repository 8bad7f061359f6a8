"""What a synthetic table's bundle and pages show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from django.conf import settings
from django.http import QueryDict
from django.utils.translation import get_language, gettext_lazy

from dpportal.datasets import records
from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import SHARES, Verdict, VerdictLevel, level_of
from dpportal.releases.models import Release
from dpportal.releases.products.microdata import (
    assessment,
    choices,
    comparison,
    measured,
    page,
    replicate_files,
    stored_rows,
    tables,
    usefulness,
)
from dpportal.releases.products.shared import explorer, stored_estimates
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from mechanisms import registry
from mechanisms.box_queries import CellSum, Picks
from mechanisms.domain import Domain
from mechanisms.microdata.box_sums import cell_sum
from mechanisms.microdata.cost_estimate import foresee
from mechanisms.microdata.files import measured_facts
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.tabular.headers import Headers

# Cells of synthetic rows up to which readers may have them counted.
MOST_SUMMED = 2**27
MEASURED = gettext_lazy(
    "Read from the noisy counts that were measured. The synthetic rows have nearly as many, not exactly."
)
MODELLED = gettext_lazy(
    "Only modelled: no table that was measured holds this sum, so it is the share of synthetic rows times the "
    "estimated number in all. How wrong that is nobody can tell without the data, so no margin is stated. Single "
    "columns, and the groups of measured pairs, have one."
)


class MicrodataPresenter(Presenter[MicrodataPlan, MicrodataResult]):
    """Rows to work with, noisy counts of single columns, and what was measured of pairs."""

    main_table = "synthetic.csv"

    def reader_level(self, plan: MicrodataPlan, people: int) -> VerdictLevel | None:
        """Of single columns: what pairs are good for, page and files say by themselves."""
        return level_of(foresee(plan, people).column, SHARES)

    def tables(
        self, reconstructed: ReconstructedRelease[MicrodataPlan, MicrodataResult], folder: Path
    ) -> list[Table]:
        plan, result = reconstructed.plan, reconstructed.result
        return [
            *tables.write(plan, result, reconstructed.seed, folder),
            *replicate_files.write(plan.domain, result, reconstructed.seed, Headers.of(plan.domain), folder),
            *measured.write(_released(reconstructed), result, Headers.of(plan.domain), folder),
        ]

    def page(self, reconstructed: ReconstructedRelease[MicrodataPlan, MicrodataResult]) -> Json:
        return page.page(
            reconstructed.plan, reconstructed.result, _people_total(reconstructed), reconstructed.seed
        )

    def chosen(self, release: Release, plan: MicrodataPlan, shown: Json, question: QueryDict) -> Json:
        """The chart of a column, and the largest counts of a measured pair."""
        return choices.chosen(shown, question)

    def compare(
        self, reconstructed: ReconstructedRelease[MicrodataPlan, MicrodataResult], true: np.ndarray
    ) -> Json:
        """Distances of tables, and what takes real rows where these lie here."""
        compared = comparison.build(reconstructed.plan, reconstructed.result, true)
        # The rest takes long and has hardly a word: it is made in one language, and its page translates it.
        if reconstructed.release.dataset.is_remote or get_language() != settings.LANGUAGE_CODE:
            return compared
        domain, target = _released(reconstructed), reconstructed.plan.wishes.target
        real = records.some_rows(reconstructed.release.dataset, domain, assessment.MOST_ROWS)
        return {**compared, **assessment.assess(domain, target, reconstructed.result.rows, real)}

    def verdict(self, comparison: Json) -> Verdict | None:
        return usefulness.observed(comparison)

    def stored_estimates(
        self, reconstructed: ReconstructedRelease[MicrodataPlan, MicrodataResult]
    ) -> np.ndarray | None:
        """The rows' cells, column by column, so that a reader's sum reads those of its columns alone."""
        if reconstructed.result.rows.size > MOST_SUMMED:
            return None
        return stored_rows.pack(reconstructed.result)

    def explore(self, release: Release, plan: MicrodataPlan, question: QueryDict) -> Json:
        method = registry.microdata(plan.mechanism)

        def answer(picks: Picks) -> CellSum | None:
            with stored_estimates.measured(release) as values:
                if not stored_estimates.has_estimates(release):
                    return cell_sum(method, plan, values, None, picks)
                with stored_estimates.estimates(release) as stored:
                    return cell_sum(method, plan, values, stored_rows.synthetic(plan, stored), picks)

        return explorer.explored(plan.domain, question, answer, reason=str(MODELLED), note=str(MEASURED))

    def facts(self, reconstructed: ReconstructedRelease[MicrodataPlan, MicrodataResult]) -> Json:
        return dict(measured_facts(reconstructed.plan, reconstructed.result))


def _people_total(reconstructed: ReconstructedRelease[MicrodataPlan, MicrodataResult]) -> CellSum | None:
    plan = reconstructed.plan
    with stored_estimates.measured(reconstructed.release) as values:
        every = [np.arange(cells) for cells in plan.domain.shape]
        return cell_sum(registry.microdata(plan.mechanism), plan, values, None, every)


def _released(reconstructed: ReconstructedRelease[MicrodataPlan, MicrodataResult]) -> Domain:
    """The columns that the rows have."""
    return reconstructed.plan.of_columns(reconstructed.result.columns).domain
