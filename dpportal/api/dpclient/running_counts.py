"""Running counts: many periods sent at once, and what only their curator sees."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

import pandas as pd

from .connection import API, PATIENCE_SECONDS, POLL_SECONDS, Connection, Facts
from .faults import PortalError
from .publishing import Publishable

AT_WORK = ("queued", "running")


class RunningCount(Publishable):
    """A running count or its draft. facts: what the API says of it, by name."""

    def __init__(self, connection: Connection, facts: Facts) -> None:
        super().__init__(connection, facts, "/streams")

    def open(self, *, key: str | None = None, one_row: bool = False) -> RunningCount:
        """Spend its cost for good and have it opened; with a key, one that is paid for already stays as it is.

        one_row: says that each person has one row, where a column looks like an identifier. Raises PortalError.
        """
        is_draft = self.state == "draft"
        if not is_draft and key:
            return self
        body = {
            "reviewed": (self.facts["reviewed"] or "") if is_draft else "",
            "agreed": True,
            "one_row": one_row,
        }
        self.facts = self.connection.call("POST", f"{self._path}/open", body, key=key)
        return self

    def wait(self, seconds: float = PATIENCE_SECONDS) -> RunningCount:
        """Wait until it is open. Raises PortalError where it could not be opened."""
        self.facts = self.connection.until(
            lambda: self.connection.call("GET", self._path, wait=POLL_SECONDS),
            lambda facts: facts["state"] != "opening",
            seconds,
        )
        if self.state != "open":
            raise PortalError(409, f"It is {self.state}.")
        return self

    def renew_token(self) -> str:
        """A new token that opens this running count alone, shown this once; the one before it ends."""
        return str(self.connection.call("POST", f"{self._path}/token")["token"])

    def add_period(
        self, period: int | str, counts: int | Mapping[str, int], *, token: str, key: str
    ) -> Facts:
        """Publish one period, by its number or a day in it; one that is published stays as it is. Raises PortalError.

        counts: one number, or one for each value by its name. token: of this running count alone.
        The answer's “clipped” says how many of them were above the declared largest, and published as that; 0 where
        nothing is published now.
        """
        answer = self.connection.send(
            "POST",
            self.facts["periods"],
            key=key,
            headers={"Authorization": f"Bearer {token}"},
            json={"period": period, "counts": counts},
        )
        published: Facts = answer.json()
        sent = counts.values() if isinstance(counts, Mapping) else [counts]
        # The portal answers alike whatever is sent, so this is found here.
        is_new = answer.status_code == HTTPStatus.CREATED
        published["clipped"] = sum(count > published["largest"] for count in sent) if is_new else 0
        return published

    def close(self) -> RunningCount:
        """End it before its horizon and delete its secret noise; what is published stays."""
        self.facts = self.connection.call("POST", f"{self._path}/close")
        return self

    def again(self) -> RunningCount:
        """A draft with the same choices."""
        return RunningCount(self.connection, self.connection.call("POST", f"{self._path}/again"))

    def send_periods(
        self,
        periods: str | Path | pd.DataFrame,
        *,
        column: str = "",
        dates: str = "%Y-%m-%d",
        key: str | None = None,
    ) -> PeriodFile:
        """Send many periods, of 1 MB at most; nothing is published before `confirm`. Raises PortalError.

        periods: a table with a column “period” or “date” and one for each count, as lines of text, a file or a frame.
        column: of the counts, where there are several. dates: how days are written, in letters of strptime. key: what
        is sent again with the same one is the same file.
        """
        if isinstance(periods, pd.DataFrame):
            periods = periods.to_csv(index=False, date_format=dates)
        lines = periods.read_text(encoding="utf-8-sig") if isinstance(periods, Path) else periods
        body = {"lines": lines, "column": column, "dates": dates}
        facts = self.connection.call("POST", f"{self._path}/period-files", body, key=key)
        return PeriodFile(self.connection, self._path, facts)

    def comparison(self, count: int = 0) -> pd.DataFrame:
        """The newest periods beside the true counts, for the curator alone; the look is recorded.

        count: which of the labels. The numbers over all of them are in `attrs`.
        """
        facts = self.connection.call("GET", f"{self._path}/comparison", count=count)
        table = pd.DataFrame(facts.pop("table"), columns=facts.pop("header"))
        table.attrs.update(facts)
        return table


class PeriodFile:
    """A file of periods that was sent. facts: what the API says of it, by name."""

    def __init__(self, connection: Connection, stream: str, facts: Facts) -> None:
        self.connection, self.facts = connection, facts
        self.id: str = facts["id"]
        self._path = f"{stream}/period-files/{self.id}"

    @property
    def preview(self) -> Facts | None:
        """What it would publish, while it waits to be confirmed."""
        preview: Facts | None = self.facts["preview"]
        return preview

    def wait(self, seconds: float = PATIENCE_SECONDS) -> PeriodFile:
        """Wait until it was checked, or, once it is confirmed, published. Raises PortalError where it was refused."""
        self.facts = self.connection.until(
            lambda: self.connection.call("GET", self._path, wait=POLL_SECONDS),
            lambda facts: facts["job"]["state"] not in AT_WORK,
            seconds,
        )
        if self.facts["job"]["state"] != "done":
            raise PortalError(409, self.facts["job"]["failure"] or f"It is {self.facts['job']['state']}.")
        return self

    def confirm(self) -> PeriodFile:
        """Have published what the preview says; what is confirmed already stays so. Raises PortalError."""
        self.facts = self.connection.call("POST", f"{self._path}/confirm")
        return self

    def stop(self) -> PeriodFile:
        """Stop the work on it; what is published of it stays."""
        self.facts = self.connection.call("POST", f"{self._path}/stop")
        return self

    def drop(self) -> None:
        """Delete it while it waits to be confirmed; nothing of it is published."""
        self.connection.send("DELETE", f"{API}{self._path}")
