"""The product "totals and means"."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.means.planner import MeansPlanner
from dpportal.releases.products.means.presenter import MeansPresenter
from dpportal.releases.products.means.runner import MeansRunner
from dpportal.releases.products.shared.product import ReleaseProduct

MEANS = ReleaseProduct(
    name=Release.Product.MEANS.value,
    title=gettext_lazy("Totals and means"),
    summary=gettext_lazy(
        "Number, total, mean and standard deviation of columns of numbers or dates, in all and by groups, each with a "
        "margin: average income by region, beds and patients in all."
    ),
    readers_see=gettext_lazy("the number, total, mean and standard deviation of each group, with margins"),
    icon="icon-means",
    planner=MeansPlanner(),
    runner=MeansRunner(),
    presenter=MeansPresenter(),
    is_long=True,
)
