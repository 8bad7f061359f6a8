"""A product: its words, and the three objects that plan, run and present its releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from dpportal.releases.products.shared.planner import Planner, TextOrPromise
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import M, P, R


@dataclass(frozen=True)
class ReleaseProduct(Generic[M, P, R]):
    """One kind of release, with methods M, plans P and results R.

    readers_see: what everyone will see and download, to follow "will see and download". has_report: whether the curator
    has a quality report, a file by itself that says more than the compare page's table. is_long: whether the public
    page shows tables in full, so that an outline stands beside them.
    """

    name: str
    title: TextOrPromise
    summary: TextOrPromise
    readers_see: TextOrPromise
    icon: str
    planner: Planner[M, P]
    runner: Runner[P, R]
    presenter: Presenter[P, R]
    has_report: bool = False
    is_long: bool = False

    @property
    def findings(self) -> tuple[str, str]:
        """Templates of the page's first sentence: its own, or that of counts."""
        return self.template("_finding.html"), "releases/_finding.html"

    def template(self, part: str) -> str:
        """The name of one of its templates: partials that a page of the wizard or of the release includes."""
        return f"releases/{self.name}/{part}"
