"""Plans: what a release would cost and how wrong it would be. No data is read, and nothing is saved or spent."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Router

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import PUBLIC, READ
from dpportal.api.planning_schemas import (
    FieldShown,
    MethodShown,
    OfferShown,
    OffersShown,
    ParameterShown,
    PlanInput,
    PlanShown,
    ProductShown,
)
from dpportal.api.problems import RefusedError
from dpportal.api.searching import searching
from dpportal.budgets.amounts import amount_formfield, plain
from dpportal.datasets.access import dataset_for
from dpportal.datasets.models import Dataset, Right
from dpportal.publications.cost_search import shown as rounded_error
from dpportal.publications.statement import epsilon_delta_text
from dpportal.releases import drafts, prices, services
from dpportal.releases.models import Release
from dpportal.releases.privacy_statement import promise_of_draft
from dpportal.releases.products import PRODUCTS, AnyProduct, Method, method_title, planner_of
from dpportal.releases.wizard import choosing
from dpportal.releases.wizard.dial import turned
from mechanisms.domain import Domain
from mechanisms.protocol import Parameter

router = Router(tags=["plans"])
products_router = Router(tags=["plans"])


@products_router.get("", auth=PUBLIC, response=list[ProductShown])
def products(request: HttpRequest) -> object:
    """Everything that can be released: the choices of each product, its methods and their parameters."""
    return [_product(product) for product in PRODUCTS.values()]


def _product(product: AnyProduct) -> ProductShown:
    form = product.planner.form(declared=Domain(()), draft=_draft_of_nothing(product))
    return ProductShown(
        name=product.name,
        title=str(product.title),
        summary=str(product.summary),
        fields=[_field(name, field) for name, field in form.fields.items()],
        methods=[_method(method) for method in product.planner.methods],
        has_automatic=product.planner.has_automatic,
    )


def _draft_of_nothing(product: AnyProduct) -> Release:
    return Release(product=product.name, dataset=Dataset())


def _field(name: str, field: forms.Field) -> FieldShown:
    choices: list[Any] = list(field.choices) if isinstance(field, forms.ChoiceField) else []  # type: ignore[arg-type]
    return FieldShown(
        name=name,
        label=str(field.label or name),
        help=str(field.help_text),
        kind=type(field).__name__.removesuffix("Field"),
        required=field.required,
        choices=[str(value) for value, _label in choices if value != ""],
    )


def _method(method: Method) -> MethodShown:
    parameters: tuple[Parameter, ...] = getattr(method, "parameters", ())
    return MethodShown(
        name=method.name,
        title=str(method.title),
        summary=str(method.summary),
        definitions=sorted(definition.value for definition in method.definitions),
        parameters=[
            ParameterShown(
                name=parameter.name,
                label=str(parameter.label),
                help=str(parameter.help),
                kind=parameter.kind,
                default=parameter.default,
                choices=[str(value) for value, _label in parameter.choices],
            )
            for parameter in parameters
        ],
    )


@router.post("/{uuid:dataset_id}/plans", auth=READ, response=PlanShown)
def plan(request: HttpRequest, dataset_id: UUID, payload: PlanInput) -> object:
    """The plan of a release by one method. half_width: asks for the cost of a wanted error, instead of `amount`."""
    dataset = dataset_for(request, dataset_id, Right.SEE)
    with searching() as search:
        draft = _draft(request, dataset, payload)
        if payload.half_width is not None:
            _price_by_error(draft, payload)
        return search.answer(draft, lambda: plan_shown(draft))


@router.post("/{uuid:dataset_id}/offers", auth=READ, response=OffersShown)
def offers(request: HttpRequest, dataset_id: UUID, payload: PlanInput) -> object:
    """Every method at one cost, `amount`."""
    dataset = dataset_for(request, dataset_id, Right.SEE)
    amount = _amount(payload.amount)
    with searching():
        draft = _draft(request, dataset, payload)
        services.ask_strategies(draft)
        return _offers(draft, amount)


def _draft(request: HttpRequest, dataset: Dataset, payload: PlanInput) -> Release:
    """The choices as a draft that is never saved."""
    if reason := services.why_not_started(dataset):
        raise RefusedError(409, reason)
    draft = Release(dataset=dataset, created_by=current_user(request))
    chosen = payload.dict(exclude={"amount", "half_width"})
    if payload.half_width is not None:
        # Any cost will do until the one that gives the error is known.
        chosen["method"] = {**(chosen["method"] or {}), "amount": "1"}
    choosing.choose(draft, chosen)
    return draft


def _price_by_error(draft: Release, payload: PlanInput) -> None:
    """Choose the cost that buys the wanted error."""
    position = {"half_width": repr(payload.half_width), "mechanism": draft.mechanism}
    try:
        amount = turned(draft, position)["amount"]
    except ValidationError as error:
        raise RefusedError(409, error.messages[0]) from None
    draft.price(Decimal(amount), drafts.budget_of(draft))


def _amount(text: str | None) -> Decimal:
    try:
        amount: Decimal = amount_formfield().clean(text)
    except ValidationError as error:
        raise RefusedError(422, error.messages[0], {"amount": error.messages}) from None
    return amount


def _offers(draft: Release, amount: Decimal) -> OffersShown:
    planner, offered = planner_of(draft), drafts.offers(draft, amount)
    plans = {offer.mechanism.name: offer.plan for offer in offered if offer.plan}
    return OffersShown(
        amount=plain(amount),
        counted_in=drafts.budget_of(draft).symbol,
        meaning=drafts.meaning_of(draft, amount),
        error_label=str(planner.error_label(draft).title),
        offers=[
            OfferShown(
                mechanism=offer.mechanism.name,
                title=str(offer.mechanism.title),
                error=None if offer.plan is None else rounded_error(planner.error_of(offer.plan, draft)),
                refusal=offer.refusal,
            )
            for offer in offered
        ],
        recommended=planner.best_method(draft, plans) if plans else "",
    )


def plan_shown(draft: Release) -> PlanShown:
    """A draft's complete plan, as its review shows it. Raises DraftError."""
    version, plan = drafts.plan_of(draft)
    budget, planner = drafts.budget_of(draft), planner_of(draft)
    assert draft.amount is not None
    verdict = planner.verdict(plan, draft)
    return PlanShown(
        product=draft.product,
        mechanism=plan.mechanism,
        method=method_title(draft.product, plan.mechanism),
        amount=plain(draft.amount),
        counted_in=budget.symbol,
        epsilon_delta=epsilon_delta_text(plan.loss, budget.delta),
        meaning=drafts.meaning_of(draft, draft.amount),
        error=rounded_error(planner.error_of(plan, draft)),
        error_label=str(planner.error_label(draft).title),
        margin=str(prices.priced(draft, plan).margin),
        verdict=verdict.level.value if verdict else None,
        expectation=verdict.text if verdict else "",
        statement=promise_of_draft(draft, plan.loss, budget.delta, version),
        left=plain(budget.left),
        reviewed=services.reviewed_as(version, plan),
    )
