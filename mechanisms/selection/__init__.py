"""Private selection: which of the declared candidates is best?"""

from mechanisms.selection.choosing import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax, Selection
from mechanisms.selection.plan import SelectionPlan
from mechanisms.selection.score import (
    BestOption,
    FewestConflicts,
    MostCommonValue,
    Quantile,
    Score,
    ScoreBound,
    score_from_json,
)

__all__ = [
    "BestOption",
    "ExponentialMechanism",
    "FewestConflicts",
    "MostCommonValue",
    "PermuteAndFlip",
    "Quantile",
    "ReportNoisyMax",
    "Score",
    "ScoreBound",
    "Selection",
    "SelectionPlan",
    "score_from_json",
]
