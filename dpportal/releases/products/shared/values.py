"""What passes between the three objects of a product: its plan, what was counted, and what was made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from mechanisms.accounting import Definition, Loss
from mechanisms.synthesis.table import public_seed


class ReleasePlan(Protocol):
    """What the portal knows of every product's plan."""

    @property
    def mechanism(self) -> str: ...

    @property
    def loss(self) -> Loss: ...

    def to_json(self) -> Json: ...


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
class Counted:
    """True integers: what meets noise, and what stays beside the measurement for the curator's comparison."""

    measured: np.ndarray
    compared: np.ndarray

    @classmethod
    def same(cls, counts: np.ndarray) -> Counted:
        """Counts that are both."""
        return cls(counts, counts)


@dataclass(frozen=True)
class ReconstructedRelease(Generic[P, R]):
    """A measured release with its plan and what post-processing made of the measurement."""

    release: Release
    plan: P
    result: R

    @property
    def seed(self) -> bytes:
        """The public seed of synthetic rows."""
        return public_seed(str(self.release.measurement_sha256))
