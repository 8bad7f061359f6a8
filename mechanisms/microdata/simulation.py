"""How far rows are from the truth on a made-up table of the same shape: what to expect, without anybody's data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute, Boolean, Categorical, Domain, Integer
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.quality import closeness, table_of_rows, triples
from mechanisms.microdata.tables import PairTables
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.microdata.wishes import Wishes
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import PlanError

# Of more people so many are drawn, and the loss is larger by as much: noise is as strong beside the counts.
MOST_PEOPLE = 50_000
# ε, and the ρ that has it with δ = 10^-9.
AMOUNTS = {
    Definition.PURE: ("0.1", "1", "10"),
    Definition.ZCDP: ("0.000177138", "0.014973058", "1.0907857"),
}
# Cells of all pairs together up to which it is simulated: a look ahead may not take the memory of a release.
MOST_CELLS = 2**22
# More columns are not simulated either: every method is fitted three times.
MOST_SIMULATED = 60
KINDS = 6
# Of a value: taken from the row's kind, from an earlier column, or from nothing.
OF_KIND, OF_BEFORE = 0.45, 0.35


@dataclass(frozen=True)
class Shape:
    """All that matters of a table: of each column its declared cells, "ordered", "truth" or "category", and whether one
    cell more is for missing values."""

    columns: tuple[tuple[int, str, bool], ...]

    @classmethod
    def of(cls, domain: Domain) -> Shape:
        return cls(tuple((a.regular_size, _kind(a), a.size > a.regular_size) for a in domain.attributes))

    def domain(self) -> Domain:
        """A domain of this shape with names that mean nothing."""
        return Domain(tuple(_attribute(f"c{place}", *column) for place, column in enumerate(self.columns)))


def _kind(attribute: Attribute) -> str:
    return "truth" if isinstance(attribute, Boolean) else "ordered" if attribute.ordered else "category"


def _attribute(name: str, size: int, kind: str, missing: bool) -> Attribute:
    if kind == "truth":
        return Boolean(name, missing_cell=missing)
    if kind == "ordered":
        return Integer(name, lower=0, upper=size - 1, missing_cell=missing)
    values = tuple(str(value) for value in range(size + missing))
    return Categorical(name, values=values, closed=True, misfits_to=0)


def drawn(domain: Domain, people: int, random: np.random.Generator) -> Integers:
    """(people, d) cells of made-up people of six kinds: a value is the kind's, that of an earlier column, or any."""
    kind = random.integers(0, KINDS, people)
    rows = np.empty((people, len(domain.shape)), dtype=np.int64)
    for j, attribute in enumerate(domain.attributes):
        size = attribute.size
        own = np.stack([_shares(attribute, random) for _ in range(KINDS)])
        before = int(random.integers(0, j)) if j else 0
        follows = rows[:, before] * size // domain.shape[before] if j else np.zeros(people, dtype=np.int64)
        chance = random.random(people)
        of_kind = chance < (OF_KIND if j else 1.0)
        anyone = _picked(_shares(attribute, random)[None], np.zeros_like(kind), random)
        rows[:, j] = np.where(chance < OF_KIND + OF_BEFORE, follows, anyone)
        rows[of_kind, j] = _picked(own, kind, random)[of_kind]
    return rows


def _shares(attribute: Attribute, random: np.random.Generator) -> Floats:
    """How a kind's people are spread over a column: around a middle where there is an order."""
    if not attribute.ordered:
        return np.asarray(random.dirichlet(np.full(attribute.size, 0.5)))
    places = (np.arange(attribute.size) + 0.5) / attribute.size
    middle, width = random.random(), random.uniform(0.05, 0.3)
    heights = np.exp(-(((places - middle) / width) ** 2) / 2) + 1e-3
    shares: Floats = heights / heights.sum()
    return shares


def _picked(shares: Floats, rows: Integers, random: np.random.Generator) -> Integers:
    """A cell for each row, by the shares of its line."""
    ends = shares.cumsum(axis=1)
    chance = random.random(rows.size)
    found = np.empty(rows.size, dtype=np.int64)
    for line in range(shares.shape[0]):
        at = rows == line
        found[at] = np.searchsorted(ends[line], chance[at] * ends[line, -1], side="right")
    cells: Integers = np.minimum(found, shares.shape[1] - 1)
    return cells


@dataclass(frozen=True)
class Simulated:
    """One method at one cost: mean total variation of all pairs and of some triples, and the processor's seconds."""

    method: str
    amount: str
    pairs: float
    triples: float | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def simulated(shape: Shape, people: int, loss: Loss, methods: Mapping[str, Microdata]) -> Iterator[Simulated]:
    """Every method that can be planned for this shape, at three costs of the loss's kind, one release each.

    people: how many the table has. loss: its amount does not matter. Everything follows from the arguments: noise is
    drawn from a public seed, as the people are.
    """
    domain, few = shape.domain(), min(people, MOST_PEOPLE)
    random = repeatable(sha256(f"made-up people {shape.columns}".encode()).digest())
    true, pairs = drawn(domain, few, random), PairTables(domain.shape)
    tables, whole = pairs.of_rows(true), WholeRows(domain.shape).pack(true)
    columns, three = (
        pairs.columns(tables),
        {c: table_of_rows(true, domain.shape, c) for c in triples(domain.shape)},
    )
    stronger = Fraction(people, few) ** (1 if loss.definition is Definition.PURE else 2)
    for amount in AMOUNTS[loss.definition]:
        for name, method in methods.items():
            try:
                plan = method.plan(domain, Wishes(), replace(loss, amount=Fraction(amount) * stronger))
            except PlanError:
                continue
            counted = tables if plan.pairwise else columns
            counts = np.concatenate([counted, whole]) if method.whole_rows else counted
            noise = Noise(repeatable(sha256(f"{name} {amount}".encode()).digest()).bytes)
            start = time.process_time()
            rows = method.reconstruct(plan, method.measure(plan, counts, noise)).rows
            seconds = time.process_time() - start
            made = pairs.of_rows(rows) / len(rows)
            of_pairs = float(np.abs(made - tables / few).sum() / 2 / len(pairs.pairs))
            yield Simulated(name, amount, of_pairs, _of_triples(domain, three, rows), seconds)


def _of_triples(
    domain: Domain, true: Mapping[tuple[int, int, int], Integers], rows: Integers
) -> float | None:
    """The mean over some tables of three columns; None where there are none."""
    apart = [
        closeness(table, table_of_rows(rows, domain.shape, columns)).synthetic
        for columns, table in true.items()
    ]
    return float(np.mean(apart)) if apart else None
