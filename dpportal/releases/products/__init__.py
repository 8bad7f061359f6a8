"""The products by name. A new product is one more class here, with its templates."""

from __future__ import annotations

from typing import Any

from dpportal.releases.models import Release
from dpportal.releases.products.base import AUTOMATIC, DraftError, Made, Product
from dpportal.releases.products.histogram import HistogramProduct
from dpportal.releases.products.queries import QueriesProduct
from dpportal.releases.products.response import ResponseProduct
from dpportal.releases.products.selection import SelectionProduct

PRODUCTS: dict[str, Product] = {
    p.name: p for p in (HistogramProduct(), QueriesProduct(), SelectionProduct(), ResponseProduct())
}


def product_of(release: Release) -> Product:
    return PRODUCTS[release.product]


def confirmed_plan(release: Release) -> Any:
    """The plan that was confirmed; the job runs exactly it."""
    if release.plan_json is None:
        raise ValueError("a draft has no confirmed plan")
    return product_of(release).read_plan(release.plan_json)


__all__ = ["AUTOMATIC", "PRODUCTS", "DraftError", "Made", "Product", "confirmed_plan", "product_of"]
