"""Which sums are measured of a column: what a row adds to each, how far one moves them, and what is read out of them.

t = v/W is a value's place between the bounds. U, a unit, is what a row adds in all to plain Bernstein sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from mechanisms.accounting import Definition, PrivacyUnit
from mechanisms.arrays import Floats
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity, unit_sensitivity

HALF = Fraction(1, 2)
# By how much the middle one of three Bernstein sums is weighted under ρ.
MIDDLE = Fraction(7, 4)


@dataclass(frozen=True)
class Readings:
    """How many have a value, Σt, Σt² and how many have none, each as weights of the sums over the unit, (degree + 2,).

    second: None where only the first moment is measured.
    """

    number: Floats
    first: Floats
    second: Floats | None
    missing: Floats


class Basis(Protocol):
    """The sums 0 … degree of rows with a value, and the one after them, for those without. All are whole numbers."""

    @property
    def quiet(self) -> int:
        """How many of the first sums are public, and have no noise."""

    @property
    def divisor(self) -> int:
        """A unit over W^degree is a multiple of this."""

    def sums(self, degree: int, steps: int, times: int, powers: np.ndarray) -> list[np.ndarray]:
        """The sums, (degree + 2) times (groups,) Python integers. times: the unit over W^degree.

        powers: (4, groups), Σ1, Σv, Σv² of values v, and how many have none.
        """

    def readings(self, degree: int) -> Readings: ...

    def moved(self, degree: int, unit: PrivacyUnit, row: int, at_bound: int) -> Sensitivity:
        """How far one person moves the sums. row: a unit; at_bound: what a value at a bound adds to its bound's sum."""

    def to_json(self) -> dict[str, object]: ...


@dataclass(frozen=True)
class Bernstein:
    """C(d,k) t^k (1-t)^(d-k) of the unit for k = 0 … d, which add up to it; U to a sum of its own without a value.

    middle: β >= 1, by which the middle one of three is weighted, β² <= 7/2.

    Sensitivity: let c be what a row at t = 0 or t = 1 adds to that bound's sum besides. All are at least 0. With β = 1,
    ‖a‖₁ <= U + c, reached at a bound, and ‖a‖₂² <= U² + c²: squares of numbers that are not negative add up to at most
    the square of their sum, and t = 0 has all of U in one sum. Two rows' vectors have an inner product of at least 0,
    so ‖a - a'‖₁ <= 2(U + c) and ‖a - a'‖₂² <= 2(U² + c²), both reached by t = 0 and t = 1, or by two groups.

    With three sums and h = 4t(1-t), the middle one is h/2, and the others' squares add up to (1 - h/2)² - h²/8. So
    ‖a‖₂² = U² (1 - h + h² (1/8 + β²/4)), which is convex in h, 1 for h = 0, and at most 1 for h = 1 as long as
    β² <= 7/2. So a middle sum of β times the size costs nothing in L2, and its noise weighs 1/β: under ρ alone. In L1
    the sums are 1 + (β-1) h/2 <= (1 + β)/2, which with c at the bounds is at most the larger of that and 1 + c.
    """

    middle: Fraction = Fraction(1)
    name: ClassVar[str] = "bernstein"
    quiet: ClassVar[int] = 0

    @property
    def divisor(self) -> int:
        return self.middle.denominator

    def sums(self, degree: int, steps: int, times: int, powers: np.ndarray) -> list[np.ndarray]:
        number, first, second, missing = powers
        without = times * steps**degree * missing
        if degree == 1:
            return [times * (steps * number - first), times * first, without]
        outer = times * (steps * steps * number - 2 * steps * first + second)
        return [outer, int(times * self.middle) * (2 * steps * first - 2 * second), times * second, without]

    def readings(self, degree: int) -> Readings:
        places = np.eye(degree + 2)
        if degree == 2:
            places[1] /= float(self.middle)
        bernstein = places[: degree + 1]
        # Σt, of which each sum k has k/d.
        first = np.arange(degree + 1) / degree @ bernstein
        return Readings(bernstein.sum(axis=0), first, bernstein[-1] if degree == 2 else None, places[-1])

    def moved(self, degree: int, unit: PrivacyUnit, row: int, at_bound: int) -> Sensitivity:
        longest = row + at_bound
        if degree == 2:
            longest = max(longest, int(row * (1 + self.middle) / 2))
        norms = Sensitivity(longest, row**2 + at_bound**2)
        return unit_sensitivity(unit, norms, Sensitivity(2 * norms.l1, 2 * norms.l2_squared))

    def to_json(self) -> dict[str, object]:
        return {"name": self.name, "middle": str(self.middle)}


@dataclass(frozen=True)
class Centred:
    """Of one group with a public number of rows: that number, Σt, Σβ t(1-t) and those without a value.

    The number is public, so it costs nothing and has no noise. A row without a value adds U/2 to the second sum, as one
    in the middle of the range, `offset` of U to the third, and `absent` of U to a sum of its own.

    Sensitivity: one row becomes another, whose t differs by x, and whose t and its own add up to s. As both lie in
    0..1, |1-s| <= 1-x. The third sums differ by βx|1-s|. In L1, with β = 1: x + x|1-s| <= x(2-x) <= 1. In L2, with
    β = 3: x² (1 + 9(1-s)²) <= x² (1 + 9(1-x)²) <= 1, for with y = 1-x the last says 9y(1-y)² <= 2-y, whose left side is
    at most 4/3 everywhere, and at most y for y >= 2/3. From a row with a value to one without, in L1 with offset 0 and
    absent 1/2: |t-1/2| + t(1-t) + 1/2 <= 1, as the sum of the first two grows up to the bounds. In L2 with offset 1/4,
    absent 13/16 and z = (t-1/2)²: z + (1/2-3z)² + 169/256 is convex in z, 5/16 + 169/256 < 1 at a bound and less in the
    middle. A value at a bound adds c to that bound's sum, of which two rows can move both. So Δ₁ = U + 2c and
    Δ₂² = U² + 2c², reached by t = 0 and t = 1.
    """

    curve: int
    offset: Fraction
    absent: Fraction
    name: ClassVar[str] = "centred"
    quiet: ClassVar[int] = 1
    divisor: ClassVar[int] = 16

    @classmethod
    def under(cls, definition: Definition) -> Centred:
        """The one that a loss pays for."""
        if definition is Definition.PURE:
            return cls(1, Fraction(0), HALF)
        return cls(3, Fraction(1, 4), Fraction(13, 16))

    def sums(self, degree: int, steps: int, times: int, powers: np.ndarray) -> list[np.ndarray]:
        number, first, second, missing = powers
        row = times * steps**degree
        # The values' own weight: of degree 2 a unit is W times as large.
        sums = [row * (number + missing), row // steps * first + row // 2 * missing]
        if degree == 2:
            sums.append(times * self.curve * (steps * first - second) + int(row * self.offset) * missing)
        return [*sums, int(row * self.absent) * missing]

    def readings(self, degree: int) -> Readings:
        places = np.eye(degree + 2)
        missing = places[-1] / float(self.absent)
        first = places[1] - missing / 2
        second = None
        if degree == 2:
            second = first - (places[2] - float(self.offset) * missing) / self.curve
        return Readings(places[0] - missing, first, second, missing)

    def moved(self, degree: int, unit: PrivacyUnit, row: int, at_bound: int) -> Sensitivity:
        assert unit.total_public
        # Under ρ, where no noise goes by it, a bound: 4/3 between values, 25/16 from a bound to no value.
        l1 = row if self.curve == 1 else 2 * row
        replaced = Sensitivity(l1 + 2 * at_bound, row**2 + 2 * at_bound**2)
        return unit_sensitivity(unit, replaced, replaced)

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "curve": self.curve,
            "offset": str(self.offset),
            "absent": str(self.absent),
        }


def basis_from_json(value: JsonObject | None) -> Basis:
    """Build a basis from what `to_json` wrote; plans of older versions have the plain one, and say nothing of it."""
    if value is None:
        return Bernstein()
    if value["name"] == Centred.name:
        return Centred(value["curve"], Fraction(value["offset"]), Fraction(value["absent"]))
    return Bernstein(Fraction(value["middle"]))


def bases_for(definition: Definition, degree: int, *, public_number: bool) -> tuple[Basis, ...]:
    """Bases in the order of their error; finer ones need more room. public_number: of one group, whose rows are."""
    bases: list[Basis] = []
    if public_number:
        bases.append(Centred.under(definition))
    if definition is Definition.ZCDP and degree == 2:
        bases.append(Bernstein(MIDDLE))
    return (*bases, Bernstein())
