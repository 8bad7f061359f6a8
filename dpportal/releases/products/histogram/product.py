"""The product "histogram and synthetic table"."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.histogram.planner import HistogramPlanner
from dpportal.releases.products.histogram.presenter import HistogramPresenter
from dpportal.releases.products.histogram.runner import HistogramRunner
from dpportal.releases.products.shared.product import ReleaseProduct

HISTOGRAM = ReleaseProduct(
    name=Release.Product.HISTOGRAM.value,
    title=gettext_lazy("Histogram and synthetic table"),
    summary=gettext_lazy(
        "Noisy counts of every combination of one to four columns, each with its margin, and a synthetic table "
        "drawn from them that anyone may download."
    ),
    readers_see=gettext_lazy("the noisy counts, their margins where there are any, and the synthetic table"),
    icon="icon-histogram",
    planner=HistogramPlanner(),
    runner=HistogramRunner(),
    presenter=HistogramPresenter(),
)
