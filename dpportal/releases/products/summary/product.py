"""The product "summary"."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.shared.product import ReleaseProduct
from dpportal.releases.products.summary.planner import SummaryPlanner
from dpportal.releases.products.summary.presenter import SummaryPresenter
from dpportal.releases.products.summary.runner import SummaryRunner

SUMMARY = ReleaseProduct(
    name=Release.Product.SUMMARY.value,
    title=gettext_lazy("Summary (Table 1)"),
    summary=gettext_lazy(
        "Every column in one table at one cost: shares of categories; mean, standard deviation and quartiles of "
        "numbers and dates; how many have no value. In all, and by groups if wished, each with a margin."
    ),
    readers_see=gettext_lazy(
        "a table of all chosen columns, in all and by groups, with shares, means, standard deviations, quartiles and "
        "margins"
    ),
    icon="icon-summary",
    planner=SummaryPlanner(),
    runner=SummaryRunner(),
    presenter=SummaryPresenter(),
    is_long=True,
)
