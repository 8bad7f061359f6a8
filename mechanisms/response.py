"""Randomised response: every row's value is replaced by a noisy report, and counts are estimated from reports.

Each report is ε-differentially private by itself, so the reports can be released row by row. Coins are exact
with probabilities that are multiples of 2^-32, rounded towards more privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, pure_within_zcdp
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain
from mechanisms.json_types import JsonObject
from mechanisms.noise import Noise
from mechanisms.noise.sum_quantiles import STEP
from mechanisms.protocol import Measurement, PlanError
from mechanisms.refusal import Wording

MAX_CATEGORIES = 10_000
MAX_AMOUNT = 1000
MAX_REPORT_BYTES = 2**31
# The normal law's 97.5 % quantile.
_Z = 1.959963984540054
_COIN = 2**32
_BLOCK = 2**22


@dataclass(frozen=True)
class ResponsePlan:
    """How every row reports one of `categories` values.

    keep: probability that a row reports its own value. other: probability that it reports any one given other
    value. exact_epsilon: the loss of these rational probabilities, at most the stated loss, for display.
    standard_error: of an estimated share times the square root of the rows, for a value that nobody has.
    """

    mechanism: str
    categories: int
    loss: Loss
    keep: Fraction
    other: Fraction
    exact_epsilon: float
    standard_error: float
    explanation: str

    def half_widths(self, counts: Floats, rows: int, own_variance: float = 0.0) -> Floats:
        """Half the 95 % intervals that are stated with estimated counts, in rows; rows >= 0.

        By the share within each interval that makes it widest. own_variance: as in `reach`.
        """
        shares = np.clip(counts / max(rows, 1), 0, 1)
        around = self.reach(shares, rows, own_variance)
        ends = (np.clip((counts + side * around) / max(rows, 1), 0, 1) for side in (-1, 1))
        widest: Floats = np.maximum(*(self.reach(end, rows, own_variance) for end in ends))
        return widest

    def widest(self, rows: int) -> float:
        """The most that `half_widths` states, whatever the count: reach is largest for a share of 0 or of 1."""
        return float(self.reach(np.array([0.0, 1.0]), rows).max())

    def reach(self, shares: Floats, rows: int, own_variance: float = 0.0) -> Floats:
        """Half the 95 % interval of the counts of values of these shares, in rows: wide enough for whole reports.

        own_variance: the variance that a report has whatever its row's value.

        By the normal law with a score interval's z²/4 more variance, and the part of a report by which a sum on the
        integers reaches farther than a continuous one (`noise.sums`). With it, and the widest share that the interval
        allows, exact coverage stays above 95 % from 1 row on, for noise of less than a report too.
        """
        per_report = 1 / (float(self.keep) - float(self.other))
        reached: Floats = (
            _Z * np.sqrt(rows * (self.spread(shares) + own_variance) + _Z**2 / 4) + STEP
        ) * per_report
        return reached if rows else np.zeros_like(reached)

    def spread(self, shares: Floats) -> Floats:
        """The variance of a report that says a value of such a share, the mean over all rows."""
        keep, other = float(self.keep), float(self.other)
        return shares * keep * (1 - keep) + (1 - shares) * other * (1 - other)

    def to_json(self) -> dict[str, object]:
        return {
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "loss": self.loss.to_json(),
            "keep": str(self.keep),
            "other": str(self.other),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> ResponsePlan:
        """Build a plan from what `to_json` wrote."""
        read = {"loss": Loss.from_json(value["loss"])}
        return cls(**{**value, **read, "keep": Fraction(value["keep"]), "other": Fraction(value["other"])})


@dataclass(frozen=True)
class Estimate:
    """Estimated number of rows with each value; all (k,) floats, in rows.

    counts: unbiased, so some may be negative. half_width: of the 95 % interval.
    """

    counts: np.ndarray
    standard_error: np.ndarray
    half_width: np.ndarray


def estimate_of(plan: ResponsePlan, reports: np.ndarray, rows: int, own_variance: float = 0.0) -> Estimate:
    """Counts (reports - n·other)/(keep - other), and how far off they are likely to be.

    reports: how many of n rows report each value. Given the table, the reports for a value of share f are n f coins of
    `keep` and n (1-f) of `other`; the standard error takes the estimated share, at least 0 and at most 1, for f.
    own_variance: as in `ResponsePlan.reach`.
    """
    keep, other = float(plan.keep), float(plan.other)
    counts = (reports - rows * other) / (keep - other)
    shares = np.clip(counts / max(rows, 1), 0, 1)
    standard_error = np.sqrt(rows * (plan.spread(shares) + own_variance)) / (keep - other)
    return Estimate(counts, standard_error, plan.half_widths(counts, rows, own_variance))


class Response:
    """What both ways of responding share."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})
    # Whether a report is a yes or no for every value, which `bits` unpacks, and not one of the values.
    answers_each_value: ClassVar[bool] = False

    def plan(self, domain: Domain, loss: Loss) -> ResponsePlan:
        """Decide everything without data. Raises PlanError if the loss or the number of cells does not fit.

        The number of reports shows the number of rows, so that must be public. Then neighbours differ in one report,
        whose law's probabilities differ by a factor of at most e^ε.
        """
        categories = domain.size
        if not 2 <= categories <= MAX_CATEGORIES:
            raise PlanError(
                "Randomised response needs 2 to {max_categories:,} values, not {categories:,}.",
                max_categories=MAX_CATEGORIES,
                categories=categories,
            )
        if not loss.for_domain(domain).unit.total_public:
            raise PlanError(
                "Randomised response publishes one report for each row, which shows the number of rows, and that is "
                "private here. It is public where the dataset's declaration of who is protected, made before its first "
                "release, says that a person is replaced and has one row, and no row is left out. "
                "Release a histogram of this column instead."
            )
        keep, other = self._chances(categories, odds_below(_pure_epsilon(loss)))
        if keep <= other or other == 0:
            raise PlanError(
                "{symbol} is too small for randomised response. Choose a larger one.", symbol=loss.symbol
            )
        return ResponsePlan(
            mechanism=self.name,
            categories=categories,
            loss=loss,
            keep=keep,
            other=other,
            exact_epsilon=math.log(self._odds(keep, other)),
            standard_error=_standard_error(keep, other),
            explanation=self._explanation(keep, other, loss),
        )

    def refusal(self, plan: ResponsePlan, rows: int) -> str:
        """Why so many rows, a public number here, cannot respond, and what to do; empty if they can."""
        return ""

    def measure(self, plan: ResponsePlan, codes: np.ndarray, noise: Noise) -> Measurement:
        """Report. The only step that spends the loss.

        codes: (rows,) integers in 0..categories-1. Raises ValueError if the shape, type or range does not fit, or
        if the reports would exceed 2 GiB.
        """
        if codes.ndim != 1 or not np.issubdtype(codes.dtype, np.integer):
            raise ValueError(f"codes must be a vector of integers, got {codes.dtype} of shape {codes.shape}")
        if codes.size and not 0 <= codes.min() <= codes.max() < plan.categories:
            raise ValueError(f"codes must lie in 0..{plan.categories - 1}")
        return Measurement(self._reports(plan, codes, noise))

    def report_counts(self, plan: ResponsePlan, measurement: Measurement) -> np.ndarray:
        """How many rows report each value, (categories,) int64."""
        raise NotImplementedError

    def estimate(self, plan: ResponsePlan, measurement: Measurement) -> Estimate:
        """Unbiased counts and how far off they are likely to be."""
        return estimate_of(plan, self.report_counts(plan, measurement), len(measurement.values))

    def estimate_together(self, plan: ResponsePlan, reports: Integers, rows: int, values: int) -> Estimate:
        """How many rows have one of s values, from how many reports say one of them.

        A row with one of them reports one of them with probability keep + (s-1) other, any other row with s other: an
        answer to a question of two values.
        """
        joint = replace(plan, keep=plan.keep + (values - 1) * plan.other, other=values * plan.other)
        return estimate_of(joint, reports, rows)

    def bits(self, plan: ResponsePlan, reports: np.ndarray) -> np.ndarray:
        """Reports of some rows as (rows, categories) 0 and 1, uint8; only of those that `answers_each_value`."""
        raise NotImplementedError

    def _chances(self, categories: int, odds: Fraction) -> tuple[Fraction, Fraction]:
        """The rational probabilities to keep and of any other value, at odds of at most `odds` <= e^ε."""
        raise NotImplementedError

    def _odds(self, keep: Fraction, other: Fraction) -> Fraction:
        """The largest ratio of a report's probabilities under two values."""
        raise NotImplementedError

    def _reports(self, plan: ResponsePlan, codes: np.ndarray, noise: Noise) -> np.ndarray:
        raise NotImplementedError

    def _explanation(self, keep: Fraction, other: Fraction, loss: Loss) -> str:
        raise NotImplementedError


class RandomisedResponse(Response):
    """Report the own value with probability p = e^ε/(e^ε + k - 1), else each other value alike.

    Reports: (rows,) int64 codes. Source: Warner 1965; Kairouz, Bonawitz, Ramage 2016 for k values.
    """

    name: ClassVar[str] = "randomised-response"
    title: ClassVar[str] = "Randomised response"
    summary: ClassVar[str] = "Every row reports its value or, by chance, another one; best for few values."

    def report_counts(self, plan: ResponsePlan, measurement: Measurement) -> np.ndarray:
        return np.bincount(measurement.values, minlength=plan.categories)

    def _chances(self, categories: int, odds: Fraction) -> tuple[Fraction, Fraction]:
        keep = Fraction(math.floor(odds / (odds + categories - 1) * _COIN), _COIN)
        return keep, (1 - keep) / (categories - 1)

    def _odds(self, keep: Fraction, other: Fraction) -> Fraction:
        return keep / other

    def _reports(self, plan: ResponsePlan, codes: np.ndarray, noise: Noise) -> np.ndarray:
        reports = codes.astype(np.int64)
        changed = np.flatnonzero(~noise.bernoulli(plan.keep, codes.size))
        others = noise.below(np.full(changed.size, plan.categories - 1))
        # Counting past the own value leaves each of the others as likely.
        reports[changed] = others + (others >= reports[changed])
        return reports

    def _explanation(self, keep: Fraction, other: Fraction, loss: Loss) -> str:
        return (
            f"Each row reports its own value with probability {float(keep):.4g} and any other value with "
            f"probability {float(other):.4g}, a ratio of at most e^ε, {loss}."
        )


class UnaryEncoding(Response):
    """Optimised unary encoding: a bit for each value, true with probability ½ for the own, 1/(e^ε + 1) for others.

    Reports: (rows, ⌈k/8⌉) uint8, each row's bits packed as `numpy.packbits` does; `bits` unpacks them.
    Source: Wang, Blocki, Li, Jha 2017, section 4.3.
    """

    name: ClassVar[str] = "unary-encoding"
    title: ClassVar[str] = "Randomised response, unary"
    summary: ClassVar[str] = "Every row reports a yes or no for each value; best for many values."

    answers_each_value: ClassVar[bool] = True

    def bits(self, plan: ResponsePlan, reports: np.ndarray) -> np.ndarray:
        """Packed reports of some rows as (rows, categories) 0 and 1, uint8."""
        return np.unpackbits(reports, axis=1, count=plan.categories)

    def report_counts(self, plan: ResponsePlan, measurement: Measurement) -> np.ndarray:
        totals = np.zeros(plan.categories, dtype=np.int64)
        for start in range(0, len(measurement.values), step := _rows_at_once(plan)):
            totals += self.bits(plan, measurement.values[start : start + step]).sum(axis=0, dtype=np.int64)
        return totals

    def estimate_together(self, plan: ResponsePlan, reports: Integers, rows: int, values: int) -> Estimate:
        """s - 1 of a row's answers are coins of `other` whatever it has, and add their mean and variance."""
        coins, other = values - 1, float(plan.other)
        return estimate_of(plan, reports - rows * coins * other, rows, coins * other * (1 - other))

    def _chances(self, categories: int, odds: Fraction) -> tuple[Fraction, Fraction]:
        return Fraction(1, 2), Fraction(math.ceil(_COIN / (odds + 1)), _COIN)

    def _odds(self, keep: Fraction, other: Fraction) -> Fraction:
        return keep * (1 - other) / (other * (1 - keep))

    def refusal(self, plan: ResponsePlan, rows: int) -> str:
        if rows * -(-plan.categories // 8) <= MAX_REPORT_BYTES:
            return ""
        return Wording(
            "{categories:,} answers for each of {rows:,} rows take more than {max_report_bytes:,} bytes. "
            "Choose wider bins, fewer categories, or the other way to respond.",
            categories=plan.categories,
            rows=rows,
            max_report_bytes=MAX_REPORT_BYTES,
        )

    def _reports(self, plan: ResponsePlan, codes: np.ndarray, noise: Noise) -> np.ndarray:
        width = -(-plan.categories // 8)
        if refusal := self.refusal(plan, codes.size):
            raise ValueError(refusal)
        reports = np.empty((codes.size, width), dtype=np.uint8)
        for start in range(0, codes.size, step := _rows_at_once(plan)):
            own = codes[start : start + step]
            bits = noise.bernoulli(plan.other, own.size * plan.categories).reshape(own.size, plan.categories)
            bits[np.arange(own.size), own] = noise.bernoulli(plan.keep, own.size)
            reports[start : start + step] = np.packbits(bits, axis=1)
        return reports

    def _explanation(self, keep: Fraction, other: Fraction, loss: Loss) -> str:
        return (
            f"Each row answers yes or no for every value: yes for its own with probability {float(keep):.4g}, for "
            f"any other with probability {float(other):.4g}; two of the answers depend on which value a row has, "
            f"which gives {loss}."
        )


def shuffled_codes(counts: Integers, noise: Noise) -> Integers:
    """The rows of a table with these counts, in an order that says nothing: (Σ counts,) int64.

    counts: (k,) integers >= 0. Reports made in the order of the values would give the values away.
    """
    codes = np.repeat(np.arange(counts.size), counts)
    return codes[noise.permutation(codes.size)]


def odds_below(epsilon: Fraction, digits: int = 40) -> Fraction:
    """A rational number at most e^ε, equal to it in `digits` digits.

    Python's decimal `exp` is correctly rounded, so the number before its result lies below e^ε.
    """
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    exponent = context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    return Fraction(context.next_minus(context.exp(exponent)))


def _pure_epsilon(loss: Loss) -> Fraction:
    if loss.amount > MAX_AMOUNT:
        raise PlanError(
            "{symbol} = {float:g} protects nobody. Choose at most {max_amount}.",
            symbol=loss.symbol,
            float=float(loss.amount),
            max_amount=MAX_AMOUNT,
        )
    if loss.definition is Definition.PURE:
        return loss.amount
    try:
        return pure_within_zcdp(loss.amount)
    except ValueError as error:
        raise PlanError(
            "{symbol} is too small for randomised response. Choose a larger one.", symbol=loss.symbol
        ) from error


def _standard_error(keep: Fraction, other: Fraction) -> float:
    """√(n Var) of an estimated share of nobody."""
    p, q = float(keep), float(other)
    return math.sqrt(q * (1 - q)) / (p - q)


def _rows_at_once(plan: ResponsePlan) -> int:
    return max(1, _BLOCK // plan.categories)
