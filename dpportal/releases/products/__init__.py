"""What can be released: the products by name. A new one is one more class here, with its templates."""

from __future__ import annotations

from typing import Any

from dpportal.releases.models import Release
from dpportal.releases.products.base import (
    AUTOMATIC,
    AUTOMATIC_TITLE,
    DraftError,
    Made,
    Method,
    Product,
    ReleasePlan,
)
from dpportal.releases.products.histogram.product import HistogramProduct
from dpportal.releases.products.microdata.product import MicrodataProduct
from dpportal.releases.products.queries.product import QueriesProduct
from dpportal.releases.products.response import ResponseProduct
from dpportal.releases.products.selection import SelectionProduct

# Which product a release is of is known when it runs: each takes its own kind of plan and result.
AnyProduct = Product[Any, Any, Any]
AnyMade = Made[Any, Any]

PRODUCTS: dict[str, AnyProduct] = {
    p.name: p
    for p in (HistogramProduct(), MicrodataProduct(), QueriesProduct(), SelectionProduct(), ResponseProduct())
}


def product_of(release: Release) -> AnyProduct:
    return PRODUCTS[release.product]


def method_title(product: str, mechanism: str) -> str:
    """What a product's method is called."""
    if mechanism == AUTOMATIC:
        return str(AUTOMATIC_TITLE)
    return next(method.title for method in PRODUCTS[product].mechanisms if method.name == mechanism)


def confirmed_plan(release: Release) -> ReleasePlan:
    """The plan that was confirmed; the job runs exactly it."""
    if release.plan_json is None:
        raise ValueError("a draft has no confirmed plan")
    plan: ReleasePlan = product_of(release).read_plan(release.plan_json)
    return plan


__all__ = ["AUTOMATIC", "AUTOMATIC_TITLE", "PRODUCTS", "AnyMade", "AnyProduct", "DraftError", "Method"]
__all__ += ["ReleasePlan", "confirmed_plan", "method_title", "product_of"]
