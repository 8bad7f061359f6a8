"""What the API takes and gives of plans: what can be chosen, what it costs and how wrong it is."""

from __future__ import annotations

from typing import Annotated, Literal

from ninja import Field, Schema

from dpportal.api.number_types import JsonInteger, Number
from dpportal.api.schemas import Strict


class MethodInput(Strict):
    """A method, what it may cost, and its own parameters. counted_in: "pure" (ε) or "zcdp" (ρ), to be safe."""

    mechanism: str
    amount: Annotated[str, Field(examples=["0.5"])] = ""
    purpose: str | None = None
    parameters: dict[str, str | JsonInteger] = Field(default_factory=dict)
    counted_in: Literal["pure", "zcdp"] | None = None


ChosenValue = str | int | float | bool | list[str] | list[JsonInteger] | None


class ChoicesInput(Strict):
    """What to release, as the steps of the wizard ask. choices: the fields that `products` lists."""

    product: str | None = None
    title: Annotated[str | None, Field(max_length=160)] = None
    choices: dict[str, ChosenValue] | None = None
    method: MethodInput | None = None


class PlanInput(ChoicesInput):
    """A plan to ask for. amount: of all methods together, for offers. half_width: a wanted error, instead of a cost."""

    amount: str | None = None
    half_width: Number | None = Field(None, gt=0, le=1e12)


class FieldShown(Schema):
    """A field of a product's second step. choices: what it may be; empty where that is open."""

    name: str
    label: str
    help: str
    kind: str
    required: bool
    choices: list[str]


class ParameterShown(Schema):
    """A method's own parameter."""

    name: str
    label: str
    help: str
    kind: str
    default: str | int | None
    choices: list[str]


class MethodShown(Schema):
    """A method of a product. definitions: of the loss that it can be planned with, "pure" (ε) or "zcdp" (ρ)."""

    name: str
    title: str
    summary: str
    definitions: list[str]
    parameters: list[ParameterShown]


class ProductShown(Schema):
    """A kind of release, with what its choices are and how it can be measured."""

    name: str
    title: str
    summary: str
    fields: list[FieldShown]
    methods: list[MethodShown]
    has_automatic: bool


class OfferShown(Schema):
    """A method at a cost. error: of the kind that `error_label` names; None where it depends on the data."""

    mechanism: str
    title: str
    error: float | None
    refusal: str


class OffersShown(Schema):
    """Every method at one cost, without a look at the data. recommended: the one to begin with."""

    amount: str
    counted_in: str
    meaning: str
    error_label: str
    offers: list[OfferShown]
    recommended: str


class PlanShown(Schema):
    """A complete plan, without a look at the data. reviewed: what a confirmation says that it has read."""

    product: str
    mechanism: str
    method: str
    amount: str
    counted_in: str
    epsilon_delta: str
    meaning: str
    error: float | None
    error_label: str
    margin: str
    verdict: str | None
    expectation: str
    statement: str
    left: str
    reviewed: str
