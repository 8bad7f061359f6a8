"""What each step before the review keeps of what was chosen: on its page, by a program, or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.forms import BaseForm, BooleanField
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from dpportal.budgets.cost_dial import counted_otherwise, is_as_proposed
from dpportal.platform.form_data import form_data
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.publications.search_progress import is_method_as_proposed
from dpportal.releases import drafts, services
from dpportal.releases.models import Release
from dpportal.releases.products import AwaitedError, DraftError, planner_of
from dpportal.releases.products.shared.draft_form import ChoiceForm
from dpportal.releases.wizard.choices import declared_columns
from dpportal.releases.wizard.forms import AWAITED, PARAMETER, MethodForm, ProductForm

# The fields of a draft that each step writes.
_PROPOSED = ("parameters", *Release.PRICE, *Release.METHOD, "skipped_steps")
OF_PRODUCT = ("title", "product", "columns", *_PROPOSED)
OF_COLUMNS = ("columns", "people", *_PROPOSED)
OF_METHOD = ("purpose", *_PROPOSED)
EVERYTHING = tuple(dict.fromkeys((*OF_PRODUCT, *OF_COLUMNS, *OF_METHOD)))
Files = MultiValueDict[str, Any]


class DraftChoiceError(Exception):
    """Choices that a form refuses. errors: sentences by the name of the field, as the page shows them beside it.

    is_awaited: whether the plan is being worked out, so that the same choices are taken in some seconds.
    """

    def __init__(self, step: str, form: BaseForm) -> None:
        self.step = step
        self.is_awaited = any(form.has_error(name, AWAITED) for name in form.errors)
        self.errors: dict[str, list[str]] = {
            name: [str(text) for text in texts] for name, texts in form.errors.items()
        }
        super().__init__(" ".join(text for texts in self.errors.values() for text in texts))

    @property
    def placed(self) -> dict[str, list[str]]:
        """The sentences by the name that a program or file sends: product and title stand outside of other steps."""
        place = "" if self.step == "product" else f"{self.step}."
        return {f"{place}{name}": texts for name, texts in self.errors.items()}


def choose_product(draft: Release, data: QueryDict | None) -> ProductForm:
    """What is to be released. The choice is in the draft if the form is valid."""
    before = draft.product
    form = ProductForm(data or None, instance=draft)
    if form.is_valid() and form.cleaned_data["product"] != before:
        draft.columns, draft.mechanism, draft.is_method_proposed, draft.parameters = [], "", False, {}
        draft.forget_proposal()
    return form


def choose_columns(draft: Release, data: QueryDict | None, files: Files | None = None) -> ChoiceForm:
    """Of which columns, and what else the product asks. The choice is in the draft if the form is valid."""
    declared = declared_columns(draft)
    form = planner_of(draft).form(data or None, files or None, declared=declared, draft=draft)
    if form.is_valid():
        form.apply(draft)
        draft.forget_proposal()
        try:
            drafts.reject_overlapping_columns(draft, declared.project(draft.columns))
        except DraftError as error:
            form.add_error(None, error.message)
    return form


def choose_usual_columns(draft: Release, people: str) -> bool:
    """Take the columns that its form has ticked in advance; whether there are such, and they can be taken.

    people: the estimate of their number as it was typed, which is kept in any case; without one nothing is taken.
    """
    if not people:
        return False
    form = choose_columns(draft, form_data({"columns": [], "people": people}))
    draft.people = form.cleaned_data.get("people") or draft.people
    initial = planner_of(draft).form(declared=declared_columns(draft), draft=draft).initial
    form = choose_columns(draft, form_data({"columns": initial.get("columns") or [], "people": people}))
    return form.is_valid()


def choose_method(draft: Release, data: QueryDict, initial: Json | None = None) -> MethodForm:
    """By which method, at which cost. The choice is in the draft if the form is valid, and then there is a plan.

    initial: what the page shows before anything was sent.
    """
    planner, budget = planner_of(draft), drafts.budget_of(draft)
    form = MethodForm(
        _with_used(data) or None,
        initial=initial,
        mechanisms=planner.methods,
        automatic=planner.has_automatic,
    )
    if otherwise := counted_otherwise(data, budget):
        form.add_error("amount", otherwise)
    if form.is_valid():
        draft.mechanism = form.cleaned_data["mechanism"]
        draft.is_method_proposed = is_method_as_proposed(data)
        draft.price(form.cleaned_data["amount"], budget, is_proposed=is_as_proposed(form))
        draft.parameters = {**draft.parameters, **form.parameters()}
        draft.purpose = form.cleaned_data["purpose"] or draft.purpose
        try:
            drafts.plan_of(draft)
        except DraftError as error:
            code = AWAITED if isinstance(error, AwaitedError) else None
            form.add_error("mechanism", ValidationError(error.message, code))
    return form


def _with_used(posted: QueryDict) -> QueryDict:
    """What was posted; who pressed a recommended method's button chose that method."""
    if "use" not in posted:
        return posted
    changed = posted.copy()
    changed.setlist("mechanism", posted.getlist("use"))
    return changed


def choose(draft: Release, chosen: Mapping[str, Any]) -> None:
    """Take all steps at once; nothing is saved.

    Raises ChoiceError for the first one that is refused, and DraftError where the columns can make no plan.

    chosen: "product" and "title"; "choices", the fields of the product's second step by name; "method", with
    "mechanism", "amount", "purpose" and the method's own "parameters". Those that are left out stay as they are.
    """
    values = {"product": draft.product, "title": draft.title}
    values |= {name: chosen[name] for name in values if chosen.get(name) is not None}
    form: BaseForm = choose_product(draft, form_data(values))
    _require("product", form)
    if (choices := chosen.get("choices")) is not None:
        form = choose_columns(draft, form_data({**as_chosen(draft)["choices"], **choices}))
        _refuse_unknown(form, choices)
        _refuse_no_answers(form, choices)
        _refuse_many(form, choices)
        _require("choices", form)
    if (method := chosen.get("method")) is not None:
        services.ask_strategies(draft)
        own = {f"{PARAMETER}{name}": value for name, value in (method.get("parameters") or {}).items()}
        form = choose_method(draft, form_data({**method, "parameters": None, **own}))
        _refuse_unknown(form, own)
        _refuse_many(form, own)
        _require("method", form)


def _refuse_unknown(form: BaseForm, answers: Iterable[str]) -> None:
    """A name that no field has is a mistake, and no wish that is passed over; it is said under that name."""
    for name in answers:
        if name not in form.fields:
            text = _("There is no choice “%(name)s” here. There are: %(names)s.")
            own = name.removeprefix(PARAMETER)
            fault = ValidationError(text % {"name": own, "names": listed(form.fields)})
            form.errors[own] = form.error_class([fault])


def _refuse_no_answers(form: BaseForm, answers: Mapping[str, object]) -> None:
    """What is answered by yes or no is true or false: a page's form would take each text for yes."""
    for name, value in answers.items():
        if isinstance(form.fields.get(name), BooleanField) and not isinstance(value, bool | None):
            form.errors[name] = form.error_class([_("Send true or false.")])


def _refuse_many(form: BaseForm, answers: Mapping[str, object]) -> None:
    """Of several values for a choice of one a page's form would take the last without a word."""
    for name, value in answers.items():
        widget = form.fields[name].widget if name in form.fields else None
        takes_many = getattr(widget, "allow_multiple_selected", False)
        if widget and not takes_many and isinstance(value, list | tuple) and len(value) != 1:
            form.errors[name] = form.error_class([_("Send one value, and no list.")])


def _require(step: str, form: BaseForm) -> None:
    if not form.is_valid():
        raise DraftChoiceError(step, form)


def as_chosen(draft: Release) -> Json:
    """What was chosen so far, as `choose` takes it."""
    budget = drafts.budget_of(draft)
    form = planner_of(draft).form(declared=declared_columns(draft), draft=draft)
    choices = {name: form[name].value() for name in form.fields if _is_given(form[name].value())}
    amount = draft.amount_of(budget)
    method = {
        "mechanism": draft.mechanism,
        "amount": None if amount is None else f"{amount.normalize():f}",
        "purpose": draft.purpose,
        "parameters": _own_parameters(draft),
    }
    return {"product": draft.product, "title": draft.title, "choices": choices, "method": method}


def _is_given(value: object) -> bool:
    return value not in (None, "", [], ())


def _own_parameters(draft: Release) -> Json:
    """The chosen method's own, of those that the draft keeps."""
    method = next((m for m in planner_of(draft).methods if m.name == draft.mechanism), None)
    names = {parameter.name for parameter in getattr(method, "parameters", ())}
    return {name: value for name, value in draft.parameters.items() if name in names and name != "purpose"}
