"""A small table of four columns with dependence, for tests."""

from __future__ import annotations

from collections.abc import Container, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.registry import MICRODATA, microdata

DOMAIN = Domain(
    (
        Integer("age", lower=0, upper=11, missing_cell=True),
        Categorical("job", values=("a", "b", "c")),
        Boolean("ill"),
        Categorical("town", values=("x", "y"), closed=True, misfits_to=0),
    )
)
# The last column is one of numbers, so that any three have components.
NUMBERS = Domain((*DOMAIN.attributes[:3], Integer("town", lower=0, upper=1)))


# What fits a mixture by hundreds of steps, some ten times for a table.
FITTED = ("latent-classes",)


def of_methods(methods: Iterable[Microdata] = MICRODATA, slow: Container[str] = ()) -> list[Any]:
    """Parameters of a test for each method, which is skipped where its packages are missing.

    slow: names of methods that take the test too long for the quick lane.
    """
    return [
        pytest.param(
            m,
            id=m.name,
            marks=[
                pytest.mark.skipif(bool(m.missing), reason=m.missing or "all is there"),
                *([pytest.mark.slow] if m.name in slow else []),
            ],
        )
        for m in methods
    ]


def skip_unless_offered(method: Microdata, definition: Definition) -> None:
    if definition not in method.definitions:
        pytest.skip(f"{method.title} has no noise for this kind of budget")


def people(size: int = 4000) -> np.ndarray:
    """(size, 4) cells: job follows age, ill follows job, town follows nothing."""
    random = np.random.default_rng(5)
    age = random.integers(0, 13, size)
    job = np.where(random.random(size) < 0.8, age // 4, random.integers(0, 4, size))
    ill = np.where(random.random(size) < 0.9, job % 2, random.integers(0, 2, size))
    return np.column_stack([age, np.minimum(job, 3), ill, random.integers(0, 2, size)])


def counted(plan: MicrodataPlan, rows: np.ndarray) -> np.ndarray:
    """The counts that a plan measures."""
    if plan.pairwise:
        counts = plan.tables.of_rows(rows)
    else:
        singles = [np.bincount(rows[:, j], minlength=c) for j, c in enumerate(plan.domain.shape)]
        counts = np.concatenate(singles).astype(np.int64)
    if not microdata(plan.mechanism).whole_rows:
        return counts
    return np.concatenate([counts, WholeRows(plan.domain.shape).pack(rows)])


def loss(
    amount: str = "1", definition: Definition = Definition.ZCDP, unit: PrivacyUnit | None = None
) -> Loss:
    return Loss(definition, Fraction(amount), unit or PrivacyUnit())


def distance(one: np.ndarray, other: np.ndarray, columns: tuple[int, ...]) -> float:
    """Total variation of two tables of rows, over some columns."""
    shape = tuple(DOMAIN.shape[j] for j in columns)
    tables = [
        np.bincount(
            np.ravel_multi_index(tuple(r[:, j] for j in columns), shape), minlength=int(np.prod(shape))
        )
        / len(r)
        for r in (one, other)
    ]
    return float(np.abs(tables[0] - tables[1]).sum() / 2)
