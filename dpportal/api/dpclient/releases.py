"""Releases and their drafts, as a program uses them with a token."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import pandas as pd

from .connection import PATIENCE_SECONDS, POLL_SECONDS, Connection, Facts
from .faults import PortalError
from .published import Files
from .publishing import Publishable


class Release(Publishable):
    """A release or draft. facts: what the API says of it, by name."""

    def __init__(self, connection: Connection, facts: Facts) -> None:
        super().__init__(connection, facts, "/releases")

    def choose(
        self,
        *,
        product: str | None = None,
        choices: Mapping[str, Any] | None = None,
        method: Mapping[str, Any] | None = None,
        title: str | None = None,
    ) -> Release:
        """Change a draft's choices; of a confirmed release its title alone. None leaves something as it is."""
        body = {"product": product, "choices": choices, "method": method, "title": title}
        sent = {name: value for name, value in body.items() if value is not None}
        self.facts = self.connection.call("PATCH", self._path, sent)
        return self

    def again(self, dataset: str | None = None) -> Release:
        """A draft with the same choices, of the same dataset or of another one, by its id."""
        return Release(self.connection, self.connection.call("POST", f"{self._path}/again", dataset=dataset))

    def cancel(self) -> Release:
        """Cancel a job that has not begun; the reserved budget is free again. Raises PortalError."""
        self.facts = self.connection.call("POST", f"{self._path}/cancel")
        return self

    def resume(self) -> Release:
        """Do what is left of a job that stopped after its measurement: nothing more is spent. Raises PortalError."""
        self.facts = self.connection.call("POST", f"{self._path}/resume")
        return self

    def plan(self) -> Facts:
        """What a draft costs, its margin and its promise."""
        plan: Facts = self.connection.call("GET", f"{self._path}/plan")
        return plan

    def spend(self, *, key: str | None = None, one_row: bool = False, nevertheless: bool = False) -> Release:
        """Spend its cost for good and have it made; with a key, one that is paid for already stays as it is.

        one_row: says that each person has one row, where a column looks like an identifier. nevertheless: although
        a look has shown that most rows of a column fit nothing declared. Raises PortalError.
        """
        is_paid = self.state != "draft"
        if is_paid and key:
            return self
        reviewed = "" if is_paid else self._reviewed(key)
        if reviewed is None:
            return self
        body = {"reviewed": reviewed, "agreed": True, "one_row": one_row, "nevertheless": nevertheless}
        self.facts = self.connection.call("POST", f"{self._path}/spend", body, key=key)
        return self

    def _reviewed(self, key: str | None) -> str | None:
        """What the plan is confirmed by; None where another run with the key has confirmed it meanwhile."""
        try:
            return str(self.plan()["reviewed"])
        except PortalError as fault:
            if key is None or fault.status != HTTPStatus.CONFLICT:
                raise
        self.facts = self.connection.call("GET", self._path)
        return str(self.plan()["reviewed"]) if self.state == "draft" else None

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Release:
        """Wait until it is ready. Raises PortalError where its job was given up."""
        self.facts = self.connection.until(
            lambda: self.connection.call("GET", self._path, wait=POLL_SECONDS),
            lambda facts: (facts["job"] or {}).get("state") not in ("queued", "running"),
            seconds,
        )
        if self.state != "ready":
            raise PortalError(409, (self.facts["job"] or {}).get("failure") or f"It is {self.state}.")
        return self

    def comparison(self) -> pd.DataFrame:
        """Released beside true counts, for the curator alone; the look is recorded."""
        facts = self.connection.call("GET", f"{self._path}/comparison")
        return pd.DataFrame(facts["table"], columns=facts["header"])

    def files(self) -> Files:
        """Its bundle, published or not."""
        return Files(self.connection, self.connection.call("GET", f"{self._path}/files"))

    def table(self, name: str | None = None) -> pd.DataFrame:
        """Its numbers with their margins."""
        return self.files().table(name)
