"""What can be released: the products by name. A new one is one more folder here, with its templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpportal.releases.models import Release
from dpportal.releases.products.histogram.product import HISTOGRAM
from dpportal.releases.products.means.product import MEANS
from dpportal.releases.products.microdata.product import MICRODATA
from dpportal.releases.products.queries.product import QUERIES
from dpportal.releases.products.response.product import RESPONSE
from dpportal.releases.products.selection.product import SELECTION
from dpportal.releases.products.shared.draft_form import AwaitedError, DraftError
from dpportal.releases.products.shared.planner import AUTOMATIC, AUTOMATIC_TITLE, Planner
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.product import ReleaseProduct
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Method, ReconstructedRelease, ReleasePlan
from dpportal.releases.products.summary.product import SUMMARY

# Which product a release is of is known when it runs: each takes its own kind of plan and result.
AnyProduct = ReleaseProduct[Any, Any, Any]
AnyPlanner = Planner[Any, Any]
AnyReconstructed = ReconstructedRelease[Any, Any]

PRODUCTS: dict[str, AnyProduct] = {
    p.name: p for p in (HISTOGRAM, SUMMARY, MEANS, MICRODATA, QUERIES, SELECTION, RESPONSE)
}


def product_of(release: Release) -> AnyProduct:
    """The kind of release that this one is."""
    return PRODUCTS[release.product]


def planner_of(release: Release) -> AnyPlanner:
    """Whom the wizard asks."""
    return PRODUCTS[release.product].planner


def runner_of(release: Release) -> Runner[Any, Any]:
    """Whom the job asks."""
    return PRODUCTS[release.product].runner


def presenter_of(release: Release) -> Presenter[Any, Any]:
    """Whom bundle and pages ask."""
    return PRODUCTS[release.product].presenter


def method_of(product: str, mechanism: str) -> Method:
    """A product's method by its name."""
    methods: Sequence[Method] = PRODUCTS[product].planner.methods
    return next(method for method in methods if method.name == mechanism)


def method_title(product: str, mechanism: str) -> str:
    """What a product's method is called."""
    return str(AUTOMATIC_TITLE) if mechanism == AUTOMATIC else method_of(product, mechanism).title


def confirmed_plan(release: Release) -> ReleasePlan:
    """The plan that was confirmed; the job runs exactly it."""
    if release.plan_json is None:
        raise ValueError("a draft has no confirmed plan")
    plan: ReleasePlan = planner_of(release).read_plan(release.plan_json)
    return plan


__all__ = [
    "AUTOMATIC",
    "AUTOMATIC_TITLE",
    "PRODUCTS",
    "AnyPlanner",
    "AnyProduct",
    "AnyReconstructed",
    "AwaitedError",
    "DraftError",
    "Method",
]
__all__ += [
    "ReleasePlan",
    "confirmed_plan",
    "method_of",
    "method_title",
    "planner_of",
    "presenter_of",
    "product_of",
]
__all__ += ["runner_of"]
