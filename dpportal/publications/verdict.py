"""Whether a release is of any use, in words: expected before anything is spent, and found against the truth after."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum

from django.utils.translation import gettext as _

from dpportal.publications.cost_search import needed
from mechanisms.accounting import Definition

# Shares of people in another cell than in truth, up to which counts are of use, and of some use.
SHARES = (0.1, 0.3)
# Half the 95 % interval of a typical count or answer over the count itself, up to which it is useful, coarse, doubtful.
# The British office calls a coefficient of variation of up to 5 % precise, which is half an interval of a tenth; the
# Canadian one warns from 16.6 % on, which is one of a third; at 1 the interval reaches nobody.
MARGINS = (0.1, 1 / 3, 1.0)


class VerdictLevel(StrEnum):
    """Whether the noise leaves something to learn; the best first."""

    USEFUL = "useful"
    COARSE = "coarse"
    DOUBTFUL = "doubtful"
    USELESS = "useless"


@dataclass(frozen=True)
class Typical:
    """A typical answer of a release, half its 95 % interval beside it, and what it is called inside a sentence."""

    answer: float
    half_width: float
    name: str

    @property
    def share(self) -> str:
        """± 10 is 8 % of a typical cell."""
        values = {"half": rounded(self.half_width), "name": self.name}
        if self.half_width >= self.answer:
            return _("± %(half)s is more than %(name)s") % values
        return _("± %(half)s is %(percent)s of %(name)s") % {
            **values,
            "percent": percent(self.half_width / self.answer),
        }


@dataclass(frozen=True)
class Verdict:
    """What to think of a release.

    text: what it rests on, in sentences. calmer: by what the noise's standard error must be divided for it to be of
    use; 1 if it is, or if more budget is not known to help. typical: an answer to hold the margin against, if there is
    one.
    """

    level: VerdictLevel
    text: str
    calmer: float = 1.0
    typical: Typical | None = None

    @property
    def tone(self) -> str:
        """The kind of notice in which a page shows it."""
        return {"useful": "good", "coarse": "info", "doubtful": "warn", "useless": "bad"}[self.level]

    @property
    def is_useful(self) -> bool:
        return self.level is VerdictLevel.USEFUL

    @property
    def is_coarse(self) -> bool:
        """Whether large differences show, and small ones do not."""
        return self.level is VerdictLevel.COARSE

    @property
    def is_doubtful(self) -> bool:
        """Whether it is of some use only."""
        return self.level is VerdictLevel.DOUBTFUL

    @property
    def is_useless(self) -> bool:
        """Whether noise leaves nothing to learn."""
        return self.level is VerdictLevel.USELESS

    def is_at_least(self, level: VerdictLevel) -> bool:
        return _rank(self.level) <= _rank(level)

    def amount(self, amount: Decimal, definition: Definition) -> Decimal | None:
        """The cost from which it is expected to be of use, rounded up to two digits; None if that is not known."""
        if self.calmer <= 1:
            return None
        enough = needed(amount, self.calmer, definition)
        return enough.quantize(Decimal(1).scaleb(enough.adjusted() - 1), ROUND_CEILING)


def level_of(error: float, ends: tuple[float, float]) -> VerdictLevel:
    """Of an error, by the largest ones that are useful, and doubtful."""
    if error <= ends[0]:
        return VerdictLevel.USEFUL
    return VerdictLevel.DOUBTFUL if error <= ends[1] else VerdictLevel.USELESS


def level_of_margin(ratio: float) -> VerdictLevel:
    """Of counts and answers, by a typical one's margin over itself."""
    levels = zip(VerdictLevel, MARGINS, strict=False)
    return next((level for level, end in levels if ratio <= end), VerdictLevel.USELESS)


def level_of_cells(share: float, ratio: float) -> VerdictLevel:
    """Of counts: the worse one by the share of people in another cell and by a typical cell's margin over the cell."""
    return max(level_of(share, SHARES), level_of_margin(ratio), key=_rank)


def _rank(level: VerdictLevel) -> int:
    return list(VerdictLevel).index(level)


def useful_width(answer: float, ratio: float) -> float:
    """The half width up to which an answer is of use. ratio: of it over the answer, at most.

    Intervals of counts end at whole people, so that less noise may not show before it is less by one of them.
    """
    return max(ratio * answer - 1, ratio * answer / 2)


def of_answers(half_width: float, answer: float, name: str, unit: str = "", inside: str = "") -> Verdict:
    """Before anything is spent, of answers of which a typical one is `answer` people, ± half_width.

    name: what a typical answer is called at the beginning of a sentence. unit: what is counted, if not people. inside:
    its name inside a sentence.
    """
    level = level_of_margin(half_width / max(answer, 1e-9))
    text = _("%(name)s is %(answer)s %(unit)s, ± %(half)s.") % {
        "name": name,
        "unit": unit or _("people"),
        "answer": rounded(answer),
        "half": rounded(half_width),
    }
    if level is VerdictLevel.USELESS:
        text = _("The noise of an answer is about as large as the answer itself.") + " " + text
    useful = useful_width(answer, MARGINS[0])
    calmer = 1.0 if level is VerdictLevel.USEFUL else max(1.0, half_width / max(useful, 1e-9))
    return Verdict(level, text, calmer, Typical(answer, half_width, inside or _("a typical answer")))


def measured_verdict(error: float) -> Verdict:
    """After measuring. error: root mean square over answers, as a share of theirs. For the curator only."""
    text = _("A typical answer is off by %(percent)s of its size.") % {"percent": percent(error)}
    return Verdict(level_of_margin(1.96 * error), text)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %" if share >= 0.01 else _("less than 1 %")


def expected_text(share: float) -> str:
    """The same of a share that is expected."""
    return _("about %(percent)s") % {"percent": percent(share)} if share >= 0.01 else percent(share)


def rounded(people: float) -> str:
    """A number of people, as exact as it is of use."""
    return f"{people:,.0f}" if people >= 10 else f"{people:.2g}"


def is_doubted(verdict: Verdict | None) -> bool:
    """Whether what has it is published only after its curator was asked once more."""
    return verdict is not None and not verdict.is_at_least(VerdictLevel.COARSE)
