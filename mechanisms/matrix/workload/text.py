"""From the text form of a workload to its queries over a domain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

from mechanisms.domain import Domain
from mechanisms.matrix.workload.factor import (
    MAX_ENTRY,
    AllRange,
    Explicit,
    Factor,
    Identity,
    Prefix,
    Width,
    within_range,
)
from mechanisms.matrix.workload.notation import NotationPart, ProductTerm, parse, quoted
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.protocol import PlanError

MAX_TERMS = 10**6
Matrices = Mapping[str, Explicit]


def read_workload(text: str, domain: Domain, matrices: Matrices | None = None) -> Workload:
    """The workload that a text describes over a domain (see `notation`); its `text` is the tidied form.

    matrices: uploaded queries by the digest that names them. Where nothing is uploaded, the same text and domain give
    the same object. Queries uploaded over all cells of several columns make a workload of one axis, of the domain's
    size. Raises PlanError with the place, or the column, of what does not fit.
    """
    return _read(text, domain, matrices) if matrices else _remembered(text, domain)


@lru_cache(maxsize=32)
def _remembered(text: str, domain: Domain) -> Workload:
    return _read(text, domain, {})


def _read(text: str, domain: Domain, matrices: Matrices) -> Workload:
    products = parse(text)
    tidy = " + ".join(map(str, products))
    if any(part.kind == "uploaded" and not part.columns for product in products for part in product.parts):
        return _over_all_cells(products, domain, matrices, tidy)
    reader = _Expansion(domain, matrices)
    _check_number(reader.count(product) for product in products)
    return Workload(domain.shape, tuple(t for product in products for t in reader.terms(product)), tidy)


def _check_number(counts: Iterator[int]) -> None:
    if (number := sum(counts)) > MAX_TERMS:
        raise PlanError(
            "The workload asks for {number:,} tables; at most {max_terms:,} can be answered together. "
            "Lower the number of columns in a table, or name fewer columns.",
            number=number,
            max_terms=MAX_TERMS,
        )


def _over_all_cells(
    products: tuple[ProductTerm, ...], domain: Domain, matrices: Matrices, text: str
) -> Workload:
    if len(products) > 1 or len(products[0].parts) > 1:
        raise PlanError(
            "Uploaded queries over all cells stand alone. Release the other queries by themselves, or name the column "
            'whose cells were uploaded, as in uploaded("…", "age").'
        )
    matrix = _uploaded(products[0].parts[0], domain.size, matrices)
    numbered = matrix.names or tuple(f"query {i:,}" for i in range(1, matrix.queries + 1))
    term = Term(float(products[0].weight), {0: replace(matrix, names=numbered)})
    return Workload((domain.size,), (term,), text)


def _uploaded(part: NotationPart, cells: int, matrices: Matrices) -> Explicit:
    matrix = matrices.get(part.digest)
    if matrix is None:
        raise PlanError(
            "No uploaded queries are known as {digest}…. Upload the file again.", digest=part.digest[:12]
        )
    if matrix.queries == 0:
        raise PlanError("The uploaded file holds no queries. Upload one row for each query.")
    if matrix.size != cells:
        raise PlanError(
            "The uploaded queries have {size:,} columns; the chosen columns have {cells:,} cells. Upload "
            "one number for every cell, in the order in which the cells are listed.",
            size=matrix.size,
            cells=cells,
        )
    if not within_range(matrix.matrix):
        raise PlanError(
            "The uploaded queries hold numbers larger than {max_entry:,} or nearer to 0 than "
            "1/{max_entry:,}. Write them in other units.",
            max_entry=MAX_ENTRY,
        )
    return matrix


class _Expansion:
    """Products into terms over a domain; factors of the same column are shared."""

    def __init__(self, domain: Domain, matrices: Matrices) -> None:
        self._shape, self._matrices = domain.shape, matrices
        self._axes = {name: axis for axis, name in enumerate(domain.names)}
        self._identities = [Identity(n) for n in domain.shape]

    def count(self, product: ProductTerm) -> int:
        """How many terms a product will have, before any is made."""
        part = product.parts[0]
        if part.kind != "marginals":
            return 1
        columns = len(self._marginal_axes(part))
        return sum(math.comb(columns, k) for k in self._sizes(part))

    def terms(self, product: ProductTerm) -> Iterator[Term]:
        weight, part = float(product.weight), product.parts[0]
        if part.kind == "marginals":
            for size in self._sizes(part):
                for axes in combinations(self._marginal_axes(part), size):
                    yield Term(weight, {axis: self._identities[axis] for axis in axes})
        else:
            yield Term(weight, dict(sorted(f for part in product.parts for f in self._factors(part))))

    def _sizes(self, part: NotationPart) -> range:
        columns = len(self._marginal_axes(part))
        if part.number > columns:
            raise PlanError(
                "The workload asks for tables of {number} columns, and there are {columns} to choose from. "
                "Ask for at most {columns}.",
                number=part.number,
                columns=columns,
            )
        return range(part.number if part.exact else 1, part.number + 1)

    def _marginal_axes(self, part: NotationPart) -> list[int]:
        return sorted(map(self._axis, part.columns)) or list(range(len(self._shape)))

    def _axis(self, column: str) -> int:
        if column not in self._axes:
            raise PlanError(
                "The workload asks about {quoted}, which is not among the chosen columns ({names}). Choose "
                "that column too, or leave it out of the workload.",
                quoted=quoted(column),
                names=", ".join(list(self._axes)[:20]),
            )
        return self._axes[column]

    def _factors(self, part: NotationPart) -> list[tuple[int, Factor]]:
        axes = list(map(self._axis, part.columns))
        if part.kind in ("identity", "marginal"):
            return [(axis, self._identities[axis]) for axis in axes]
        return [(axis, self._factor(part, axis)) for axis in axes]

    def _factor(self, part: NotationPart, axis: int) -> Factor:
        cells = self._shape[axis]
        if part.kind == "uploaded":
            return _uploaded(part, cells, self._matrices)
        if part.kind == "width":
            if part.number > cells:
                raise PlanError(
                    "The workload asks for ranges of {number:,} cells of {quoted}, which has {cells:,}. Ask for "
                    "at most {cells:,}.",
                    number=part.number,
                    quoted=quoted(part.columns[0]),
                    cells=cells,
                )
            return Width(cells, part.number)
        return Prefix(cells) if part.kind == "prefix" else AllRange(cells)
