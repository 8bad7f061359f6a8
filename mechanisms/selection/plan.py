"""All that a selection will do, decided without data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechanisms.accounting import Loss
from mechanisms.json_types import JsonObject
from mechanisms.selection.score import Score, ScoreBound, score_from_json


@dataclass(frozen=True)
class SelectionPlan:
    """A choice of `picks` candidates, best first, one after the other.

    round_epsilon: the pure ε of each pick.
    rate: what one point of score is worth in a pick's exponent, ε/(2Δ), or ε/Δ for monotone scores.
    resolved: (gap in rows, probability that the better of two candidates with that gap wins a pick).
    """

    mechanism: str
    score: Score
    loss: Loss
    picks: int
    bound: ScoreBound
    round_epsilon: Fraction
    rate: Fraction
    resolved: tuple[tuple[int, float], ...]
    explanation: str

    @property
    def candidates(self) -> tuple[str, ...]:
        return self.score.candidates

    @property
    def sensitivity(self) -> Fraction:
        return self.bound.sensitivity

    @property
    def scale(self) -> Fraction:
        """The points of score by which a candidate must trail for its odds to fall by a factor e."""
        return 1 / self.rate

    def to_json(self) -> dict[str, object]:
        return {
            "mechanism": self.mechanism,
            "score": self.score.to_json(),
            "loss": self.loss.to_json(),
            "picks": self.picks,
            "sensitivity": str(self.bound.sensitivity),
            "monotone": self.bound.monotone,
            "round_epsilon": str(self.round_epsilon),
            "rate": str(self.rate),
            "resolved": [list(pair) for pair in self.resolved],
            "explanation": self.explanation,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> SelectionPlan:
        """Build a plan from what `to_json` wrote."""
        return cls(
            mechanism=value["mechanism"],
            score=score_from_json(value["score"]),
            loss=Loss.from_json(value["loss"]),
            picks=int(value["picks"]),
            bound=ScoreBound(Fraction(value["sensitivity"]), bool(value["monotone"])),
            round_epsilon=Fraction(value["round_epsilon"]),
            rate=Fraction(value["rate"]),
            resolved=tuple((int(gap), float(p)) for gap, p in value["resolved"]),
            explanation=value["explanation"],
        )
