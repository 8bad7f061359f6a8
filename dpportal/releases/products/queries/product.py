"""The product "answers to many queries"."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.queries.planner import QueriesPlanner
from dpportal.releases.products.queries.presenter import QueriesPresenter
from dpportal.releases.products.queries.runner import QueriesRunner
from dpportal.releases.products.shared.product import ReleaseProduct

QUERIES = ReleaseProduct(
    name=Release.Product.QUERIES.value,
    title=gettext_lazy("Answers to many queries"),
    summary=gettext_lazy(
        "Every age range, all two-way tables, your own list of totals: many related numbers at the smallest error "
        "that the budget buys, consistent with each other."
    ),
    readers_see=gettext_lazy(
        "the answers with their margins, what was measured, and synthetic rows where there are any"
    ),
    icon="icon-queries",
    planner=QueriesPlanner(),
    runner=QueriesRunner(),
    presenter=QueriesPresenter(),
)
