"""What a product is to the portal: the parts of wizard, job, pages and bundle that differ between products."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from dpportal.charts.style import Figure
from dpportal.datasets.models import DomainVersion
from dpportal.publishing.table import Table
from dpportal.publishing.verdict import Verdict, rounded
from dpportal.releases.models import Release
from dpportal.releases.products.effort import Effort
from dpportal.releases.products.recommended import Recommended
from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.domain import Domain
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, Parameter

Text = str | Promise

# The choice of a method that leaves it to the portal: whichever has the smallest expected error.
AUTOMATIC = "automatic"
AUTOMATIC_TITLE = gettext_lazy("Automatic choice")


class DraftError(Exception):
    """Something a draft still lacks; the message says what to do, `step` where."""

    def __init__(self, message: str, step: str) -> None:
        super().__init__(message)
        self.message = message
        self.step = step


class ReleasePlan(Protocol):
    """What the portal knows of every product's plan."""

    @property
    def mechanism(self) -> str: ...

    @property
    def loss(self) -> Loss: ...

    def to_json(self) -> dict[str, Any]: ...


class Method(Protocol):
    """What the wizard knows of every product's mechanisms."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]]


M = TypeVar("M", bound=Method)
P = TypeVar("P", bound=ReleasePlan)
R = TypeVar("R")


@dataclass(frozen=True)
class Made(Generic[P, R]):
    """A measured release with its plan and what post-processing made of the measurement."""

    release: Release
    plan: P
    result: R

    @property
    def seed(self) -> bytes:
        """The public seed of synthetic rows: the measurement's own digest, so the same rows come out again."""
        return hashlib.sha256(str(self.release.measurement_sha256).encode()).digest()


def people_field() -> forms.IntegerField:
    """How many people the curator thinks there are."""
    return forms.IntegerField(
        label=gettext_lazy("Your estimate of the number of people"),
        min_value=1,
        max_value=10**10,
        help_text=gettext_lazy(
            "Shows what errors mean and which method suits. It is not published; the method and the cost that you "
            "choose by it are. Take it from public knowledge; it need not be exact."
        ),
    )


class ChoiceForm(forms.Form):
    """The wizard's second step: what exactly to release. A subclass knows its product's questions."""

    def __init__(self, data: Any = None, files: Any = None, *, declared: Domain, draft: Release) -> None:
        super().__init__(data, files, initial=self.chosen(draft))
        self.declared = declared

    def chosen(self, draft: Release) -> dict[str, Any]:
        """What the draft says already."""
        return {**draft.parameters, "columns": draft.columns, "people": draft.people}

    def apply(self, draft: Release) -> None:
        """Write the valid choice into the draft."""
        raise TypeError("a product's form says how its choice is kept")


class Product(ABC, Generic[M, P, R]):
    """One kind of release, with methods M, plans P and results R.

    Templates are partials that a page of the wizard or of the release includes.
    """

    name: ClassVar[str]
    title: ClassVar[Text]
    summary: ClassVar[Text]
    # What everyone will see and download, to follow "will see and download".
    readers_see: ClassVar[Text]
    icon: ClassVar[str]
    form: ClassVar[type[ChoiceForm]]
    choose_template: ClassVar[str]
    offers_template: ClassVar[str]
    review_template: ClassVar[str]
    page_template: ClassVar[str]
    compare_template: ClassVar[str]
    readme_template: ClassVar[str]
    # A file by itself for the curator, which says more than the compare page's table; empty where there is none.
    report_template: ClassVar[str] = ""
    # What the dial sets against the cost: an error in a few words, and its unit; empty where a cost has no one error.
    wanted: ClassVar[Text] = ""
    wanted_unit: ClassVar[Text] = gettext_lazy("people")
    wanted_sign: ClassVar[str] = "±"
    # Whether methods are recommended by what the release is for.
    has_purpose: ClassVar[bool] = False
    # Whether the choice of the method may be left to the portal.
    has_automatic: ClassVar[bool] = False
    # What there is to choose whatever the method.
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def unavailable(self, unit: PrivacyUnit) -> str:
        """Why nothing of this kind can be released for whom the domain protects; empty if it can."""
        return ""

    @property
    @abstractmethod
    def mechanisms(self) -> Sequence[M]:
        """The methods, the usual one first."""

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Raise DraftError if these columns cannot make this product."""

    @abstractmethod
    def plan(self, method: M, draft: Release, version: DomainVersion, domain: Domain, loss: Loss) -> P:
        """The method's plan for the draft. Raises PlanError."""

    @abstractmethod
    def read_plan(self, value: Mapping[str, Any]) -> P:
        """A plan from its JSON."""

    @abstractmethod
    def offer(self, plan: P, draft: Release, plans: Sequence[P] = ()) -> dict[str, Any]:
        """What the comparison of methods shows of a plan; plans: those of all methods."""

    def order(self, plan: P) -> float:
        """Methods are listed by this, smallest first; of equals the usual one comes first."""
        return 0.0

    def suggested(self, draft: Release, plans: Mapping[str, P]) -> str:
        """The method to begin with, of those that have a plan."""
        return min(plans, key=lambda name: self.order(plans[name]))

    def unsuited(self, plan: P) -> str:
        """Why its method is not made for these columns, though it has a plan; empty if it is."""
        return ""

    def recommended(self, draft: Release, plans: Mapping[str, P], advice: Any) -> list[Recommended]:
        """What to take, best first: at most three.

        plans: of the methods that are made for these columns; not empty. advice: what `advice` says of them.
        """
        name = self.suggested(draft, plans)
        method = next(m for m in self.mechanisms if m.name == name)
        error = self.wanted_error(plans[name], draft)
        figure = (
            ""
            if error is None
            else f"{self.wanted_in(draft)}: {self.wanted_sign} {rounded(error)} {self.wanted_unit}"
        )
        return [Recommended(name, method.title, method.summary, figure)]

    def advice(self, draft: Release, plans: Mapping[str, P]) -> Any:
        """What the recommendation rests on, as `offers_template` shows it; None where it is said in a sentence."""
        return None

    def searches(self, draft: Release, domain: Domain, definition: Definition) -> list[dict[str, Any]]:
        """What a worker has to find before every method has a plan."""
        return []

    def simulation(self, draft: Release, domain: Domain, loss: Loss) -> dict[str, Any] | None:
        """What a worker simulates to tell what to expect, whatever the loss's amount; None where nothing is."""
        return None

    def effort(self, plan: P, people: int | None) -> Effort | None:
        """What the job takes, about, for so many people by the curator's estimate; None where it is next to nothing."""
        return None

    def wanted_in(self, draft: Release) -> Text:
        """`wanted`, for what the draft asks."""
        return self.wanted

    def wanted_error(self, plan: P, draft: Release) -> float | None:
        """What `wanted_in` names, in `wanted_unit`; None if the plan does not tell."""
        return None

    def amount_for(self, mechanism: str, loss: Loss, wanted: float) -> Decimal | None:
        """The least cost with that error, where it is known exactly; else it is found by trying. Raises PlanError.

        loss: any of the draft's; its amount does not matter.
        """
        return None

    @abstractmethod
    def count(self, release: Release, plan: P, key: bytes) -> np.ndarray:
        """The true integers that are measured. Reads people's records."""

    def rows_counted(self, plan: Any, true: np.ndarray) -> int | None:
        """How many rows the true integers counted, or None where they do not tell."""
        return None

    def compared(self, plan: P, counts: np.ndarray) -> np.ndarray:
        """What is kept of the true counts beside the measurement, for the curator's comparison."""
        return counts

    @abstractmethod
    def measure(self, plan: P, counts: np.ndarray, noise: Noise) -> Measurement:
        """The private step."""

    @abstractmethod
    def reconstruct(self, plan: P, measurement: Measurement) -> R:
        """The result: post-processing, the same every time."""

    @abstractmethod
    def tables(self, made: Made[P, R], folder: Path) -> list[Table]:
        """Write the bundle's data files."""

    @abstractmethod
    def page(self, made: Made[P, R]) -> dict[str, Any]:
        """What the public page shows, as JSON; nothing of the true counts."""

    @abstractmethod
    def compare(self, made: Made[P, R], true: np.ndarray) -> dict[str, Any]:
        """What the curator's compare page shows, as JSON; holds true counts."""

    def report(self, comparison: Mapping[str, Any]) -> dict[str, Any]:
        """What `report_template` needs beside the stored comparison and the release."""
        return {}

    def cells_file(self, plan: P) -> str:
        """The file each line of which has a noisy count with noise of its own, independent; empty if there is none."""
        return ""

    def facts(self, made: Made[P, R]) -> dict[str, Any]:
        """Further entries of release.json."""
        return {}

    def estimates(self, made: Made[P, R]) -> np.ndarray | None:
        """What `explored` needs beside the measurement, (n,) numbers to be kept; None if it needs nothing."""
        return None

    def as_kept(self, result: R, estimates: np.ndarray) -> R:
        """The result as it was when its `estimates` were kept, where another machine may find it slightly different."""
        return result

    def asked(self, release: Release, plan: P, question: Mapping[str, str]) -> dict[str, Any]:
        """The answer to what a reader asks of the public page, by the address's query."""
        return {}

    def explored(self, release: Release, plan: P, question: QueryDict) -> dict[str, Any]:
        """The form in which a reader picks cells to add up, and the sum of what the query picks; empty without one."""
        return {}

    def foreseen(self, plan: P, draft: Release) -> Verdict | None:
        """Whether the release is expected to be of use, before anything is spent; None if nobody can tell."""
        return None

    def found(self, comparison: Mapping[str, Any]) -> Verdict | None:
        """Whether it is, from what the compare page shows; None if that does not tell."""
        return None

    def noise_figure(self, plan: P, people: int | None) -> Figure | None:
        """A picture of the plan's noise on made-up counts, or None."""
        return None
