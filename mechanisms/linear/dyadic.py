"""Dyadic blocks of a line of cells, and how much of a workload lies in each of their scales.

A line of n cells is padded with empty cells to N = 2^K. For e = 0..K let U_e be the vectors that are constant
on the aligned blocks of 2^e cells, V_K = U_K (the constants) and V_e = U_e less U_{e+1} for e < K: the
differences between the two halves of a block of 2^(e+1). The V_e are orthogonal and together everything. The
*energy* of a query q at scale e is the squared length of its part in V_e. A strategy A whose Gram matrix AᵀA
has V_e as its eigenspaces, with eigenvalues λ_e, answers q with variance σ² Σ_e energy_e / λ_e.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from mechanisms.protocol import Parameter

PURPOSE = Parameter(
    name="purpose",
    label="What the release is for",
    help="The noise is laid where it matters least for these answers; all others can still be read off.",
    default="ranges",
    choices=(
        ("cells", "Single cells"),
        ("ranges", "The number of people in any range of cells"),
        ("totals", "Running totals from the first cell"),
    ),
)


def scales(cells: int) -> int:
    """K: the least with 2^K >= cells."""
    return (cells - 1).bit_length()


@lru_cache(maxsize=256)
def workload_energies(purpose: str, cells: int) -> tuple[float, ...]:
    """Mean energy of the queries of a purpose at the scales 0..K.

    purpose: "cells", "ranges" (all n(n+1)/2 of them) or "totals" (all n prefixes). Closed forms, O(log n).
    Raises ValueError for another purpose.
    """
    if purpose == "cells":
        return _energies([Fraction(1, 2**e) for e in range(scales(cells) + 1)])
    if purpose not in ("ranges", "totals"):
        raise ValueError(f"no purpose {purpose!r}")
    part = _prefix_part if purpose == "totals" else _range_part
    return _energies([part(cells, 2**e) for e in range(scales(cells) + 1)])


def range_energies(start: int, stop: int, top: int) -> tuple[float, ...]:
    """Energies of the sum over the cells start..stop-1 among 2^top cells, in O(top)."""
    if not 0 <= start <= stop <= 2**top:
        raise ValueError(f"a range needs 0 <= start <= stop <= {2**top}, got {start}..{stop}")
    return _energies([_overlap(start, stop, 2**e) for e in range(top + 1)])


def _energies(parts: Sequence[Fraction]) -> tuple[float, ...]:
    """From the squared lengths in U_0, U_1, ... to those in V_0, V_1, ..."""
    return tuple(float(fine - coarse) for fine, coarse in zip(parts, [*parts[1:], Fraction(0)], strict=True))


def _overlap(start: int, stop: int, size: int) -> Fraction:
    """Σ over blocks of (cells of the range in the block)² / size."""
    first, last = start // size, stop // size
    if first == last:
        return Fraction((stop - start) ** 2, size)
    head, tail = (first + 1) * size - start, stop - last * size
    return (last - first - 1) * size + Fraction(head**2 + tail**2, size)


def _prefix_lengths(cells: int, size: int) -> Fraction:
    """Σ over the prefixes t = 0..n of the squared length in U_e of the first t cells, ⌊t/s⌋ s + (t mod s)²/s."""
    complete, rest = divmod(cells, size)
    squares = complete * _squares(size - 1) + _squares(rest)
    return size * size * _sum(complete - 1) + (rest + 1) * complete * size + Fraction(squares, size)


def _prefix_part(cells: int, size: int) -> Fraction:
    return _prefix_lengths(cells, size) / cells


def _range_part(cells: int, size: int) -> Fraction:
    """A range is a difference of two of the prefixes p_0..p_n: Σ‖p_j - p_i‖² = (n+1) Σ‖p_t‖² - ‖Σ p_t‖².

    Cell i is in n - i prefixes; a block of s cells from bs on sums that to s (c - sb), c = n - (s-1)/2.
    """
    complete, rest = divmod(cells, size)
    c = cells - Fraction(size - 1, 2)
    blocks = complete * c**2 - 2 * c * size * _sum(complete - 1) + size**2 * _squares(complete - 1)
    total = (cells + 1) * _prefix_lengths(cells, size) - size * blocks - Fraction(_sum(rest) ** 2, size)
    return total / (cells * (cells + 1) // 2)


def _sum(n: int) -> int:
    """1 + 2 + ... + n; 0 for n < 1."""
    return n * (n + 1) // 2


def _squares(n: int) -> int:
    """1 + 4 + ... + n²; 0 for n < 1."""
    return n * (n + 1) * (2 * n + 1) // 6
