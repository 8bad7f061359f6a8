"""The product "randomised answers"."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.response.planner import ResponsePlanner
from dpportal.releases.products.response.presenter import ResponsePresenter
from dpportal.releases.products.response.runner import ResponseRunner
from dpportal.releases.products.shared.product import ReleaseProduct

RESPONSE = ReleaseProduct(
    name=Release.Product.RESPONSE.value,
    title=gettext_lazy("Randomised answers"),
    summary=gettext_lazy(
        "One column, randomised row by row: anyone may download the answers, none of which gives its person away, "
        "with estimated counts. Less accurate than a histogram at the same cost."
    ),
    readers_see=gettext_lazy("every randomised answer and the counts estimated from them"),
    icon="icon-response",
    planner=ResponsePlanner(),
    runner=ResponseRunner(),
    presenter=ResponsePresenter(),
)
