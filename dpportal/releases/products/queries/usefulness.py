"""Whether the answers of a workload are expected to be of use: the middle one of them, and the smallest."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.publications.verdict import (
    MARGINS,
    Typical,
    Verdict,
    VerdictLevel,
    of_answers,
    rounded,
    useful_width,
)
from mechanisms.matrix.workload.union import Workload


def expected(half_width: float, people: int, workload: Workload, unit: str) -> Verdict:
    """Of answers ± half_width, if so many people were spread evenly. unit: what is counted.

    A typical answer is the middle one by size: of all ranges the large ones would outweigh all others in a mean. What
    is asked is of use where the small ones tell something, too: the smallest may be coarse, and no less.
    """
    each = people / workload.cells
    typical, smallest = (each * size for size in workload.even_sizes)
    name = _("A typical answer, if %(counted)s were spread evenly,") % {"counted": unit}
    verdict = of_answers(half_width, typical, name, unit)
    if smallest >= typical:
        return verdict
    sentence = _("The smallest is %(answer)s.") % {"answer": rounded(smallest)}
    text = f"{verdict.text} {sentence}"
    if half_width <= MARGINS[1] * smallest:
        return Verdict(verdict.level, text, verdict.calmer, verdict.typical)
    calmer = max(verdict.calmer, half_width / max(useful_width(smallest, MARGINS[1]), 1e-9))
    if not verdict.is_useful:
        return Verdict(verdict.level, text, calmer, verdict.typical)
    return Verdict(VerdictLevel.COARSE, text, calmer, Typical(smallest, half_width, _("the smallest answer")))
