"""What a draft would do and cost, from the declared domain and the budget alone; no data is read here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.utils.translation import gettext as _

from dpportal.budgets.models import Budget
from dpportal.datasets.models import DomainVersion
from dpportal.releases.models import Release
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.mechanism import Mechanism, Plan, PlanError

MAX_COLUMNS = 4
WARN_CELLS = 10**6
MAX_CELLS = 10**8


class DraftError(Exception):
    """Something a draft still lacks; the message says what to do, `step` where."""

    def __init__(self, message: str, step: str) -> None:
        super().__init__(message)
        self.message = message
        self.step = step


@dataclass(frozen=True)
class Offer:
    """One method as the wizard compares it: a plan, or the reason why there is none."""

    mechanism: Mechanism
    plan: Plan | None
    refusal: str = ""


def domain_of(release: Release) -> tuple[DomainVersion, Domain]:
    """The current domain of the draft's columns. Raises DraftError if it cannot be released."""
    version = release.dataset.current_domain()
    declared = {a.column for a in version.attributes.all()} if version else set()
    if version is None or not declared:
        raise DraftError(
            _("No column has a declared domain yet. Declare the columns to release first."), "columns"
        )
    check_columns(release.columns, declared)
    domain = version.domain().project(release.columns)
    check_cells(domain)
    return version, domain


def check_columns(columns: list[str], declared: set[str]) -> None:
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise DraftError(_("Choose between one and four columns."), "columns")
    if not set(columns) <= declared:
        raise DraftError(
            _("A chosen column has no declared domain any more. Choose the columns again."), "columns"
        )


def check_cells(domain: Domain) -> None:
    if domain.size > MAX_CELLS:
        text = _(
            "These columns make %(cells)s cells; at most 100,000,000 can be released. Use fewer columns, wider bins, "
            "or fewer categories."
        )
        raise DraftError(text % {"cells": f"{domain.size:,}"}, "columns")


def loss_of(release: Release, budget: Budget, version: DomainVersion) -> Loss:
    """The loss that the draft would spend. Raises DraftError if none is chosen."""
    if release.amount is None:
        raise DraftError(_("Choose how much of the budget to spend."), "method")
    return Loss(Definition(budget.definition), Fraction(release.amount), version.unit)


def budget_of(release: Release) -> Budget:
    budget = Budget.objects.filter(dataset=release.dataset).first()
    if budget is None:
        raise DraftError(
            _(
                "This dataset has no privacy budget yet. Ask an administrator to grant one, then continue here."
            ),
            "method",
        )
    return budget


def parameters_of(release: Release, version: DomainVersion) -> dict[str, object]:
    """The chosen parameters, with the public total where the neighbouring relation makes it public."""
    known_total = version.neighbours == "replace-one" and not version.unit_column
    return {**release.parameters, **({"total": release.dataset.rows} if known_total else {})}


def plan_of(release: Release) -> tuple[DomainVersion, Plan]:
    """The draft's complete plan. Raises DraftError with the step that is not finished."""
    version, domain = domain_of(release)
    loss = loss_of(release, budget_of(release), version)
    if not release.mechanism:
        raise DraftError(_("Choose a method."), "method")
    try:
        method = registry.mechanism(release.mechanism)
        return version, method.plan(domain, parameters_of(release, version), loss)
    except PlanError as refusal:
        raise DraftError(str(refusal), "method") from None


def offers(release: Release, amount: Decimal) -> list[Offer]:
    """Every method for these columns at this cost, side by side."""
    version, domain = domain_of(release)
    loss = Loss(Definition(budget_of(release).definition), Fraction(amount), version.unit)
    return [_offer(method, domain, parameters_of(release, version), loss) for method in registry.HISTOGRAMS]


def _offer(method: Mechanism, domain: Domain, parameters: dict[str, object], loss: Loss) -> Offer:
    try:
        return Offer(method, method.plan(domain, parameters, loss))
    except PlanError as refusal:
        return Offer(method, None, str(refusal))


def digest(plan: Plan) -> str:
    """A short name of a plan, so that a confirmation is for exactly what was reviewed."""
    return hashlib.sha256(json.dumps(plan.to_json(), sort_keys=True).encode()).hexdigest()[:32]
