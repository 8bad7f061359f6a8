"""A row that holds no pair of cells that cannot occur, if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mechanisms.microdata.impossible import Impossible

# Of sets of cells that the search may narrow: about a tenth of a second. Without data, so the same everywhere.
MOST_STEPS = 60_000


class SearchEndedError(Exception):
    """The search took as many steps as it may: there may be a row or none."""


def possible_row(shape: Sequence[int], impossible: Impossible) -> list[int] | None:
    """A row that holds no impossible pair, 0 in columns that none concerns; None: there is none.

    Cells are sets of bits. A column with a cell that clashes with none that is left takes it, and makes no difference
    any more; of the others that with the fewest cells comes first, and what a cell excludes leaves the columns to come.
    Raises SearchEndedError if the search would take too long.
    """
    search = _RowSearch(shape, impossible)
    left = {column: (1 << shape[column]) - 1 for column in impossible.by_column}
    result = search.row(left)
    return None if result is None else [result.get(column, 0) for column in range(len(shape))]


class _RowSearch:
    """excluded: by column and cell, the cells of other columns that it excludes, as bits."""

    def __init__(self, shape: Sequence[int], impossible: Impossible) -> None:
        self._steps = 0
        self._excluded: dict[int, dict[int, dict[int, int]]] = {}
        for column, clashes in impossible.by_column.items():
            cells: dict[int, dict[int, int]] = {}
            for own, other, cell in clashes:
                others = cells.setdefault(own, {})
                others[other] = others.get(other, 0) | 1 << cell
            self._excluded[column] = cells

    def row(self, left: dict[int, int]) -> dict[int, int] | None:
        """Cells for all columns from those that are left to each, or None."""
        taken, left = self._harmless(left)
        if not left:
            return taken
        column = min(left, key=lambda j: (left[j].bit_count(), j))
        for cell in _bits(left[column]):
            narrowed = self._narrowed(left, column, cell)
            if narrowed is not None and (result := self.row(narrowed)) is not None:
                return {**taken, **result, column: cell}
        return None

    def _harmless(self, left: dict[int, int]) -> tuple[dict[int, int], dict[int, int]]:
        """Cells that exclude nothing of what is left, by column, and what then is left to the other columns."""
        taken: dict[int, int] = {}
        before = -1
        while before != len(taken):
            before = len(taken)
            for column in sorted(left):
                cell = next(
                    (cell for cell in _bits(left[column]) if self._excludes_none(left, column, cell)), None
                )
                if cell is not None:
                    left = {other: cells for other, cells in left.items() if other != column}
                    taken[column] = cell
        return taken, left

    def _excludes_none(self, left: dict[int, int], column: int, cell: int) -> bool:
        others = self._excluded[column].get(cell, {})
        self._step(1 + len(others))
        return not any(left.get(other, 0) & excluded for other, excluded in others.items())

    def _narrowed(self, left: dict[int, int], column: int, cell: int) -> dict[int, int] | None:
        """What is left to the other columns once a column has a cell; None if one has nothing left."""
        self._step(len(left))
        narrowed = {other: cells for other, cells in left.items() if other != column}
        for other, excluded in self._excluded[column].get(cell, {}).items():
            if other in narrowed:
                narrowed[other] &= ~excluded
                if not narrowed[other]:
                    return None
        return narrowed

    def _step(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise SearchEndedError


def _bits(cells: int) -> Iterator[int]:
    while cells:
        yield (cells & -cells).bit_length() - 1
        cells &= cells - 1
