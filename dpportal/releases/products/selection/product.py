"""The product "private choice"."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.selection.planner import SelectionPlanner
from dpportal.releases.products.selection.presenter import SelectionPresenter
from dpportal.releases.products.selection.runner import SelectionRunner
from dpportal.releases.products.shared.product import ReleaseProduct

SELECTION = ReleaseProduct(
    name=Release.Product.SELECTION.value,
    title=gettext_lazy("Private choice"),
    summary=gettext_lazy(
        "Picks one: the most common value, the median, the best option, the date with the fewest conflicts. Publishes "
        "the choice, not the counts."
    ),
    readers_see=gettext_lazy("what was chosen, and among which candidates, but no count"),
    icon="icon-selection",
    planner=SelectionPlanner(),
    runner=SelectionRunner(),
    presenter=SelectionPresenter(),
)
