"""What a product is to the portal: the parts of wizard, job, pages and bundle that differ between products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from django import forms
from django.utils.functional import Promise

from dpportal.datasets.models import DomainVersion
from dpportal.releases.models import Release
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.mechanism import Measurement, Parameter
from mechanisms.noise import Noise

Text = str | Promise

# The choice of a method that leaves it to the portal: whichever has the smallest expected error.
AUTOMATIC = "automatic"


class DraftError(Exception):
    """Something a draft still lacks; the message says what to do, `step` where."""

    def __init__(self, message: str, step: str) -> None:
        super().__init__(message)
        self.message = message
        self.step = step


@dataclass(frozen=True)
class Made:
    """A measured release with its plan and what post-processing made of the measurement."""

    release: Release
    plan: Any
    result: Any


@dataclass(frozen=True)
class Table:
    """A data file of a bundle.

    fields: its columns as Frictionless fields, for a CSV that a data package describes. may_be_blank: whether a row
    can have nothing but missing values, which a reader must be told.
    """

    path: Path
    about: str
    fields: Sequence[Mapping[str, Any]] = ()
    may_be_blank: bool = False


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


class Product(ABC):
    """One kind of release. Templates are partials that a page of the wizard or of the release includes."""

    name: ClassVar[str]
    title: ClassVar[Text]
    summary: ClassVar[Text]
    icon: ClassVar[str]
    form: ClassVar[type[ChoiceForm]]
    choose_template: ClassVar[str]
    offers_template: ClassVar[str]
    review_template: ClassVar[str]
    page_template: ClassVar[str]
    compare_template: ClassVar[str]
    readme_template: ClassVar[str]
    # Whether a cost corresponds to one interval, so that the dial can be turned from either end.
    has_interval: ClassVar[bool] = False
    # Whether methods are ranked by what the release is for.
    has_ranking: ClassVar[bool] = False
    # Whether the choice of the method may be left to the portal.
    has_automatic: ClassVar[bool] = False
    # What there is to choose whatever the method.
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    @property
    @abstractmethod
    def mechanisms(self) -> Sequence[Any]:
        """The methods, the usual one first."""

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Raise DraftError if these columns cannot make this product."""

    @abstractmethod
    def plan(self, method: Any, draft: Release, version: DomainVersion, domain: Domain, loss: Loss) -> Any:
        """The method's plan for the draft. Raises PlanError."""

    @abstractmethod
    def read_plan(self, value: Mapping[str, Any]) -> Any:
        """A plan from its JSON."""

    @abstractmethod
    def offer(self, plan: Any, draft: Release, plans: Sequence[Any] = ()) -> dict[str, Any]:
        """What the comparison of methods shows of a plan; plans: those of all methods."""

    def order(self, plan: Any) -> float:
        """Methods are listed by this, smallest first; of equals the usual one comes first."""
        return 0.0

    def suggested(self, plans: Mapping[str, Any]) -> str:
        """The method to begin with, of those that have a plan."""
        return min(plans, key=lambda name: self.order(plans[name]))

    def plans_slowly(self, draft: Release, domain: Domain) -> bool:
        """Whether comparing the methods can take seconds, so that a page must not wait for it."""
        return False

    def searches(self, draft: Release, domain: Domain, definition: Definition) -> list[dict[str, Any]]:
        """What a worker has to find before every method has a plan."""
        return []

    @abstractmethod
    def count(self, release: Release, plan: Any, key: bytes) -> np.ndarray:
        """The true integers that are measured. Reads people's records."""

    @abstractmethod
    def measure(self, plan: Any, counts: np.ndarray, noise: Noise) -> Measurement:
        """The private step."""

    @abstractmethod
    def reconstruct(self, plan: Any, measurement: Measurement) -> Any:
        """The result: post-processing, the same every time."""

    @abstractmethod
    def tables(self, made: Made, folder: Path) -> list[Table]:
        """Write the bundle's data files."""

    @abstractmethod
    def page(self, made: Made) -> dict[str, Any]:
        """What the public page shows, as JSON; nothing of the true counts."""

    @abstractmethod
    def compare(self, made: Made, true: np.ndarray) -> dict[str, Any]:
        """What the curator's compare page shows, as JSON; holds true counts."""

    def facts(self, made: Made) -> dict[str, Any]:
        """Further entries of release.json."""
        return {}

    def asked(self, release: Release, plan: Any, question: Mapping[str, str]) -> dict[str, Any]:
        """The answer to what a reader asks of the public page, by the address's query."""
        return {}

    def noise_figure(self, plan: Any, people: int | None) -> Any:
        """A picture of the plan's noise on made-up counts, or None."""
        return None
