"""Drawn shapes are tables, the same ones every time, and of the kinds that they are said to be."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from mechanisms.noise import repeatable
from tests.benchmarks import shapes

SHAPES = [(1,), (2,), (50,), (1000,), (1, 7), (8, 8), (40, 25)]


def generator(seed: int) -> np.random.Generator:
    return repeatable(hashlib.sha256(str(seed).encode()).digest())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_drawn_table_has_the_people_that_it_was_asked_for(shape: tuple[int, ...]) -> None:
    for seed in range(30):
        counts = shapes.sample(shape, 1234, generator(seed))
        assert counts.shape == (np.prod(shape),)
        assert counts.sum() == 1234
        assert counts.min() >= 0


@pytest.mark.parametrize("kind", shapes.KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_kind_gives_weights_of_the_shape(kind, shape: tuple[int, ...]) -> None:  # type: ignore[no-untyped-def]
    for seed in range(30):
        weights = kind(shape, generator(seed))
        assert weights.shape == shape
        assert np.isfinite(weights).all()
        assert weights.min() >= 0


def test_the_same_draw_gives_the_same_table() -> None:
    first, again, other = (shapes.sample((200,), 999, generator(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_there_are_sparse_spiky_and_smooth_ones() -> None:
    weights = [shapes.weights_of((500,), generator(seed)) for seed in range(200)]
    filled = np.array([(w > 1e-6).mean() for w in weights])
    largest = np.array([w.max() for w in weights])
    rough = np.array([np.abs(np.diff(w)).sum() for w in weights])
    assert (filled < 0.1).mean() > 0.1
    assert (filled > 0.9).mean() > 0.2
    assert (largest > 0.5).mean() > 0.05
    assert (rough < 0.05).mean() > 0.02
