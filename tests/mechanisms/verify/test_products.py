"""A matrix that is a product is divided into whole factors; sensitivity, answers and errors follow from these."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from mechanisms.verify.products import product_of

FACTORS = (
    np.array([[3, 0, 0, 1], [0, 2, 2, 0], [1, 1, 1, 1]]),
    np.array([[5, -2], [1, 4]]),
    np.array([[6, 0, 3], [0, 9, 3], [3, 3, 3], [3, 0, 0]]),
)


def whole() -> np.ndarray:
    return np.kron(np.kron(*FACTORS[:2]), FACTORS[2])


def test_a_product_is_divided_and_is_the_product_of_its_parts():
    product = product_of(scipy.sparse.csc_array(whole()), (4, 2, 3))
    assert product is not None
    assert np.array_equal(product.matrix().toarray(), whole())
    assert (product.column.l1, product.column.l2_squared) == (
        np.abs(whole()).sum(axis=0).max(),
        (whole() ** 2).sum(axis=0).max(),
    )


@pytest.mark.parametrize("place", [(0, 0), (5, 7), (23, 23)])
def test_what_differs_from_a_product_in_one_weight_is_none(place):
    other = whole()
    other[place] += 1
    assert product_of(scipy.sparse.csc_array(other), (4, 2, 3)) is None
    assert product_of(scipy.sparse.csc_array(whole()), (2, 4, 3)) is None
