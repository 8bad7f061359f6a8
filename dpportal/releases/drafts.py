"""What a draft would do and cost, from the declared domain and the budget alone; no data is read here."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.utils.translation import gettext as _

from dpportal.budgets.models import Budget
from dpportal.datasets.models import DomainVersion
from dpportal.platform.listed_names import listed
from dpportal.publications import cost
from dpportal.releases.models import Release
from dpportal.releases.products import AUTOMATIC, AwaitedError, DraftError, Method, ReleasePlan, planner_of
from mechanisms.accounting import Definition, Loss
from mechanisms.deferred_search import PendingSearchError
from mechanisms.domain import Domain
from mechanisms.protocol import PlanError

READ_TWICE = (
    "%(columns)s are made of the same column of the table, so one says all that the other does. They would only "
    "make cells together that nobody can be in. Choose one of them; the finer one can be added up to the coarser."
)


@dataclass(frozen=True)
class Offer:
    """One method as the wizard compares it: a plan, or the reason why there is none."""

    mechanism: Method
    plan: ReleasePlan | None
    refusal: str = ""


def domain_of(release: Release) -> tuple[DomainVersion, Domain]:
    """The current domain of the draft's columns. Raises DraftError if it cannot be released."""
    version = release.dataset.current_domain()
    declared = version.domain() if version else Domain(())
    if version is None or not declared.attributes:
        raise DraftError(_("No column is declared yet. Declare the columns to release first."), "columns")
    if not set(release.columns) <= set(declared.names):
        raise DraftError(_("A chosen column is not declared any more. Choose the columns again."), "columns")
    domain = declared.project(release.columns)
    reject_overlapping_columns(release, domain)
    planner_of(release).check(domain)
    return version, domain


def reject_overlapping_columns(release: Release, domain: Domain) -> None:
    """Raise DraftError for a column beside a coarser one that is made of it. domain: of the draft's columns."""
    for names in planner_of(release).crossed(release, domain).read_twice():
        raise DraftError(_(READ_TWICE) % {"columns": listed(names)}, "columns")


def loss_of(release: Release, budget: Budget, version: DomainVersion) -> Loss:
    """The loss that the draft would spend. Raises DraftError if none is chosen."""
    amount = release.amount_of(budget)
    if amount is None:
        raise DraftError(_("Choose how much of the budget to spend."), "method")
    return Loss(Definition(budget.definition), Fraction(amount), version.unit)


def loss_at(release: Release, amount: Decimal) -> Loss:
    """What a cost would buy for the draft's columns. Raises DraftError."""
    version, domain = domain_of(release)
    return Loss(Definition(budget_of(release).definition), Fraction(amount), version.unit).for_domain(domain)


def meaning_of(release: Release, amount: Decimal) -> str:
    """What a cost means in words."""
    return cost.meaning(loss_at(release, amount), budget_of(release).delta)


def budget_of(release: Release) -> Budget:
    """The budget that a draft will be paid from; an empty one where none is granted yet."""
    return Budget.for_planning(release.dataset)


def plan_of(release: Release) -> tuple[DomainVersion, ReleasePlan]:
    """The draft's complete plan. Raises DraftError with the step that is not finished."""
    version, domain = domain_of(release)
    loss = loss_of(release, budget_of(release), version).for_domain(domain)
    planner = planner_of(release)
    methods = {m.name: m for m in planner.methods}
    if release.mechanism == AUTOMATIC and planner.has_automatic:
        return version, _best_plan(release, version, domain, loss)
    if release.mechanism not in methods:
        raise DraftError(_("Choose a method."), "method")
    try:
        return version, planner.plan(methods[release.mechanism], release, version, domain, loss)
    except PendingSearchError as refusal:
        raise AwaitedError(str(refusal), "method") from None
    except PlanError as refusal:
        raise DraftError(str(refusal), "method") from None


def _best_plan(release: Release, version: DomainVersion, domain: Domain, loss: Loss) -> ReleasePlan:
    """The best plan of those there are. Raises DraftError if there is none."""
    planner = planner_of(release)
    offered = [_offer(method, release, version, domain, loss) for method in planner.methods]
    plans = {offer.mechanism.name: offer.plan for offer in offered if offer.plan}
    if not plans:
        raise DraftError(offered[0].refusal, "method")
    return plans[planner.best_method(release, plans)]


def offers(release: Release, amount: Decimal, only: str = "") -> list[Offer]:
    """Every method for these columns at this cost, side by side. only: the name of one that is asked for alone."""
    version, domain = domain_of(release)
    loss = loss_at(release, amount)
    every = planner_of(release).methods
    methods = [method for method in every if method.name == only] or every
    return [_offer(method, release, version, domain, loss) for method in methods]


def _offer(method: Method, release: Release, version: DomainVersion, domain: Domain, loss: Loss) -> Offer:
    try:
        return Offer(method, planner_of(release).plan(method, release, version, domain, loss))
    except PlanError as refusal:
        return Offer(method, None, str(refusal))
