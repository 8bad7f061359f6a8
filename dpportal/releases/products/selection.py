"""The product "private choice": which of the declared candidates is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpportal.datasets.models import DomainVersion
from dpportal.datasets.rawdata import records
from dpportal.publishing.labelled import LabelColumn, label_columns
from dpportal.publishing.spreadsheet import inert_frame
from dpportal.publishing.table import Table
from dpportal.publishing.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products import telling
from dpportal.releases.products.base import ChoiceForm, DraftError, Made, Product, Text, people_field
from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.domain import Attribute, Boolean, Domain
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, PlanError
from mechanisms.selection import (
    BestOption,
    FewestConflicts,
    MostCommonValue,
    Quantile,
    Score,
    Selection,
    SelectionPlan,
)

MAX_OPTIONS = 200
MAX_SHOWN = 500
ONE_COLUMN = (MostCommonValue.kind, Quantile.kind)
QUESTIONS = [
    (MostCommonValue.kind, gettext_lazy("Most common value of one column")),
    (Quantile.kind, gettext_lazy("Median or another quantile of one ordered column")),
    (BestOption.kind, gettext_lazy("Best of these options: the yes-or-no column with most yes")),
    (
        FewestConflicts.kind,
        gettext_lazy("Fewest conflicts: the yes-or-no column with fewest yes, such as a date"),
    ),
]
TRUE_CELL = 1


def score_of(question: str, domain: Domain, level: Fraction) -> Score:
    """The question to the chosen columns. Raises PlanError if they cannot answer it."""
    if question in ONE_COLUMN:
        if len(domain.attributes) != 1:
            raise PlanError(_("Choose exactly one column for this question."))
        (attribute,) = domain.attributes
        return Quantile.of(attribute, level) if question == Quantile.kind else MostCommonValue.of(attribute)
    if not all(isinstance(a, Boolean) for a in domain.attributes):
        raise PlanError(
            _("Every option must be a column declared as yes or no. Declare it so, or leave it out.")
        )
    kind = BestOption if question == BestOption.kind else FewestConflicts
    return kind(domain.names)


class QuestionForm(ChoiceForm):
    """A question, the columns it is put to, and how many answers are wanted."""

    question = forms.ChoiceField(label=gettext_lazy("Question"), choices=QUESTIONS, widget=forms.RadioSelect)
    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one column.")},
    )
    level = forms.DecimalField(
        label=gettext_lazy("Quantile"),
        initial="0.5",
        min_value=Decimal("0.001"),
        max_value=Decimal("0.999"),
        decimal_places=3,
        required=False,
        help_text=gettext_lazy("For a quantile: 0.5 is the median, 0.9 the value that 90 % lie below."),
    )
    picks = forms.IntegerField(
        label=gettext_lazy("How many to choose"),
        initial=1,
        min_value=1,
        max_value=100,
        help_text=gettext_lazy(
            "The best first. The cost is shared by the choices, so each becomes less certain."
        ),
    )

    people = people_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["people"].required = False
        field = self.fields["columns"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(name, name) for name in self.declared.names]

    @property
    def yes_or_no(self) -> list[str]:
        """The columns that can be options or dates."""
        return [a.name for a in self.declared.attributes if isinstance(a, Boolean)]

    def chosen(self, draft: Release) -> dict[str, Any]:
        said = {"question": MostCommonValue.kind, "picks": 1, "level": "1/2", **super().chosen(draft)}
        # A draft keeps a fraction, which a field of numbers would show as empty and send back as the median.
        return {**said, "level": f"{float(Fraction(said['level'])):g}"}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        data["columns"] = [name for name in self.declared.names if name in data["columns"]]
        try:
            score = score_of(data["question"], self.declared.project(data["columns"]), _level(data))
        except PlanError as refusal:
            self.add_error("columns", str(refusal))
            return data
        if data["picks"] > len(score.candidates):
            text = _("There are only %(candidates)s candidates; choose at most that many.")
            self.add_error("picks", text % {"candidates": len(score.candidates)})
        return data

    def apply(self, draft: Release) -> None:
        data = self.cleaned_data
        draft.columns, draft.people = data["columns"], data["people"]
        draft.parameters = {"question": data["question"], "level": str(_level(data)), "picks": data["picks"]}


class SelectionProduct(Product[Selection, SelectionPlan, list[str]]):
    """The best of the declared candidates, chosen so that no person decides it; no count is released."""

    name = Release.Product.SELECTION.value
    title = gettext_lazy("Private choice")
    summary = gettext_lazy(
        "Which one? The most common value, the median, the best option, the date with the fewest conflicts. Only the "
        "answer is released, no count."
    )
    readers_see = gettext_lazy("what was chosen, and among which candidates, but no count")
    icon = "icon-selection"
    form = QuestionForm
    choose_template = "releases/selection/_choose.html"
    offers_template = "releases/selection/_offers.html"
    review_template = "releases/selection/_review.html"
    page_template = "releases/selection/_page.html"
    compare_template = "releases/selection/_compare.html"
    readme_template = "releases/selection/readme.md"
    wanted = gettext_lazy("Lead of the best that is told with 95 % chance")
    wanted_sign = ""

    @property
    def mechanisms(self) -> Sequence[Selection]:
        return registry.SELECTIONS

    def check(self, domain: Domain) -> None:
        if not 1 <= len(domain.attributes) <= MAX_OPTIONS:
            raise DraftError(_("Choose between one and 200 columns."), "columns")

    def plan(
        self, method: Selection, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> SelectionPlan:
        question = draft.parameters.get("question", MostCommonValue.kind)
        score = score_of(question, domain, Fraction(draft.parameters.get("level", "1/2")))
        return method.plan(score, loss, int(draft.parameters.get("picks", 1)))

    def read_plan(self, value: Mapping[str, Any]) -> SelectionPlan:
        return SelectionPlan.from_json(value)

    def offer(
        self, plan: SelectionPlan, draft: Release, plans: Sequence[SelectionPlan] = ()
    ) -> dict[str, Any]:
        return {"resolved": plan.resolved}

    def wanted_in(self, draft: Release) -> Text:
        if draft.parameters.get("question") == Quantile.kind:
            return _("Ranks by which a value is told from a worse one with 95 % chance")
        return self.wanted

    def wanted_error(self, plan: SelectionPlan, draft: Release) -> float:
        return registry.selection(plan.mechanism).lead(plan, 0.95)

    def foreseen(self, plan: SelectionPlan, draft: Release) -> Verdict | None:
        lead = self.wanted_error(plan, draft)
        if not draft.people:
            return telling.unforeseen(lead)
        return telling.foreseen(plan, lead, draft.people, _asked_column(draft))

    def found(self, comparison: Mapping[str, Any]) -> Verdict | None:
        return telling.found(comparison["good_chance"])

    def suggested(self, draft: Release, plans: Mapping[str, SelectionPlan]) -> str:
        """The method that most often tells the better candidate, over the gaps that the page shows."""
        return max(plans, key=lambda name: sum(chance for _gap, chance in plans[name].resolved))

    def count(self, release: Release, plan: SelectionPlan, key: bytes) -> np.ndarray:
        """Counts of the one column's cells, or of the yes cell of every option.

        One key for all options: the same rows of a person are kept in each count.
        """
        version = release.domain_version
        assert version is not None
        domain = version.domain().project(release.columns)
        if plan.score.kind in ONE_COLUMN:
            return records.count(release.dataset, version, domain, key)
        options = [(name,) for name in domain.names]
        counts = records.count_each(release.dataset, version, domain, options, key)
        return np.array([of_option[TRUE_CELL] for of_option in counts])

    def measure(self, plan: SelectionPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.selection(plan.mechanism).measure(plan, plan.score.scores(counts), noise)

    def reconstruct(self, plan: SelectionPlan, measurement: Measurement) -> list[str]:
        return [plan.candidates[index] for index in measurement.values]

    def tables(self, made: Made[SelectionPlan, list[str]], folder: Path) -> list[Table]:
        path = folder / "choice.csv"
        columns = _names_in_files(made)
        chosen = [made.plan.candidates.index(candidate) for candidate in made.result]
        frame = pd.DataFrame({c.name: [c.labels[place] for place in chosen] for c in columns})
        frame.insert(0, "rank", range(1, len(chosen) + 1))
        inert_frame(frame).to_csv(path, index=False, lineterminator="\n")
        fields = [{"name": "rank", "type": "integer"}, *(column.field() for column in columns)]
        return [Table(path, "What was chosen, best first", fields)]

    def page(self, made: Made[SelectionPlan, list[str]]) -> dict[str, Any]:
        plan = made.plan
        return {
            "choices": made.result,
            "candidates": list(plan.candidates[:MAX_SHOWN]),
            "candidate_count": len(plan.candidates),
            "proof": plan.score.proof,
            "resolved": [list(pair) for pair in plan.resolved],
        }

    def compare(self, made: Made[SelectionPlan, list[str]], true: np.ndarray) -> dict[str, Any]:
        plan = made.plan
        scores = plan.score.scores(true)
        chances = registry.selection(plan.mechanism).probabilities(plan, scores)
        best_first = np.argsort(-scores, kind="stable")[:MAX_SHOWN]
        ranks = {choice: rank for rank, choice in enumerate(made.result, 1)}
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
            "choices": made.result,
            "best": plan.candidates[int(best_first[0])],
            "chance_of_best": float(chances[best_first[0]]),
            "good_chance": telling.good_chance(plan, scores, chances, int(true.sum())),
        }

    def facts(self, made: Made[SelectionPlan, list[str]]) -> dict[str, Any]:
        return {"choice": made.result}


def _asked_column(draft: Release) -> Attribute | None:
    """The one column that is asked of, as it was declared when that was confirmed, or for a draft is now."""
    version = draft.domain_version or draft.dataset.current_domain()
    asked = [a for a in (version.domain().attributes if version else ()) if a.name in draft.columns]
    return asked[0] if len(asked) == 1 else None


def _names_in_files(made: Made[SelectionPlan, list[str]]) -> list[LabelColumn]:
    """What each candidate is called: a value by its code, too, and an option by the name of its column."""
    version = made.release.domain_version
    assert version is not None
    if made.plan.score.kind not in ONE_COLUMN:
        return [LabelColumn("choice", 0, list(made.plan.candidates), "choice")]
    columns = label_columns(version.domain().project(made.release.columns))
    # Candidates are the first cells, in order.
    return [
        replace(column, name=name) for name, column in zip(("choice", "choice_label"), columns, strict=False)
    ]


def _level(data: Mapping[str, Any]) -> Fraction:
    return Fraction(data.get("level") or Decimal("0.5"))
