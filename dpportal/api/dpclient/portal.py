"""A portal, its datasets and releases, as a program uses them with a token."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx
import pandas as pd

from . import uploading
from .connection import PATIENCE_SECONDS, POLL_SECONDS, Connection
from .faults import PortalError
from .published import Files, Published
from .running_counts import RunningCount
from .values import ValueChoice, ValuePlan

Facts = dict[str, Any]


class Portal:
    """A portal at an address, for whoever made the token. A context manager that closes its connections.

    Keys are random UUIDs of version 4 or 7: what is sent again with the same key is done once. language: of what is
    refused, such as “zh-hans”.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        language: str = "en",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.connection = Connection(address, token, transport, language)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def upload(
        self, table: str | Path | pd.DataFrame, *, name: str, key: str | None = None, **options: str
    ) -> Dataset:
        """Send a table in pieces, and wait until it was read. Raises PortalError, and httpx.TransportError.

        What a broken connection has stopped goes on by itself where it was, for some minutes; called again with the
        same key, it goes on from there, too. options: how it is read, such as `delimiter`.
        """
        if isinstance(table, pd.DataFrame):
            with io.BytesIO(table.to_csv(index=False).encode()) as file:
                return self._send(file, "table.csv", name, key, options)
        with Path(table).open("rb") as stored:
            return self._send(stored, Path(table).name, name, key, options)

    def _send(
        self, file: uploading.Content, file_name: str, name: str, key: str | None, options: Mapping[str, str]
    ) -> Dataset:
        said = {"filename": file_name, "name": name, **options}
        facts = uploading.upload(self.connection, file, key=key or str(uuid4()), said=said)
        return Dataset(self.connection, facts).wait()

    def dataset(self, dataset_id: str) -> Dataset:
        """A dataset by its id."""
        return Dataset(self.connection, self.connection.call("GET", f"/datasets/{dataset_id}"))

    def datasets(self) -> list[Dataset]:
        """The newest of the datasets that the token's person may see."""
        items = self.connection.call("GET", "/datasets")["items"]
        return [Dataset(self.connection, facts) for facts in items]

    def release(self, release_id: str) -> Release:
        """A release or draft by its id."""
        return Release(self.connection, self.connection.call("GET", f"/releases/{release_id}"))

    def running_count(self, stream_id: str) -> RunningCount:
        """A running count by its id."""
        return RunningCount(self.connection, self.connection.call("GET", f"/streams/{stream_id}"))

    def running_counts(self) -> list[RunningCount]:
        """The newest running counts and drafts of datasets that the token's person may release from."""
        items = self.connection.call("GET", "/streams")["items"]
        return [RunningCount(self.connection, facts) for facts in items]

    def products(self) -> list[Facts]:
        """Everything that can be released: choices of each product, methods and their parameters."""
        products: list[Facts] = self.connection.call("GET", "/products")
        return products

    def search(self, words: str = "", **query: Any) -> list[Facts]:
        """The newest of what is published and has these words."""
        found: list[Facts] = self.connection.call("GET", "/catalogue", words=words, **query)["items"]
        return found

    def published(self, publication_id: str) -> Published:
        """What is published, by its id."""
        return Published.of(self.connection, publication_id)


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

    def declare(self, columns: Mapping[str, Any], unit: Mapping[str, Any] | None = None) -> Facts:
        """Say what is publicly known of columns, as a codebook in JSON, and who is protected. Raises PortalError.

        unit: without one each row is one person, and whether a person is in the table stays hidden.
        """
        said = {"columns": dict(columns), "unit": dict(unit or {})}
        declared: Facts = self.connection.call("PUT", f"{self._path}/declaration", said)
        return declared

    def describe(self, **said: Any) -> Facts:
        """Say what everyone may know: `text`, `keywords`, `place`, `first`, `last`, `publisher`, `contact`, `licence`.

        licence: such as “CC-BY-4.0”. What is left out stays; nobody else sees any of it before `shown=True`. Raises
        PortalError.
        """
        described: Facts = self.connection.call("PATCH", f"{self._path}/description", said)
        return described

    def budgets(self) -> Facts:
        """What is granted, spent and left, and the newest question for a budget."""
        budgets: Facts = self.connection.call("GET", f"{self._path}/budgets")
        return budgets

    def ask(self, reason: str, release: Release | None = None) -> Facts:
        """Ask the administrators for a budget; for what a draft costs, if one is given."""
        said = {"reason": reason, "release": release.id if release else None}
        asked: Facts = self.connection.call("POST", f"{self._path}/budgets/ask", said)
        return asked

    def fit(self, seconds: float = PATIENCE_SECONDS) -> Facts:
        """How the table fits what is declared, once a worker has looked: true numbers, for the curator only."""
        self.connection.call("POST", f"{self._path}/fit")
        found: Facts = self.connection.until(
            lambda: self.connection.call("GET", f"{self._path}/fit", wait=POLL_SECONDS),
            lambda facts: not facts["job"] or facts["job"]["state"] not in ("queued", "running"),
            seconds,
        )
        return found

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
        said = {"product": product, "choices": dict(choices), "method": dict(method)}
        plan: Facts = self.connection.call("POST", f"{self._path}/plans", said)
        return plan

    def offers(self, product: str, choices: Mapping[str, Any], amount: str) -> Facts:
        """Every method at one cost."""
        said = {"product": product, "choices": dict(choices), "amount": amount}
        offers: Facts = self.connection.call("POST", f"{self._path}/offers", said)
        return offers

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


class Release:
    """A release or draft. facts: what the API says of it, by name."""

    def __init__(self, connection: Connection, facts: Facts) -> None:
        self.connection, self.facts = connection, facts
        self.id: str = facts["id"]
        self._path = f"/releases/{self.id}"

    @property
    def state(self) -> str:
        """Such as “draft” or “ready”."""
        return str(self.facts["state"])

    @property
    def address(self) -> str:
        """Of its page, for everyone once it is published."""
        return str(self.facts["address"])

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
        said = {"reviewed": "" if is_paid else self.plan()["reviewed"], "agreed": True, "one_row": one_row}
        said |= {"nevertheless": nevertheless}
        self.facts = self.connection.call("POST", f"{self._path}/spend", said, key=key)
        return self

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

    def publish(self, *, all_the_same: bool = False, doi: str | None = None) -> Release:
        """Show it to everyone; one that is public stays as it is.

        all_the_same: even if it is expected to be of little use. doi: see `set_details`. Raises PortalError, also for
        another DOI than that of a public one.
        """
        said: Facts = {"all_the_same": all_the_same, **({} if doi is None else {"doi": doi})}
        self.facts = self.connection.call("POST", f"{self._path}/publish", said)
        return self

    def set_details(self, *, doi: str | None = None, supersedes: str | None = None) -> Release:
        """Change its DOI, or the id of the older release that it replaces; None leaves it as it is. Raises PortalError.

        doi: such as 10.5281/zenodo.1234, or its address at https://doi.org/; "" takes it away.
        """
        sent = {
            name: value for name, value in (("doi", doi), ("supersedes", supersedes)) if value is not None
        }
        self.facts = self.connection.call("PATCH", f"{self._path}/details", sent)
        return self

    def withdraw(self, because: str = "") -> Release:
        """Close its page and its downloads; the budget stays spent."""
        self.facts = self.connection.call("POST", f"{self._path}/withdraw", {"because": because})
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
