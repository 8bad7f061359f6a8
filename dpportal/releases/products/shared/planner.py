"""What the wizard asks of a product before anything is spent: what can be chosen, what it costs, how wrong it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Generic

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from dpportal.datasets.models import DomainVersion
from dpportal.jobs.memoised import QuestionKind
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.publications.verdict import Verdict, rounded
from dpportal.releases.models import Release
from dpportal.releases.products.shared.draft_form import ChoiceForm
from dpportal.releases.products.shared.job_cost import JobCost
from dpportal.releases.products.shared.recommendation import Recommendation, Recommendations
from dpportal.releases.products.shared.values import M, P
from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.domain import Domain

TextOrPromise = str | Promise

# The choice of a method that leaves it to the portal: whichever has the smallest expected error.
AUTOMATIC = "automatic"
AUTOMATIC_TITLE = gettext_lazy("Automatic choice")


@dataclass(frozen=True)
class ErrorLabel:
    """What the dial sets against the cost: an error in a few words, its unit, and the sign before it.

    is_of_part: whether it is the error of a part of the release alone. The least cost at which that is useful is then
    not the one at which the release is, and is not proposed.
    """

    title: TextOrPromise
    unit: TextOrPromise
    sign: str = "±"
    is_of_part: bool = False


@dataclass(frozen=True)
class WorkerQuestion:
    """What a worker finds before every method has a plan, or before it is known what to expect of them.

    kind: which questions it is one of. question: as JSON, all that the answer depends on.
    """

    kind: QuestionKind
    question: Json


class Planner(ABC, Generic[M, P]):
    """What can be chosen of a product, with methods M and plans P; no member reads a record."""

    form: ClassVar[type[ChoiceForm]]
    # Whether methods are listed by `rank`, so that the choice may be left to the portal.
    has_automatic: ClassVar[bool] = False

    @property
    @abstractmethod
    def methods(self) -> Sequence[M]:
        """The methods, the usual one first."""

    def unavailable(self, unit: PrivacyUnit) -> str:
        """Why nothing of this kind can be released for whom the domain protects; empty if it can."""
        return ""

    def crossed(self, draft: Release, domain: Domain) -> Domain:
        """The draft's columns whose cells are counted together: none may be made of the same column as another."""
        return domain

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Raise DraftError if these columns cannot make this product."""

    @abstractmethod
    def plan(self, method: M, draft: Release, version: DomainVersion, domain: Domain, loss: Loss) -> P:
        """The method's plan for the draft. Raises PlanError."""

    @abstractmethod
    def read_plan(self, value: Json) -> P:
        """A plan from its JSON."""

    @abstractmethod
    def offer(self, plan: P, draft: Release, plans: Sequence[P] = ()) -> Json:
        """What the comparison of methods shows of a plan; plans: those of all methods.

        "unsuited": why its method is not made for these columns, though it has a plan. "noise_figure": a function that
        draws the plan's noise on made-up counts. Each may be missing.
        """

    def rank(self, plan: P) -> tuple[float, ...]:
        """Of two plans the smaller one is better; of equals that of the usual method."""
        return (0.0,)

    def best_method(self, draft: Release, plans: Mapping[str, P]) -> str:
        """The method to begin with, of those that have a plan."""
        return min(plans, key=lambda name: self.rank(plans[name]))

    def recommend(self, draft: Release, plans: Mapping[str, P]) -> Recommendations:
        """At most three methods. plans: of those that are made for these columns; not empty."""
        name = self.best_method(draft, plans)
        method = next(m for m in self.methods if m.name == name)
        error, label = self.error_of(plans[name], draft), self.error_label(draft)
        figure = (
            "" if error is None else f"{label.title}{joint(':')}{label.sign} {rounded(error)} {label.unit}"
        )
        return Recommendations([Recommendation(name, method.title, method.summary, figure)])

    def worker_questions(self, draft: Release, domain: Domain, loss: Loss) -> list[WorkerQuestion]:
        """What workers find for the draft. loss: its amount does not matter."""
        return []

    def job_cost(self, plan: P, people: int | None) -> JobCost | None:
        """What the job takes, about, for so many people by the curator's estimate; None where it is next to nothing."""
        return None

    @abstractmethod
    def error_label(self, draft: Release) -> ErrorLabel:
        """Which error `error_of` gives."""

    @abstractmethod
    def error_of(self, plan: P, draft: Release) -> float | None:
        """The error that the dial shows; None if the plan does not tell."""

    def further_error_label(self, draft: Release) -> ErrorLabel | None:
        """Of a second error by which the dial can be set; None where there is none."""
        return None

    def further_error_of(self, plan: P, draft: Release) -> float | None:
        """That error; None if the plan does not tell."""
        return None

    def least_amount(self, mechanism: str, loss: Loss, error: float) -> Decimal | None:
        """The least cost with that error, where a formula has it; else it is found by trying. Raises PlanError.

        loss: any of the draft's; its amount does not matter.
        """
        return None

    @abstractmethod
    def verdict(self, plan: P, draft: Release) -> Verdict | None:
        """Whether the release is expected to be of use, before anything is spent; None if nobody can tell."""
