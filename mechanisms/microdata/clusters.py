"""Synthetic rows from clusters of many columns: people alike in all of them, found in rounds of noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.apportioning import dealt
from mechanisms.microdata.cell_rows import from_columns
from mechanisms.microdata.coarsening import group
from mechanisms.microdata.margins import Margins, to_simplex
from mechanisms.microdata.mechanism import MARGINS, Microdata, split_whole_rows, within_groups
from mechanisms.microdata.plan import LEAST_VARIANCE, MicrodataPlan, MicrodataResult
from mechanisms.microdata.spending import check_tables, table_laws
from mechanisms.microdata.tables import Grouping, split
from mechanisms.microdata.whole_rows import BLOCK, WholeRows
from mechanisms.noise import Noise, repeatable

ROUNDS = 4
CENTRES = "clusters of round {}"
COARSENESS = 0.15
# People of a group in a cluster, over the noise of that count, that there should be; and how many clusters.
WORTH, FEWEST, MOST = 1.5, 2, 64
# The part of a cluster's shares that is everybody's. Logarithms count in whole parts of this size.
EVERYBODYS, PARTS = 0.02, 2**16
# How far the first centres lie apart, in logarithms: along an ordered column, and of groups without an order.
APART_IN_ORDER, APART = 3.0, 1.0
RAKED = 5
# Rows whose points are in memory at once.
_CHUNK = 1 << 13
# Of their distances from clusters.
DISTANCE_BYTES = 8 * 2**20


class Clusters(Microdata):
    """k-means for columns of every kind: rows go to the likeliest centre, centres to the noisy counts of their rows.

    A centre is what shares of its rows each group of each column has. A round counts, for every column, its groups in
    each cluster: disjoint cells, so a row moves one count of each column's table by 1, and all tables share the loss of
    the round (`spending.table_laws`). A row's cluster follows from the row and earlier noisy counts alone, in whole
    numbers; the first centres are public. The last round's tables are those that rows are made from.
    Source: Blum, Dwork, McSherry, Nissim 2005 for numbers (SuLQ k-means); counts of all groups serve categories too.
    """

    name = "clusters"
    title = "Clusters"
    summary = (
        "Puts rows that are alike in all columns into clusters, in four rounds of noisy counts (k-means), and counts "
        "each column in each cluster. Rows of a cluster are otherwise independent."
    )
    shares = {
        MARGINS: Fraction(3, 10),
        **{CENTRES.format(r): Fraction(1 if r < ROUNDS else 4, 10) for r in range(1, ROUNDS + 1)},
    }
    pairwise = False
    whole_rows = True
    without_pairs = "each column was counted in clusters of people who are alike in all of them."
    heeds = frozenset()
    relied_on = (
        "Tables of one column are near to the truth. Tables of several columns are right as far as the clusters tell "
        "people apart: each column was counted in each cluster, and within one columns are independent of each other."
    )
    microseconds_per_value = 1.0

    def further_memory(self, plan: MicrodataPlan, people: int, rows: int) -> int:
        """Of rows' distances from clusters, and of a block of rows' groups beside its cells."""
        return DISTANCE_BYTES + 8 * min(BLOCK, people) * len(plan.domain.shape)

    def _check_noise(self, plan: MicrodataPlan) -> None:
        for round_ in range(1, ROUNDS + 1):
            check_tables(
                len(plan.domain.shape), MOST * max(plan.domain.shape), plan.step(CENTRES.format(round_))
            )

    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        """The groups of each column's cells, then of each round every column's noisy table of clusters and groups."""
        packing, packed = split_whole_rows(plan, counts)
        grouping = group(plan.domain.attributes, margins, plan.pair_deviation, COARSENESS)
        many = _clusters(plan, grouping, margins)
        scores, seen = _start(plan, grouping, margins, many), [np.concatenate(grouping.groups)]
        for round_ in range(1, ROUNDS + 1):
            true = _counted(packing, packed, grouping, scores)
            laws = table_laws([t.size for t in true], plan.step(CENTRES.format(round_)))
            noisy = [t + noise.draw(law, t.size).reshape(t.shape) for t, law in zip(true, laws, strict=True)]
            seen += [t.ravel() for t in noisy]
            scores = _scores(_shares(plan, grouping, margins, noisy, round_))
        return seen

    def _with_rows(
        self,
        plan: MicrodataPlan,
        result: MicrodataResult,
        margins: Margins,
        further: Sequence[Integers],
        random: np.random.Generator,
    ) -> MicrodataResult:
        groups, *values = further
        grouping = Grouping(tuple(split(groups, plan.domain.shape)))
        last = values[-len(plan.domain.shape) :]
        noisy = [t.reshape(-1, size) for t, size in zip(last, grouping.sizes, strict=True)]
        shares = _shares(plan, grouping, margins, noisy, ROUNDS)
        everyone = np.zeros(len(result.rows), dtype=np.int64)
        cluster = dealt(everyone, shares.clusters[None, :], random)
        columns = (dealt(cluster, own, random) for own in shares.columns)
        rows = from_columns(columns, len(cluster), grouping.sizes)
        return replace(result, rows=within_groups(rows, grouping, margins, random))


@dataclass(frozen=True)
class _Shares:
    """clusters: (k,) rows of each. columns: for each column (k, groups) shares of a cluster's rows, none of them 0."""

    clusters: Floats
    columns: tuple[Floats, ...]


def _clusters(plan: MicrodataPlan, grouping: Grouping, margins: Margins) -> int:
    """How many there are: as the noise of the last round lets tell apart."""
    laws = table_laws(grouping.sizes, plan.step(CENTRES.format(ROUNDS)))
    noise = float(np.mean([law.variance**0.5 for law in laws])) * float(np.mean(grouping.sizes))
    return int(np.clip(margins.total / (WORTH * max(noise, LEAST_VARIANCE)), FEWEST, MOST))


def _start(plan: MicrodataPlan, grouping: Grouping, margins: Margins, many: int) -> list[Integers]:
    """Public centres around everybody: in an order they lean to one end or the other."""
    random = repeatable(sha256(b"clusters").digest())
    columns = list[Floats]()
    for j, attribute in enumerate(plan.domain.attributes):
        own = grouping.vector(margins.shares(j), j)
        if attribute.ordered:
            lean = np.outer(random.standard_normal(many), APART_IN_ORDER * (own.cumsum() - own / 2))
        else:
            lean = APART * random.standard_normal((many, own.size))
        leaning = np.maximum(own, 1e-9) * np.exp(lean)
        columns.append(leaning / leaning.sum(axis=1, keepdims=True))
    return _scores(_Shares(np.ones(many), tuple(columns)))


def _scores(shares: _Shares) -> list[Integers]:
    """For each column (groups, k): how likely a group makes a cluster, as whole parts of a logarithm."""
    sizes = np.log(np.maximum(shares.clusters, 1.0)) / len(shares.columns)
    return [np.rint(PARTS * (np.log(own) + sizes[:, None])).astype(np.int64).T for own in shares.columns]


def _counted(
    packing: WholeRows, packed: Integers, grouping: Grouping, scores: Sequence[Integers]
) -> list[Integers]:
    """For each column (k, groups) true counts; a row is in its likeliest cluster, the first of equals."""
    many = scores[0].shape[1]
    tables = [np.zeros((many, size), dtype=np.int64) for size in grouping.sizes]
    for rows in packing.blocks(packed):
        places = [of_cell[rows[:, j]] for j, of_cell in enumerate(grouping.groups)]
        cluster = np.concatenate(
            [
                _nearest([p[start : start + _CHUNK] for p in places], scores)
                for start in range(0, len(rows), _CHUNK)
            ]
        )
        for table, place in zip(tables, places, strict=True):
            size = table.shape[1]
            table += np.bincount(cluster * size + place, minlength=table.size).reshape(table.shape)
    return tables


def _nearest(places: Sequence[Integers], scores: Sequence[Integers]) -> Integers:
    """(n,) the likeliest cluster of each row; places: for each column (n,) groups."""
    points = np.zeros((places[0].size, scores[0].shape[1]), dtype=np.int64)
    for place, own in zip(places, scores, strict=True):
        points += own[place]
    cluster: Integers = points.argmax(axis=1)
    return cluster


def _shares(
    plan: MicrodataPlan, grouping: Grouping, margins: Margins, noisy: Sequence[Integers], round_: int
) -> _Shares:
    """Estimates from a round's noisy tables: sizes of clusters from all columns, shares that add up to everybody's."""
    laws = table_laws([table.size for table in noisy], plan.step(CENTRES.format(round_)))
    precision = [
        1 / (t.shape[1] * max(law.variance, LEAST_VARIANCE)) for t, law in zip(noisy, laws, strict=True)
    ]
    sums = sum(weight * table.sum(axis=1) for weight, table in zip(precision, noisy, strict=True))
    sizes = to_simplex(np.asarray(sums) / sum(precision), margins.total)
    columns = list[Floats]()
    for j, table in enumerate(noisy):
        everybody = np.maximum(grouping.vector(margins.shares(j), j), 1e-9)
        everybody /= everybody.sum()
        nearest = np.array(
            [to_simplex(row.astype(float), max(1.0, size)) for row, size in zip(table, sizes, strict=True)]
        )
        own = (1 - EVERYBODYS) * nearest / nearest.sum(axis=1, keepdims=True) + EVERYBODYS * everybody
        for _ in range(RAKED):
            own *= everybody * margins.total / np.maximum(sizes @ own, 1e-9)
            own /= own.sum(axis=1, keepdims=True)
        columns.append(own)
    return _Shares(sizes, tuple(columns))
