"""The product "synthetic table of many columns"."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.microdata.planner import MicrodataPlanner
from dpportal.releases.products.microdata.presenter import MicrodataPresenter
from dpportal.releases.products.microdata.runner import MicrodataRunner
from dpportal.releases.products.shared.product import ReleaseProduct

MICRODATA = ReleaseProduct(
    name=Release.Product.MICRODATA.value,
    title=gettext_lazy("Synthetic table of many columns"),
    summary=gettext_lazy(
        "Rows to work with, of up to 250 columns at once: single columns and the pairs of columns that tell most are "
        "measured, and rows are made that agree with them."
    ),
    readers_see=gettext_lazy(
        "the synthetic table, the noisy counts of single columns, and which pairs were measured"
    ),
    icon="icon-microdata",
    planner=MicrodataPlanner(),
    runner=MicrodataRunner(),
    presenter=MicrodataPresenter(),
    has_report=True,
)
