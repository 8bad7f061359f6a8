"""A portal, as a program uses it with a token."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx
import pandas as pd

from . import uploading
from .connection import Connection, Facts
from .datasets import Dataset
from .published import FILES_SECONDS, Published
from .releases import Release
from .running_counts import RunningCount


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
        metadata = {"filename": file_name, "name": name, **options}
        facts = uploading.upload(self.connection, file, key=key or str(uuid4()), payload=metadata)
        return Dataset(self.connection, facts).wait()

    def dataset(self, dataset_id: str) -> Dataset:
        """A dataset by its id."""
        return Dataset(self.connection, self.connection.call("GET", f"/datasets/{dataset_id}"))

    def datasets(self) -> list[Dataset]:
        """The newest of the datasets that the token's person may see."""
        items = self.connection.call("GET", "/datasets")["items"]
        return [Dataset(self.connection, facts) for facts in items]

    def begin_counted(self, name: str, **payload: Any) -> Dataset:
        """A dataset without a table, of people whom their curator counts, for running counts. Raises PortalError.

        payload: such as `neighbours`, `max_rows` with `person`, `column` with `values`.
        """
        return Dataset(self.connection, self.request("POST", "/datasets/counted", {"name": name, **payload}))

    def offered_tables(self) -> list[Facts]:
        """The tables in other databases that administrators offer: `id` and `title`."""
        offered: list[Facts] = self.request("GET", "/datasets/offered-tables")
        return offered

    def connect_table(self, table: int, *, name: str = "") -> Dataset:
        """A dataset of a table that stays in its own database. Raises PortalError."""
        return Dataset(
            self.connection, self.request("POST", "/datasets/connected", {"table": table, "name": name})
        ).wait()

    def releases(self, dataset: str | None = None) -> list[Release]:
        """The newest releases and drafts of datasets that the token's person may release from, or of one, by its id."""
        items = self.request("GET", "/releases", dataset=dataset)["items"]
        return [Release(self.connection, facts) for facts in items]

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
        items: list[Facts] = self.connection.call("GET", "/catalogue", words=words, **query)["items"]
        return items

    def request(
        self,
        method: str,
        path: str,
        payload: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        **query: object,
    ) -> Any:
        """What the API answers to any request that its description has; None to one without an answer.

        path: below /api/v1, such as "/webhooks". payload: the body. key: see the class. Raises PortalError.
        """
        return self.connection.call(method, path, payload, key=key, **query)

    def published(self, publication_id: str, *, seconds: float = FILES_SECONDS) -> Published:
        """What is published, by its id. seconds: as `read` has it."""
        return Published.of(self.connection, publication_id, seconds)
