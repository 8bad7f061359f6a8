"""A question, and the candidates that it is put to."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.people_estimate import people_field
from dpportal.platform.json_types import Json
from dpportal.platform.typed_numbers import DecimalInput
from dpportal.releases.models import Release
from dpportal.releases.products.shared.draft_form import ChoiceForm
from mechanisms.domain import Boolean, Domain
from mechanisms.protocol import PlanError
from mechanisms.selection import BestOption, FewestConflicts, MostCommonValue, Quantile, Score

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
        widget=DecimalInput,
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

    def adapt(self, draft: Release) -> None:
        self.fields["people"].required = False

    @property
    def yes_or_no(self) -> list[str]:
        """The columns that can be options or dates."""
        return [self.named[a.name] for a in self.declared.attributes if isinstance(a, Boolean)]

    def chosen(self, draft: Release) -> Json:
        initial = {"question": MostCommonValue.kind, "picks": 1, "level": "1/2", **super().chosen(draft)}
        # A draft keeps a fraction, which a field of numbers would show as empty and send back as the median.
        return {**initial, "level": f"{float(Fraction(initial['level'])):g}"}

    def clean(self) -> Json:
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


def _level(data: Json) -> Fraction:
    return Fraction(data.get("level") or Decimal("0.5"))
