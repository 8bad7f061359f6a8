"""What the steps before the review keep of what was chosen for a running count."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.http import QueryDict

from dpportal.budgets.cost_dial import counted_otherwise, is_as_proposed
from dpportal.platform.form_data import form_data
from dpportal.publications.search_progress import is_method_as_proposed
from dpportal.streams import drafts
from dpportal.streams.forms import CountedForm, PeriodsForm, StrategyForm
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Stream
from mechanisms.continual import compare
from mechanisms.domain import Attribute


class StreamChoiceError(Exception):
    """Choices that a form refuses."""

    def __init__(self, form: forms.BaseForm) -> None:
        self.form = form
        super().__init__(" ".join(str(text) for texts in form.errors.values() for text in texts))


def declared_columns(draft: Stream) -> list[Attribute]:
    """Every column that could be counted by."""
    version = draft.dataset.current_domain()
    return list(version.domain().attributes) if version else []


def periods_form(draft: Stream, data: QueryDict | None) -> PeriodsForm:
    """The form of the periods, and of the values of the chosen column that count, where some do."""
    chosen = None if draft.split else draft.column
    column = next((a for a in declared_columns(draft) if a.name == chosen), None)
    return PeriodsForm(data or None, instance=draft, column=column)


def choose_strategy(draft: Stream, form: StrategyForm, mechanism: str, posted: QueryDict) -> bool:
    """Write cost and strategy into the draft, if the form is valid and there is a plan; else the form says why."""
    budget = drafts.budget_of(draft)
    if otherwise := counted_otherwise(posted, budget):
        form.add_error("amount", otherwise)
    if form.is_valid():
        draft.price(form.cleaned_data["amount"], budget, is_proposed=is_as_proposed(form))
        draft.mechanism, draft.is_method_proposed = mechanism, is_method_as_proposed(posted)
        try:
            drafts.plan_of(draft)
        except StreamDraftError as error:
            form.add_error("mechanism", str(error))
    return form.is_valid()


def choose(draft: Stream, answers: Mapping[str, object]) -> None:
    """Take all steps at once; nothing is saved. Raises StreamChoiceError and StreamDraftError.

    answers: the fields of the steps by name; without a mechanism the most accurate is taken.
    """
    data = form_data(answers)
    counted = CountedForm(data, instance=draft, declared=declared_columns(draft))
    _require(counted)
    counted.apply()
    periods = periods_form(draft, data)
    _require(periods)
    periods.apply()
    priced = StrategyForm(data)
    if "amount" in priced.errors:
        raise StreamChoiceError(priced)
    offers = drafts.offers(draft, priced.cleaned_data["amount"])
    form = StrategyForm(data, offers=offers)
    best = compare.suggested(offers)
    named = data.get("mechanism") or (best.mechanism.name if best else "")
    if not choose_strategy(draft, form, named, data):
        raise StreamChoiceError(form)


def _require(form: forms.BaseForm) -> None:
    if not form.is_valid():
        raise StreamChoiceError(form)
