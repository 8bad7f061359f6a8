"""Tables for standard errors: fitted to what was measured, and to what would have been measured of other people.

A parametric bootstrap of the whole way from people to rows: people are drawn from the fitted model, their tables get
the noise that the plan's mechanism adds, and the model is fitted again. So tables differ by sampling and by noise, and
the spread of any estimate over them is its standard error. All of it is post-processing: random numbers are public.
Source: Ferrando, Wang, Sheldon 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import combinations

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain
from mechanisms.microdata.apportioning import systematic
from mechanisms.microdata.cell_rows import CellRows, from_columns, reorder
from mechanisms.microdata.latent_classes import targets_of
from mechanisms.microdata.log_linear import Evidence, LogLinear
from mechanisms.microdata.margins import number_of_rows
from mechanisms.microdata.mechanism import Microdata, margin_laws, margin_variances, margins_of
from mechanisms.microdata.packing import unpack_measured
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan
from mechanisms.microdata.tables import Grouping, split
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import Measurement, PlanError

# Tables beside the one that is fitted to what was measured.
TABLES = 20
# Of all columns' cells and all pairs' together, and of the product of all columns: a fit takes the cube of the former.
MOST_COUNTS, MOST_CELLS = 1_500, 2**17
# Of all tables together.
MOST_VALUES = 2**24
# Of a table's fit: for every three counts, for every cell of the product and two measured tables; arrays in memory.
SOLVED_NANOSECONDS, COUNTED_NANOSECONDS = 0.8, 10.0
MATRICES, PLACES = 12, 3


def with_replicates(plan: MicrodataPlan) -> MicrodataPlan:
    """The plan, with tables for standard errors.

    Raises PlanError unless every pair of columns is measured, and the model is small enough to be fitted often.
    """
    pairs = list(plan.tables.pairs)
    if plan.keep is not None:
        raise PlanError("Tables for standard errors need all columns: keep all of them, or choose fewer.")
    if len(pairs) > 1 and plan.wishes.required_pairs(plan.domain) != pairs:
        raise PlanError("Tables for standard errors need every pair of columns to be measured.")
    number, cells = _counts(plan), plan.domain.size
    if number > MOST_COUNTS or cells > MOST_CELLS:
        raise PlanError(
            "Tables for standard errors: these columns have {counts:,} counts and {cells:,} combinations "
            "of values. At most {most_counts:,} and {most_cells:,} can be fitted often enough. Choose the "
            "columns of one analysis, or wider bins.",
            counts=number,
            cells=cells,
            most_counts=MOST_COUNTS,
            most_cells=MOST_CELLS,
        )
    return replace(plan, replicates=True)


def most_rows(columns: int) -> int:
    """Of each table."""
    return MOST_VALUES // ((TABLES + 1) * columns)


def every_pair(domain: Domain) -> tuple[tuple[str, str], ...]:
    """The pairs that have to be required."""
    return tuple(combinations(domain.names, 2))


def _counts(plan: MicrodataPlan) -> int:
    """Of single columns and of pairs, where every cell is a group of its own."""
    return sum(plan.domain.shape) + plan.tables.size


def replicate_seconds(plan: MicrodataPlan) -> float:
    """Of one processor, about, for fitting all tables."""
    blocks = len(plan.domain.shape) + len(plan.tables.pairs)
    each = SOLVED_NANOSECONDS * _counts(plan) ** 3 + COUNTED_NANOSECONDS * plan.domain.size * blocks**2
    return (TABLES + 1) * each * 1e-9 if plan.replicates else 0.0


def replicate_memory(plan: MicrodataPlan) -> int:
    """Bytes, about, while they are fitted."""
    blocks = len(plan.domain.shape) + len(plan.tables.pairs)
    taken = 8 * (MATRICES * _counts(plan) ** 2 + PLACES * plan.domain.size * blocks)
    return taken if plan.replicates else 0


def replicates(method: Microdata, plan: MicrodataPlan, measurement: Measurement) -> tuple[CellRows, ...]:
    """The table that is fitted to the measurement, then `TABLES` that are fitted to it made anew: (n, d) cells each.

    None unless the plan asks for them. As many rows as the synthetic table has, or as fit in `MOST_VALUES`. The same
    every time.
    """
    if not plan.replicates:
        return ()
    random = repeatable(sha256(b"replicates" + measurement.values.tobytes()).digest())
    noisy, further, _sums = unpack_measured(plan, measurement.values)
    recorded = method.recorded(plan, further)
    assert recorded is not None, "checked with the plan"
    return tuple(_Again(plan, *recorded, noisy).tables(random))


class _Again:
    """A measurement, the model that fits it, and what the mechanism would measure of other people."""

    def __init__(
        self, plan: MicrodataPlan, grouping: Grouping, tables: Sequence[MeasuredTable], noisy: Integers
    ) -> None:
        self._plan, self._grouping, self._tables, self._noisy = plan, grouping, tables, noisy
        self._pairs = sorted(targets_of(tables))
        self._model = self._beginning_with(noisy)
        self._people = round(margins_of(plan, noisy).total)

    def _beginning_with(self, noisy: Integers) -> LogLinear:
        """The model of all pairs that begins with single columns' noisy counts."""
        attributes, impossible = self._plan.domain.attributes, self._plan.wishes.impossible(self._plan.domain)
        return LogLinear(attributes, self._grouping, margins_of(self._plan, noisy), self._pairs, impossible)

    def tables(self, random: np.random.Generator) -> list[CellRows]:
        first = self._model.fitted(self._evidence(self._noisy, self._tables))
        shares, noise = self._model.shares(first), Noise(random.bytes)
        rows = [self._rows(shares, random)]
        for _ in range(TABLES):
            people = random.multinomial(self._people, shares)
            noisy, tables = self._measured(people, noise)
            model = self._beginning_with(noisy)
            again = model.fitted(self._evidence(noisy, tables), first)
            rows.append(self._rows(model.shares(again), random))
        return rows

    def _evidence(self, noisy: Integers, tables: Sequence[MeasuredTable]) -> Evidence:
        sizes, variances, targets = self._plan.domain.shape, margin_variances(self._plan), targets_of(tables)
        pairs = [targets[pair] for pair in self._pairs]
        return Evidence(
            np.concatenate([noisy, *(target.table.ravel() for target in pairs)]),
            np.repeat(
                [*variances, *(target.variance for target in pairs)],
                [*sizes, *(target.table.size for target in pairs)],
            ),
            number_of_rows(split(noisy, sizes), variances, self._plan.total),
        )

    def _measured(self, people: Integers, noise: Noise) -> tuple[Integers, list[MeasuredTable]]:
        """What the mechanism would measure: (cells of the product,) people, counted as in the plan, with its noise."""
        sizes = self._plan.domain.shape
        counts = [np.rint(table).astype(np.int64) for table in self._model.counts(people)]
        of_pair = dict(zip(self._pairs, counts[len(sizes) :], strict=True))
        draws = [noise.draw(law, size) for law, size in zip(margin_laws(self._plan), sizes, strict=True)]
        noisy = np.concatenate(counts[: len(sizes)]) + np.concatenate(draws)
        tables = [
            replace(t, values=(of_pair[t.pair] + noise.draw(t.noise, t.values.size)).reshape(t.values.shape))
            for t in self._tables
        ]
        return noisy, tables

    def _rows(self, shares: Floats, random: np.random.Generator) -> CellRows:
        """Rows as near to the shares as whole numbers can be, so that they add no sampling error of their own."""
        sizes = self._plan.domain.shape
        rows = min(self._plan.rows or self._people, most_rows(len(sizes)))
        possible = np.flatnonzero(shares > 0)
        counts = systematic(shares[None, possible], np.array([rows]), random)[0]
        cells = np.repeat(possible, counts)
        simulated = from_columns((column[cells] for column in self._model.cells), rows, sizes)
        reorder(simulated, random.permutation(rows))
        return simulated
