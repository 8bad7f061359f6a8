"""Synthetic rows from a few principal components of the ordered columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Boolean, Domain
from mechanisms.microdata.apportioning import dealt, systematic
from mechanisms.microdata.cell_rows import empty_rows
from mechanisms.microdata.components import Components, components
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import fewest_selected
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.mechanism import MARGINS, Microdata, split_whole_rows
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.products import grades, products, products_law
from mechanisms.microdata.spending import check_tables, table_laws
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError

PRODUCTS, GRID = "products of columns", "grid of projections"


class PrincipalComponents(Microdata):
    """Products of ordered columns with noise, their components, noisy counts of a grid over them, and back.

    A column enters by its grade, the share of rows below, from noisy counts of single columns: bounded by construction,
    so no row is clipped. Products are sums over rows, `products_sensitivity`. A row's projection is a whole number that
    follows from noisy answers and the row alone, so it is in one cell of the grid: counts over disjoint cells.
    Rows: a grid's cell, a place in it, what components leave over as independent noise; each column is then put into
    its declared cells by rank, so that it has its own noisy counts and lies in its bounds. A missing value says nothing
    of others, nor does a column without an order.
    Source: Dwork, Talwar, Thakurta, Zhang 2014 for the components.
    """

    name = "principal-components"
    title = "Principal components"
    summary = (
        "Finds two or three directions in which numbers, dates and yes-or-no columns vary most together, and counts "
        "rows along them. Columns without an order stay independent. To learn from; trees and classes are closer."
    )
    shares = {MARGINS: Fraction(3, 10), PRODUCTS: Fraction(3, 10), GRID: Fraction(4, 10)}
    whole_rows = True
    without_pairs = "rows were counted along the directions below."
    heeds = frozenset()
    relied_on = (
        "Tables of one column are near to the truth. No pair was counted by itself: how numbers, dates and yes-or-no "
        "columns go together comes from noisy counts along a few directions through all of them, and is right as far "
        "as these directions show it. Every other column is independent of the rest in these rows."
    )
    microseconds_per_value = 0.5

    def _check(self, domain: Domain, wishes: Wishes, keep: int | None) -> None:
        ordered = ordered_columns(domain)
        if len(ordered) < 2:
            raise PlanError(
                "Principal components need at least two columns of numbers, dates or yes and no. Choose more of them, "
                "or another method."
            )
        if keep is not None and fewest_selected(domain, wishes, keep, ordered) < 2:
            raise PlanError(
                "Principal components need at least two columns of numbers, dates or yes and no, and among those that "
                "tell most there may be fewer. Keep more columns, or choose another method."
            )

    def _check_noise(self, plan: MicrodataPlan) -> None:
        products_law(len(ordered_columns(plan.domain)), plan.step(PRODUCTS))
        check_tables(1, 1, plan.step(GRID))

    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        """The noisy products, the components found, and the noisy grid.

        Raises ValueError unless as many whole rows follow the tables as these count.
        """
        columns = ordered_columns(plan.domain)
        packing, packed = split_whole_rows(plan, counts)
        graded = [grades(margins.counts[j], plan.domain.attributes[j].regular_size) for j in columns]
        law = products_law(len(columns), plan.step(PRODUCTS))
        true = products(plan.tables, counts, columns, graded)
        noisy = true + noise.draw(law, true.size)
        (of_grid,) = table_laws([1], plan.step(GRID))
        own = [margins.counts[j] for j in columns]
        fitted = components(noisy, law.variance, graded, own, of_grid.variance**0.5)
        grid = noise.draw(of_grid, fitted.cells)
        for rows in packing.blocks(packed):
            own_grades = np.column_stack([g[rows[:, j]] for j, g in zip(columns, graded, strict=True)])
            grid += np.bincount(fitted.place(own_grades), minlength=fitted.cells)
        return [noisy, *fitted.record(), grid]

    def _with_rows(
        self,
        plan: MicrodataPlan,
        result: MicrodataResult,
        margins: Margins,
        further: Sequence[Integers],
        random: np.random.Generator,
    ) -> MicrodataResult:
        _noisy, *record, grid = further
        fitted, count = Components.recorded(record), len(result.rows)
        everyone = np.zeros(count, dtype=np.int64)
        (law,) = table_laws([1], plan.step(GRID))
        cells = dealt(everyone, fitted.counts(grid, law.variance, margins.total)[None, :], random)
        rows = empty_rows(count, plan.domain.shape)
        ordered = ordered_columns(plan.domain)
        for j, values in zip(ordered, fitted.columns(cells, random), strict=True):
            regular = plan.domain.attributes[j].regular_size
            rows[:, j] = _ranked(values, margins.counts[j], regular, random)
        for j in set(range(len(plan.domain.shape))).difference(ordered):
            rows[:, j] = dealt(everyone, margins.counts[j][None, :], random)
        return replace(result, rows=rows, components=fitted)


def ordered_columns(domain: Domain) -> list[int]:
    """The places of numbers, dates and yes-or-no columns."""
    return [j for j, a in enumerate(domain.attributes) if a.ordered or isinstance(a, Boolean)]


def _ranked(values: Floats, shares: Floats, regular: int, random: np.random.Generator) -> Integers:
    """(n,) cells with the given shares: declared cells in the order of values, the missing cell to random rows."""
    counts = systematic(shares[None, :], np.array([values.size]), random)[0]
    order = np.argsort(values, kind="stable")
    missing = int(counts[regular:].sum())
    absent = np.zeros(values.size, dtype=bool)
    absent[random.permutation(values.size)[:missing]] = True
    cells = np.full(values.size, regular, dtype=np.int64)
    cells[order[~absent[order]]] = np.repeat(np.arange(regular), counts[:regular])
    return cells
