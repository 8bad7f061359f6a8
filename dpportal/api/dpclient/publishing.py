"""What releases and running counts have in common: they are made public, described, and taken back."""

from __future__ import annotations

from typing import Self

from .connection import Connection, Facts


class Publishable:
    """A release or running count. facts: what the API says of it, by name. path: below the API's address."""

    def __init__(self, connection: Connection, facts: Facts, path: str) -> None:
        self.connection, self.facts = connection, facts
        self.id: str = facts["id"]
        self._path = f"{path}/{self.id}"

    @property
    def state(self) -> str:
        """Such as “draft”, “ready” or “open”."""
        return str(self.facts["state"])

    @property
    def address(self) -> str:
        """Of its page, for everyone once it is published."""
        return str(self.facts["address"])

    def discard(self) -> None:
        """Delete a draft; nothing was spent on it."""
        self.connection.call("DELETE", self._path)

    def publish(self, *, all_the_same: bool = False, again: bool = False, doi: str | None = None) -> Self:
        """Show it to everyone; one that is public stays as it is.

        all_the_same: even if it is expected to be of little use. again: even if it was withdrawn. doi: see
        `set_details`. Raises PortalError, also for another DOI than that of a public one.
        """
        body: Facts = {
            "all_the_same": all_the_same,
            "again": again,
            **({} if doi is None else {"doi": doi}),
        }
        self.facts = self.connection.call("POST", f"{self._path}/publish", body)
        return self

    def set_details(self, *, doi: str | None = None, supersedes: str | None = None) -> Self:
        """Change its DOI, or the id of the older one that it replaces; None leaves it as it is. Raises PortalError.

        doi: such as 10.5281/zenodo.1234, or its address at https://doi.org/; "" takes it away.
        """
        sent = {
            name: value for name, value in (("doi", doi), ("supersedes", supersedes)) if value is not None
        }
        self.facts = self.connection.call("PATCH", f"{self._path}/details", sent)
        return self

    def withdraw(self, because: str = "") -> Self:
        """Close its page and its downloads; the budget stays spent."""
        self.facts = self.connection.call("POST", f"{self._path}/withdraw", {"because": because})
        return self
