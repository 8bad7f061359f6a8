"""What bundle, pages and comparison of totals and means show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict, VerdictLevel, level_of
from dpportal.releases.products.means import comparison, page, tables
from dpportal.releases.products.means.planner import RANGES
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from mechanisms.moments.plan import MomentsPlan

# Half a 95 % interval over the middle one of the errors' sizes, of a normal law.
MIDDLE = 2.906


class MeansPresenter(Presenter[MomentsPlan, GroupMeans]):
    """Numbers, totals, means and deviations by groups, with intervals."""

    def tables(
        self, reconstructed: ReconstructedRelease[MomentsPlan, GroupMeans], folder: Path
    ) -> list[Table]:
        return tables.write(reconstructed.plan, reconstructed.result, folder)

    def page(self, reconstructed: ReconstructedRelease[MomentsPlan, GroupMeans]) -> Json:
        return page.page(reconstructed.plan, reconstructed.result)

    def compare(self, reconstructed: ReconstructedRelease[MomentsPlan, GroupMeans], true: np.ndarray) -> Json:
        return comparison.build(reconstructed.plan, reconstructed.result, true)

    def verdict(self, comparison: Json) -> Verdict | None:
        error = comparison["error"]
        if error is None:
            return Verdict(VerdictLevel.USELESS, _("No group is large enough for its mean to be told."))
        text = _("Half of the means are off by less than %(share)s %% of the range between the bounds.")
        return Verdict(level_of(MIDDLE * error, RANGES), text % {"share": f"{100 * error:.2g}"})
