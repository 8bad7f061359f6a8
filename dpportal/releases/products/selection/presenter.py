"""What the bundle and pages of a private choice show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict
from dpportal.releases.products.selection import verdict
from dpportal.releases.products.selection.form import ONE_COLUMN
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from dpportal.releases.titles import spoken
from mechanisms import registry
from mechanisms.domain import MISSING_LABEL, OTHER_LABEL, Categorical
from mechanisms.selection import BestOption, FewestConflicts, MostCommonValue, Quantile, SelectionPlan
from mechanisms.tabular.csv_frames import write_frame
from mechanisms.tabular.label_columns import LabelColumn, label_columns

MAX_SHOWN = 500
# By which name the page's first sentence asks which question it is.
QUESTIONS = {
    MostCommonValue.kind: "is_most_common",
    BestOption.kind: "is_best_option",
    FewestConflicts.kind: "is_fewest_conflicts",
    Quantile.kind: "is_quantile",
}


class SelectionPresenter(Presenter[SelectionPlan, list[str]]):
    """What was chosen, and among which candidates, but no count."""

    main_table = "choice.csv"

    def tables(
        self, reconstructed: ReconstructedRelease[SelectionPlan, list[str]], folder: Path
    ) -> list[Table]:
        path = folder / "choice.csv"
        columns = _names_in_files(reconstructed)
        chosen = [reconstructed.plan.candidates.index(candidate) for candidate in reconstructed.result]
        frame = pd.DataFrame({c.name: [c.labels[place] for place in chosen] for c in columns})
        frame.insert(0, "rank", range(1, len(chosen) + 1))
        write_frame(frame, path)
        fields = [{"name": "rank", "type": "integer"}, *(column.field() for column in columns)]
        return [Table(path, "What was chosen, best first", fields)]

    def page(self, reconstructed: ReconstructedRelease[SelectionPlan, list[str]]) -> Json:
        plan = reconstructed.plan
        shortfall = registry.selection(plan.mechanism).shortfall(plan, 0.95)
        finding: Json = {
            "choice": reconstructed.result[0],
            "question": plan.score.question,
            "shortfall": shortfall,
        }
        if plan.score.kind == Quantile.kind:
            finding["column"] = spoken(reconstructed.release.domain).shown_names[0]
        return {
            "finding": {**finding, QUESTIONS[plan.score.kind]: True},
            "choices": reconstructed.result,
            "candidates": list(plan.candidates[:MAX_SHOWN]),
            "candidate_count": len(plan.candidates),
            **_undeclared(reconstructed),
            "proof": plan.score.proof,
            "resolved": [list(pair) for pair in plan.resolved],
        }

    def compare(
        self, reconstructed: ReconstructedRelease[SelectionPlan, list[str]], true: np.ndarray
    ) -> Json:
        plan = reconstructed.plan
        scores = plan.score.scores(true)
        chances = registry.selection(plan.mechanism).probabilities(plan, scores)
        best_first = np.argsort(-scores, kind="stable")[:MAX_SHOWN]
        ranks = {choice: rank for rank, choice in enumerate(reconstructed.result, 1)}
        table = [
            [
                plan.candidates[i],
                int(scores[i]),
                round(float(chances[i]), 6),
                ranks.get(plan.candidates[i], ""),
            ]
            for i in best_first
        ]
        return {
            "header": ["candidate", "true_score", "probability_of_first_choice", "chosen_rank"],
            "table": table,
            "choices": reconstructed.result,
            "best": plan.candidates[int(best_first[0])],
            "chance_of_best": float(chances[best_first[0]]),
            "good_chance": verdict.good_chance(plan, scores, chances, int(true.sum())),
        }

    def verdict(self, comparison: Json) -> Verdict | None:
        return verdict.observed(comparison["good_chance"])

    def facts(self, reconstructed: ReconstructedRelease[SelectionPlan, list[str]]) -> Json:
        """With the names of all columns, which neither the plan nor a table has: texts say them."""
        points = reconstructed.plan.score.points_per_row
        read = reconstructed.release.domain.attributes
        columns = [{"column": each.name, "title": each.shown_name} for each in read]
        return {"choice": reconstructed.result, "points_per_row": points, "columns": columns}


def _undeclared(reconstructed: ReconstructedRelease[SelectionPlan, list[str]]) -> Json:
    """Of the most common value: how many candidates are declared values, and the others' names; else nothing."""
    if reconstructed.plan.score.kind != MostCommonValue.kind:
        return {}
    (column,) = reconstructed.release.domain.attributes
    has_other = isinstance(column, Categorical) and column.undeclared is not None
    others = [OTHER_LABEL] * has_other + [MISSING_LABEL] * column.missing_cell
    return {"declared_values": column.size - len(others), "others": others}


def _names_in_files(reconstructed: ReconstructedRelease[SelectionPlan, list[str]]) -> list[LabelColumn]:
    """What each candidate is called: a value by its code, too, and an option by the name of its column."""
    if reconstructed.plan.score.kind not in ONE_COLUMN:
        return [LabelColumn("choice", 0, list(reconstructed.plan.candidates), "choice")]
    columns = label_columns(reconstructed.release.domain)
    # Candidates are the first cells, in order.
    return [
        replace(column, name=name) for name, column in zip(("choice", "choice_label"), columns, strict=False)
    ]
