"""What bundle, pages and the curator's comparison ask of a product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Generic

import numpy as np
from django.http import QueryDict

from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict, VerdictLevel
from dpportal.releases.models import Release
from dpportal.releases.products.shared.values import P, R, ReconstructedRelease


class Presenter(ABC, Generic[P, R]):
    """What a made release of plan P and result R says, in files and on pages.

    not_still: the parts of `page` whose figures the public page does not show standing still, so it draws none.
    main_table: the CSV file of its numbers, for programs that want one.
    """

    main_table: ClassVar[str]
    not_still: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def tables(self, reconstructed: ReconstructedRelease[P, R], folder: Path) -> list[Table]:
        """Write the bundle's data files."""

    @abstractmethod
    def page(self, reconstructed: ReconstructedRelease[P, R]) -> Json:
        """What the public page shows, as JSON; nothing of the true counts."""

    @abstractmethod
    def compare(self, reconstructed: ReconstructedRelease[P, R], true: np.ndarray) -> Json:
        """What the curator's compare page shows, as JSON; holds true counts. true: `Counted.compared`."""

    @abstractmethod
    def verdict(self, comparison: Json) -> Verdict | None:
        """Whether the release is of use, from what the compare page shows; None if that does not tell."""

    def chosen(self, release: Release, plan: P, shown: Json, question: QueryDict) -> Json:
        """Beside what `page` stored, the parts that the page's address chooses; drawn while a visitor waits."""
        return {}

    def stored(self, shown: Json) -> Json:
        """Of what `page` has, which a report shows in full, what is stored for the public page: no more is read."""
        return shown

    def facts(self, reconstructed: ReconstructedRelease[P, R]) -> Json:
        """Further entries of release.json."""
        return {}

    def stored_estimates(self, reconstructed: ReconstructedRelease[P, R]) -> np.ndarray | None:
        """What `explore` needs beside the measurement, (n,) numbers to be stored; None if it needs nothing."""
        return None

    def reader_level(self, plan: P, people: int) -> VerdictLevel | None:
        """By which readers are warned, foreseen for so many people; None where the planner's verdict tells it."""
        return None

    def explore(self, release: Release, plan: P, question: QueryDict) -> Json:
        """The form in which a reader picks what to add up, and the sum of what the query picks; empty without one."""
        return {}
