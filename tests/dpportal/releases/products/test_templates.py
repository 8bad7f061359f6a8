"""Every product has a template for each part of its pages."""

from __future__ import annotations

import pytest
from django.template.loader import get_template

from dpportal.releases.products import PRODUCTS


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_product_has_its_templates(name: str) -> None:
    product = PRODUCTS[name]
    names = [
        getattr(product, f"{part}_template")
        for part in ("choose", "offers", "review", "page", "compare", "readme")
    ]
    assert all(get_template(template) for template in names)
