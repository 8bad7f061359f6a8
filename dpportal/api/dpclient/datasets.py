"""Datasets, as a program uses them with a token: read, declared, described, shared, planned, erased."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pandas as pd

from .connection import PATIENCE_SECONDS, POLL_SECONDS, Connection, Facts
from .faults import PortalError
from .releases import Release
from .running_counts import RunningCount
from .values import ValueChoice, ValuePlan


class Dataset:
    """A dataset. facts: what the API says of it, by name."""

    def __init__(self, connection: Connection, facts: Facts) -> None:
        self.connection, self.facts = connection, facts
        self.id: str = facts["id"]
        self._path = f"/datasets/{self.id}"

    @property
    def state(self) -> str:
        """Such as “stored”."""
        return str(self.facts["state"])

    def _call(self, method: str, path: str, payload: Mapping[str, Any] | None = None, **query: Any) -> Facts:
        """path: below its own address."""
        below = f"{self._path}/{path}" if path else self._path
        facts: Facts = self.connection.call(method, below, payload, **query)
        return facts

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Dataset:
        """Wait until its file was read. Raises PortalError where it could not be."""
        self.facts = self.connection.until(
            lambda: self.connection.call("GET", self._path, wait=POLL_SECONDS),
            lambda facts: facts["state"] != "converting",
            seconds,
        )
        if self.state != "stored":
            failure = (self.facts["reading"] or {}).get("failure") or self.facts["remark"]
            raise PortalError(409, failure or f"It is {self.state}.")
        return self

    def declaration(self) -> Facts:
        """What is declared now: `columns` as a codebook in JSON, and who is protected, `unit`."""
        return self._call("GET", "declaration")

    def declare(self, columns: Mapping[str, Any], unit: Mapping[str, Any] | None = None) -> Facts:
        """Say what is publicly known of columns, as a codebook in JSON, and who is protected. Raises PortalError.

        unit: None leaves what was said of it; {} says that each row is one person, and that whether a person is in the
        table stays hidden. Nothing is released before it was said once. Columns that are not named stay as they are.
        """
        body = {"columns": dict(columns), **({} if unit is None else {"unit": dict(unit)})}
        return self._call("PUT", "declaration", body)

    def copy_declaration(self, source: str) -> Facts:
        """Take over what another dataset, by its id, declares of columns with the same names. Raises PortalError."""
        return self._call("POST", "declaration/copy", {"source": source})

    def declare_coarser(self, column: str, name: str, **together: Any) -> Facts:
        """Declare a column once more with fewer cells. Raises PortalError.

        together: one of `groups`, of texts each value with its group; `edges`, where groups of numbers begin, and where
        the last one ends; `step`, a calendar step.
        """
        return self._call("POST", "declaration/coarser", {"column": column, "name": name, **together})

    def drop_coarser(self, name: str) -> None:
        """Take a coarser column away; the one that it was made of stays."""
        self._call("DELETE", "declaration/coarser", name=name)

    def declare_areas(self, column: str, areas: Mapping[str, Any], *, credit: str = "") -> Facts:
        """Say which areas of a map, as GeoJSON, a column's values are. credit: whose map it is. Raises PortalError."""
        return self._call("PUT", "areas", {"column": column, "areas": dict(areas), "credit": credit})

    def drop_areas(self, column: str) -> None:
        """Take a column's map away; what was published stays without it."""
        self._call("DELETE", "areas", column=column)

    def rename(self, name: str | None = None, *, description: str | None = None) -> Facts:
        """Change its name, or its own description, which curators alone see; None leaves it as it is."""
        body = {"name": name, "description": description}
        self.facts = self._call("PATCH", "", {key: text for key, text in body.items() if text is not None})
        return self.facts

    def description(self) -> Facts:
        """What is written of it for everyone, under which `licence`, and whether they see it: `shown`."""
        return self._call("GET", "description")

    def describe(self, **payload: Any) -> Facts:
        """Say what everyone may know: `text`, `keywords`, `place`, `first`, `last`, `publisher`, `contact`, `licence`.

        licence: such as “CC-BY-4.0”. What is left out stays; nobody else sees any of it before `shown=True`. Raises
        PortalError.
        """
        return self._call("PATCH", "description", payload)

    def shares(self) -> list[Facts]:
        """With whom it is shared: `id`, `person`, `right`."""
        shares: list[Facts] = self.connection.call("GET", f"{self._path}/shares")
        return shares

    def share(self, person: str, right: int) -> Facts:
        """Give another curator a right: 1 to see, 2 to release, 3 to own. person: user name, or e-mail address."""
        return self._call("POST", "shares", {"name": person, "right": right})

    def take_back(self, share: int) -> None:
        """Take a right back, by the id of its share."""
        self._call("DELETE", f"shares/{share}")

    def reading(self) -> Facts:
        """How its file is read: `options`, by the names of the upload page; `sheets`; whether it `can_change`."""
        return self._call("GET", "reading")

    def change_reading(self, **options: str | int | None) -> Dataset:
        """Change how its file is read, until the first release, and wait for it. None: as the first rows suggest."""
        self._call("PATCH", "reading", options)
        return self.wait()

    def cancel_reading(self) -> None:
        """Stop the reading of its file."""
        self.facts = self._call("POST", "reading/cancel")

    def read_again(self) -> Dataset:
        """Have its file read once more, and wait until it was. Raises PortalError."""
        self._call("POST", "reading/again")
        return self.wait()

    def rows(self, first: int = 20) -> pd.DataFrame:
        """Its first rows as texts, for its owners alone; the look is recorded."""
        facts = self._call("GET", "rows", first=first)
        return pd.DataFrame(facts["rows"], columns=facts["columns"], dtype=str)

    def erasure(self) -> Facts:
        """When its records are deleted by themselves; of records that are deleted, the `receipt`."""
        return self._call("GET", "erasure")

    def erase_on(self, day: date | None) -> Facts:
        """Choose the day on which its records are deleted by themselves, or none. Raises PortalError."""
        return self._call("PUT", "erasure", {"day": day and day.isoformat()})

    def erase(self) -> Facts:
        """Delete its records for ever; releases and the ledger stay. Raises PortalError."""
        self.facts = self._call("DELETE", "records")
        return self.facts

    def remove(self) -> None:
        """Take an upload off the list that was not loaded."""
        self._call("DELETE", "")

    def budgets(self) -> Facts:
        """What is granted, spent and left, and the newest question for a budget."""
        return self._call("GET", "budgets")

    def ask(self, reason: str, draft: Release | RunningCount | None = None) -> Facts:
        """Ask the administrators for a budget; for what a draft costs, if one is given."""
        kind = "stream" if isinstance(draft, RunningCount) else "release"
        body = {"reason": reason, **({kind: draft.id} if draft else {})}
        return self._call("POST", "budgets/ask", body)

    def fit(self, seconds: float = PATIENCE_SECONDS) -> Facts:
        """How the table fits what is declared, once a worker has looked: true numbers, for the curator only."""
        self.connection.call("POST", f"{self._path}/fit")
        fit: Facts = self.connection.until(
            lambda: self.connection.call("GET", f"{self._path}/fit", wait=POLL_SECONDS),
            lambda facts: not facts["job"] or facts["job"]["state"] not in ("queued", "running"),
            seconds,
        )
        return fit

    def plan_values(self, column: str, amount: str, delta: str) -> ValuePlan:
        """What a private choice of the column's values, which nobody declared, would cost and keep.

        amount: of ε or ρ; delta: of δ besides. No data is looked at, and nothing is spent. Raises PortalError.
        """
        return ValuePlan.of(self.connection, self.id, column, amount, delta)

    def value_choice(self, choice_id: str) -> ValueChoice:
        """A choice of values that was paid for, by its id."""
        return ValueChoice.by_id(self.connection, self.id, choice_id)

    def plan(self, product: str, choices: Mapping[str, Any], method: Mapping[str, Any]) -> Facts:
        """Cost, margin and promise of a release; no data is looked at, and nothing is spent. Raises PortalError."""
        body = {"product": product, "choices": dict(choices), "method": dict(method)}
        return self._call("POST", "plans", body)

    def offers(self, product: str, choices: Mapping[str, Any], amount: str) -> Facts:
        """Every method at one cost."""
        body = {"product": product, "choices": dict(choices), "amount": amount}
        return self._call("POST", "offers", body)

    def draft(
        self,
        product: str,
        choices: Mapping[str, Any],
        method: Mapping[str, Any],
        *,
        title: str = "",
        key: str | None = None,
    ) -> Release:
        """Draft a release; nothing is spent. Raises PortalError."""
        chosen = {"product": product, "choices": dict(choices), "method": dict(method), "title": title}
        facts = self.connection.call("POST", "/releases", {"dataset": self.id, **chosen}, key=key)
        return Release(self.connection, facts)

    def draft_running_count(
        self, name: str, *, amount: str, key: str | None = None, **payload: Any
    ) -> RunningCount:
        """Draft a running count; nothing is spent. Raises PortalError.

        payload: what the steps of its wizard ask, such as `step`, `first_day`, `horizon`, `column` with `mode`.
        """
        chosen = {"dataset": self.id, "name": name, "amount": amount, **payload}
        return RunningCount(self.connection, self.connection.call("POST", "/streams", chosen, key=key))
