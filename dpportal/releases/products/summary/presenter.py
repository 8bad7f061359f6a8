"""What bundle, pages and comparison of a summary show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict, VerdictLevel, level_of
from dpportal.releases.models import Release
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from dpportal.releases.products.summary import adding_up, comparison, page, tables
from dpportal.releases.products.summary.planner import SHARES
from dpportal.value_choices.disclosure import PublishedLoss
from mechanisms.summary.column_estimates import Summary
from mechanisms.summary.fusion import Model
from mechanisms.summary.plan import SummaryPlan

# Half a 95 % interval over the middle one of the errors' sizes, of a normal law.
MIDDLE = 2.906


class SummaryPresenter(Presenter[SummaryPlan, Summary]):
    """The table of all columns, on pages and in files."""

    main_table = "summary.csv"

    # The catalogue's picture is not on the page, and a script draws the charts where one is opened.
    not_still = frozenset({"figure", "charts"})

    def tables(self, reconstructed: ReconstructedRelease[SummaryPlan, Summary], folder: Path) -> list[Table]:
        loss = str(PublishedLoss.of(reconstructed.release))
        return tables.write(reconstructed.plan, reconstructed.result, folder, loss)

    def page(self, reconstructed: ReconstructedRelease[SummaryPlan, Summary]) -> Json:
        return page.page(reconstructed.plan, reconstructed.result)

    def stored(self, shown: Json) -> Json:
        return {**shown, **page.first_rows(shown["table_one"])}

    def chosen(self, release: Release, plan: SummaryPlan, shown: Json, question: QueryDict) -> Json:
        """The first rows of the table, whatever was stored: a page is written while a visitor waits."""
        return page.first_rows(shown["table_one"])

    def explore(self, release: Release, plan: SummaryPlan, question: QueryDict) -> Json:
        """People of some groups and of some values of a column; of groups also totals and means."""
        return adding_up.explored(release, plan, question)

    def compare(self, reconstructed: ReconstructedRelease[SummaryPlan, Summary], true: np.ndarray) -> Json:
        return comparison.build(reconstructed.plan, reconstructed.result, true)

    def facts(self, reconstructed: ReconstructedRelease[SummaryPlan, Summary]) -> Json:
        """The law of numbers of people, its standard error, and levels of intervals: margins rest on these."""
        model, levels = Model(reconstructed.plan), reconstructed.result.levels.tolist()
        facts = {"law": model.law.name, "standard_error": model.number_error, "levels": levels}
        return {"number_of_people": facts}

    def verdict(self, comparison: Json) -> Verdict | None:
        error, column_error = comparison["share_error"], comparison["mean_error"]
        if error is None and column_error is None:
            return Verdict(VerdictLevel.USELESS, _("No group is large enough for anything to be told."))
        if error is None:
            text = _("Half of the means are off by less than %(share)s %% of the range between the limits.")
            level = level_of(MIDDLE * column_error, SHARES)
            return Verdict(level, text % {"share": f"{100 * column_error:.2g}"})
        text = _("Half of the shares are off by less than %(share)s percentage points.")
        return Verdict(level_of(MIDDLE * error, SHARES), text % {"share": f"{100 * error:.2g}"})
