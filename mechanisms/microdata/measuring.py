"""Noisy tables of pairs of columns, over groups of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.arrays import Integers
from mechanisms.microdata.plan import LEAST_VARIANCE, MeasuredTable, MicrodataPlan
from mechanisms.microdata.spending import table_laws
from mechanisms.microdata.tables import Grouping, Pair
from mechanisms.noise import Noise, NoiseLaw


def measured_columns(counts: Integers, sizes: Sequence[int], loss: Loss, noise: Noise) -> Integers:
    """Noisy counts of every column, one after the other, which together cost `loss`. counts: the true ones."""
    draws = [noise.draw(law, size) for law, size in zip(table_laws(sizes, loss), sizes, strict=True)]
    noisy: Integers = counts + np.concatenate(draws)
    return noisy


def column_variances(sizes: Sequence[int], loss: Loss) -> list[float]:
    """What fits take the variance of each column's counts to be, that `measured_columns` draws."""
    return [max(law.variance, LEAST_VARIANCE) for law in table_laws(sizes, loss)]


def measured_tables(
    plan: MicrodataPlan, counts: Integers, grouping: Grouping, pairs: Sequence[Pair], loss: Loss, noise: Noise
) -> list[MeasuredTable]:
    """Noisy tables of some pairs' groups, which together cost `loss`."""
    laws = table_laws([grouping.cells(pair) for pair in pairs], loss)
    tables = []
    for pair, law in zip(pairs, laws, strict=True):
        true = grouping.table(plan.tables.table(counts, pair), pair)
        noisy = true + noise.draw(law, true.size).reshape(true.shape)
        tables.append(_measured(pair, noisy, law))
    return tables


def recorded_tables(
    plan: MicrodataPlan, grouping: Grouping, pairs: Integers, loss: Loss, values: Iterator[Integers]
) -> list[MeasuredTable]:
    """The tables that `measured_tables` drew, read from a record, with the variances that their plan gave them.

    pairs: (tables * 2,) columns. values: the tables' cells, a vector each.
    """
    chosen: list[Pair] = [(int(a), int(b)) for a, b in pairs.reshape(-1, 2)]
    laws = table_laws([grouping.cells(pair) for pair in chosen], loss)
    return [
        _measured(pair, next(values).reshape(grouping.sizes[pair[0]], grouping.sizes[pair[1]]), law)
        for pair, law in zip(chosen, laws, strict=True)
    ]


def _measured(pair: Pair, values: Integers, law: NoiseLaw) -> MeasuredTable:
    return MeasuredTable(pair, values, max(law.variance, LEAST_VARIANCE), law)
