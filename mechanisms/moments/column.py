"""A numeric column as whole steps above its lower bound: what is added up of each row."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.accounting import plainly
from mechanisms.domain import Attribute, Date, Domain, DomainError, Integer, Real
from mechanisms.json_types import JsonObject
from mechanisms.protocol import PlanError
from mechanisms.refusal import Wording

# Steps from bound to bound: edges of decimals are compared one by one, and squares of steps must leave room in 64 bits.
MAX_STEPS = 100_000
EPOCH = dt.date(1970, 1, 1)
# How files call the unit of a mean of dates.
DAYS_SINCE = "days since 1970-01-01"


@dataclass(frozen=True)
class MeasuredColumn:
    """A declared column of whole numbers, decimals or dates, counted in whole steps: v = ⌊(x - lower)/step⌋.

    v lies in 0..`steps`: values beyond a bound count as the bound. step: in the column's unit, of dates in days.
    """

    attribute: Integer | Real | Date
    step: Fraction

    @classmethod
    def of(cls, attribute: Attribute, step: Fraction | None = None) -> MeasuredColumn:
        """A declared column with a step, or with the usual one. Raises PlanError if it cannot be measured so."""
        if not isinstance(attribute, Integer | Real | Date):
            raise PlanError(
                "{name} is not a column of numbers or dates, so it has no mean. Choose another column.",
                name=attribute.name,
            )
        column = cls(attribute, usual_step(attribute) if step is None else step)
        if refusal := column._refusal():
            raise PlanError(refusal)
        return column

    def _refusal(self) -> str:
        name, step = self.attribute.name, self.step
        if step <= 0:
            return Wording("{name}: the step must be above 0.", name=name)
        if not isinstance(self.attribute, Real) and step.denominator != 1:
            return Wording("{name}: the step must be a whole number.", name=name)
        if self.is_date and step != 1:
            return Wording("{name}: dates are counted in days; the step must be 1.", name=name)
        if not self.range:
            return Wording(
                "{name}: its limits are the same number, so there is nothing to measure. Leave it out.",
                name=name,
            )
        if self.steps < 1:
            return Wording(
                "{name}: the step is larger than the range between its limits. Choose a smaller step.",
                name=name,
            )
        if self.steps > MAX_STEPS:
            return self._too_fine()
        try:
            self.reading  # noqa: B018 its declaration may be refused, as of steps that no two numbers tell apart
        except DomainError as refusal:
            return str(refusal)
        return ""

    @property
    def lower(self) -> Fraction:
        """The lower bound, exactly as it was typed; a date as its days since 1970."""
        return _number(self.attribute.lower)

    @property
    def range(self) -> Fraction:
        """From bound to bound."""
        return _number(self.attribute.upper) - self.lower

    @property
    def steps(self) -> int:
        """W: the largest v."""
        return int(self.range // self.step)

    @property
    def is_two_valued(self) -> bool:
        """Whether whole steps are both bounds alone, so that their mean m in 0..1 has the variance m(1 - m)."""
        return self.steps == 1

    @property
    def top(self) -> Fraction:
        """The value of W steps: the upper bound, or less where the step does not divide the range."""
        return self.lower + self.steps * self.step

    @property
    def floor_error(self) -> float:
        """By how much a value may be above its whole step, in the column's unit: nothing where every value is one."""
        step = float(self.step)
        return step if isinstance(self.attribute, Real) else step - 1

    @property
    def possible_totals(self) -> tuple[float, float]:
        """Between which totals of any number of people lie: none is below 0 where no value is."""
        return (0.0 if self.lower >= 0 else -math.inf), (0.0 if self.lower + self.range <= 0 else math.inf)

    def _too_fine(self) -> str:
        """With a step that is large enough; days have none to choose."""
        if self.is_date:
            return Wording(
                "{name}: its limits are {steps:,} days apart; at most {max_steps:,} can be measured. Declare limits "
                "that are closer.",
                name=self.attribute.name,
                steps=self.steps,
                max_steps=MAX_STEPS,
            )
        needed = _rounded_up(self.range / MAX_STEPS, is_integer=isinstance(self.attribute, Integer))
        return Wording(
            "{name}: its limits are {steps:,} steps apart; at most {max_steps:,} can be measured. Choose a step of at "
            "least {needed}.",
            name=self.attribute.name,
            steps=self.steps,
            max_steps=MAX_STEPS,
            needed=plainly(needed),
        )

    @property
    def is_date(self) -> bool:
        """Whether its values are days, which have a mean and no total."""
        return isinstance(self.attribute, Date)

    @property
    def mean_unit(self) -> str:
        """The unit of a mean in files; empty of a number, whose own it has."""
        return DAYS_SINCE if self.is_date else ""

    @property
    def bound_texts(self) -> tuple[str, str]:
        """The lower bound and the largest value, as people write them."""
        if self.is_date:
            return day_of(float(self.lower)).isoformat(), day_of(float(self.top)).isoformat()
        return plainly(self.lower), plainly(self.top)

    @property
    def first_step_end(self) -> str:
        """Below which values count as the lower bound, as people write it; empty where no value lies between them."""
        return plainly(self.lower + self.step) if self.floor_error else ""

    @property
    def reading(self) -> Attribute:
        """The same column declared so that a value's cell is its v, and the last cell is for missing values."""
        a, source = self.attribute, self.attribute.source
        if isinstance(a, Date):
            return Date(a.name, True, a.lower, a.upper, "day", source=source)
        if isinstance(a, Integer):
            return Integer(a.name, True, a.lower, int(self.top), width=int(self.step), source=source)
        return Real(a.name, True, a.lower, float(self.top + self.step), bins=self.steps + 1, source=source)

    def to_json(self) -> dict[str, object]:
        return {"attribute": self.attribute.to_json(), "step": str(self.step)}

    @classmethod
    def from_json(cls, value: JsonObject) -> MeasuredColumn:
        """Build a column from what `to_json` wrote."""
        (attribute,) = Domain.from_json([value["attribute"]]).attributes
        assert isinstance(attribute, Integer | Real | Date)
        return cls(attribute, Fraction(value["step"]))


def usual_step(attribute: Integer | Real | Date) -> Fraction:
    """As fine as can be: 1 of days and whole numbers, or 2 or 5 or 1 times a power of ten; of decimals a power of ten.

    A mean is told of values that are rounded down to whole steps.
    """
    finest = (_number(attribute.upper) - _number(attribute.lower)) / MAX_STEPS
    if isinstance(attribute, Date) or (isinstance(attribute, Integer) and finest <= 1):
        return Fraction(1)
    power = Fraction(1)
    while power > finest:
        power /= 10
    while power * 10 <= finest:
        power *= 10
    multiples = (1, 10) if isinstance(attribute, Real) else (1, 2, 5, 10)
    return next(power * m for m in multiples if power * m >= finest)


def day_of(days: float) -> dt.date:
    """The day that holds so many days since 1970."""
    return EPOCH + dt.timedelta(math.floor(days))


def _number(value: float | dt.date) -> Fraction:
    """A declared bound as the exact number that was typed; a date as its days since 1970."""
    return Fraction((value - EPOCH).days) if isinstance(value, dt.date) else Fraction(repr(value))


def _rounded_up(number: Fraction, *, is_integer: bool) -> Fraction:
    """To two digits, or to a whole number. number: above 0."""
    unit = Fraction(10) ** (math.floor(math.log10(number)) - 1)
    unit = max(unit, Fraction(1)) if is_integer else unit
    return math.ceil(number / unit) * unit
