"""Every product has a template for each part of its pages."""

from __future__ import annotations

import pytest
from django.template.loader import get_template

from dpportal.releases.products import PRODUCTS

PARTS = ("_choose.html", "_offers.html", "_review.html", "_page.html", "_compare.html", "readme.md")


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_product_has_its_templates(name: str) -> None:
    product = PRODUCTS[name]
    assert all(get_template(product.template(part)) for part in PARTS)
    assert not product.has_report or get_template(product.template("report.html"))
