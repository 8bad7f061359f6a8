"""Whether noisy counts are expected to be of use, from the plan and the curator's number of people."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from django.utils.translation import gettext as _

from dpportal.charts.counted_word import counted_word
from dpportal.publications.verdict import (
    MARGINS,
    SHARES,
    Typical,
    Verdict,
    VerdictLevel,
    expected_text,
    is_doubted,
    level_of,
    level_of_cells,
    rounded,
    useful_width,
)
from dpportal.releases.models import Release
from dpportal.releases.products.shared.average_group import average_people, declared_cells
from mechanisms.calibration import count_law
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, NoiseLaw
from mechanisms.protocol import Plan
from mechanisms.sensitivity import histogram_sensitivity

# The share of the domain that has to be summed up until a sum stands out from its noise.
BLOCKS = (1 / 20, 1 / 4)
# The few cells that may hold nearly all people.
FEW = 4
# A sum stands out if it is twice the half of its 95 % interval.
_STANDS_OUT = 2 * 1.96
# Halvings, on a scale of logarithms, of where a divisor of noise may lie.
STEPS = 12


def expected(plan: Plan, people: int, purpose: str) -> Verdict:
    """Before anything is spent. A method whose error depends on the data is judged by plain noise, and mildly.

    Where not even a few cells that hold all people would stand out from noise, no method finds them, and plain noise,
    which such a method may choose, is no worse.
    """
    sigma = plan.standard_error
    if sigma is None:
        plain = count_law(plan.loss, histogram_sensitivity(plan.loss.unit))
        half_width = plain.half_width()
        verdict = _by_purpose(plan, plain.standard_error, half_width, people, purpose, plain)
        return _mild(verdict) if half_width < people / min(FEW, plan.domain.size) else verdict
    law = plan.noise if sigma == plan.noise.standard_error else None
    return _by_purpose(plan, sigma, plan.half_width, people, purpose, law)


def _by_purpose(
    plan: Plan, sigma: float, half_width: int | None, people: int, purpose: str, law: NoiseLaw | None
) -> Verdict:
    """sigma, half_width: the standard error of a cell, and half of its 95 % interval, in people.

    law: of the noise that each cell has of its own; None where they share noise.
    """
    if purpose == Release.Purpose.CELLS:
        return _of_cells(plan, sigma, half_width, people, law)
    return _of_sums(sigma, declared_cells(plan.domain), people)


def _of_cells(plan: Plan, sigma: float, half_width: int | None, people: int, law: NoiseLaw | None) -> Verdict:
    absolute = law.mean_absolute if law else math.sqrt(2 / math.pi) * sigma
    share = plan.domain.size * absolute / (2 * people)
    margin = 1.96 * sigma if half_width is None else half_width
    typical = Typical(average_people(people, plan.domain), margin, _("a typical cell"))
    level = level_of_cells(share, typical.half_width / typical.answer)
    text = _(
        "Noise will misplace %(percent)s of the %(counted)s; a typical cell has %(size)s, ± %(interval)s."
    ) % {
        "percent": expected_text(min(share, 1.0)),
        "counted": counted_word(plan.loss.unit.max_rows),
        "size": rounded(typical.answer),
        "interval": rounded(typical.half_width),
    }
    if level is VerdictLevel.USELESS:
        text = _("Most cells would hold noise only.") + " " + text
    most = SHARES[0] * 2 * people / plan.domain.size
    calmer = 1.0 if level is VerdictLevel.USEFUL else _calmer(absolute, most, typical, law)
    return Verdict(level, text, calmer, typical)


def _calmer(absolute: float, most: float, typical: Typical, law: NoiseLaw | None) -> float:
    """By what the scale of noise must be divided until its mean absolute value and its margin are of use.

    absolute, most: the mean absolute value that the noise has, and may have at most.

    Noise in whole people soon is none at all as it becomes less than one, so the least divisor is looked for.
    """
    useful = useful_width(typical.answer, MARGINS[0])
    low, high = 1.0, max(1.0, absolute / most, typical.half_width / useful)
    for _attempt in range(STEPS if law else 0):
        middle = math.sqrt(low * high)
        scaled = _scaled(law, middle)
        is_narrow = scaled.half_width() <= MARGINS[0] * typical.answer
        enough = is_narrow and scaled.mean_absolute <= most
        low, high = (low, middle) if enough else (middle, high)
    return high


def _scaled(law: NoiseLaw | None, by: float) -> NoiseLaw:
    if isinstance(law, DiscreteLaplace):
        return DiscreteLaplace(law.scale / Fraction(by))
    assert isinstance(law, DiscreteGaussian)
    return DiscreteGaussian(law.variance_parameter / Fraction(by) ** 2)


def _of_sums(sigma: float, cells: int, people: int) -> Verdict:
    """A sum of k cells of average size is kn/m, its standard error at most σ√k."""
    block = (_STANDS_OUT * sigma * cells / people) ** 2
    level = level_of(block / cells, BLOCKS)
    if block > cells:
        text = _("Not even the sum of all cells would stand out from its noise.")
    else:
        text = _(
            "A sum over about %(block)s neighbouring cells of average size, of %(cells)s, stands out from its noise; "
            "smaller sums may not."
        ) % {"block": f"{max(1, math.ceil(block)):,}", "cells": f"{cells:,}"}
    return Verdict(level, text, max(1.0, math.sqrt(block / cells / BLOCKS[0])))


def _mild(verdict: Verdict) -> Verdict:
    """Doubtful at worst: where people crowd into few cells, such a method does better than plain noise."""
    if not is_doubted(verdict):
        return verdict
    caveat = _(
        "How far off this method is depends on the data, and it does better than plain noise where a few cells "
        "hold nearly all. Of plain noise:"
    )
    return replace(verdict, level=VerdictLevel.DOUBTFUL, text=f"{caveat} {verdict.text}")
