"""Values that nobody declared, of which a private choice makes a column's declaration: planned, asked for, made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from .connection import PATIENCE_SECONDS, POLL_SECONDS, Connection, Facts
from .faults import PortalError


@dataclass(frozen=True)
class ValuePlan:
    """What a choice at a cost would do; no data was looked at, and nothing is spent.

    amount: of ε or ρ, as counted_in says. people: with how many people, at least, a value is kept with this chance, by
    the chance: {"50 %": 30}. rules: what counts as a value, whatever the table holds, and how often one is kept
    that a single person has. warning: why δ is too large; empty if it is not. unpaid: why the budget cannot pay
    for it, and what to do; empty if it can. second_person: "needed" where another person has to approve it, who is
    asked for on the page, "waiting" once that was done.
    """

    connection: Connection
    dataset: str
    column: str
    amount: str
    delta: str
    counted_in: str
    people: dict[str, int]
    rules: list[str]
    warning: str
    unpaid: str
    second_person: str
    reviewed: str

    @classmethod
    def of(cls, connection: Connection, dataset: str, column: str, amount: str, delta: str) -> Self:
        """Raises PortalError where the values of this column cannot be chosen, or not at this cost."""
        body = {"column": column, "amount": amount, "delta": delta}
        facts: Facts = connection.call("POST", f"/datasets/{dataset}/values/plan", body)
        people = {each["chance"]: each["people"] for each in facts["needed"]}
        names = (
            "column",
            "amount",
            "delta",
            "counted_in",
            "rules",
            "warning",
            "unpaid",
            "second_person",
            "reviewed",
        )
        return cls(connection, dataset, people=people, **{name: facts[name] for name in names})

    @property
    def _cost(self) -> Facts:
        return {"column": self.column, "amount": self.amount, "delta": self.delta}

    def ask(self, reason: str) -> Facts:
        """Ask the administrators for what it costs, with its δ."""
        body = {"reason": reason, "values": self._cost}
        answer: Facts = self.connection.call("POST", f"/datasets/{self.dataset}/budgets/ask", body)
        return answer

    def spend(self, *, key: str | None = None, one_row: bool = False) -> ValueChoice:
        """Spend its cost for good and have the choice made; one that was paid for with this key stays as it is.

        one_row: says that each person has one row, where a column looks like an identifier. Raises PortalError.
        """
        body = {**self._cost, "reviewed": self.reviewed, "agreed": True, "one_row": one_row}
        facts = self.connection.call("POST", f"/datasets/{self.dataset}/values", body, key=key)
        return ValueChoice(self.connection, self.dataset, facts)


class ValueChoice:
    """A choice that was paid for. facts: what the API says of it, by name."""

    def __init__(self, connection: Connection, dataset: str, facts: Facts) -> None:
        self.connection, self.facts = connection, facts
        self.id: str = facts["id"]
        self._path = f"/datasets/{dataset}/values/{self.id}"

    @classmethod
    def by_id(cls, connection: Connection, dataset: str, choice_id: str) -> Self:
        """Raises PortalError where the dataset has none of this id."""
        return cls(connection, dataset, connection.call("GET", f"/datasets/{dataset}/values/{choice_id}"))

    @property
    def kept(self) -> list[str] | None:
        """The kept values; None before they were chosen."""
        values: list[str] | None = self.facts["kept"]
        return values

    @property
    def cost(self) -> str:
        """Such as “ε 0.50, δ 10⁻⁷”."""
        return str(self.facts["cost"])

    @property
    def undeclared(self) -> str:
        """Why the values are not declared, and what to do; empty where they are."""
        return str(self.facts["undeclared"])

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Self:
        """Wait until the values were chosen and declared. Raises PortalError where the job was given up."""
        self.facts = self.connection.until(
            lambda: self.connection.call("GET", self._path, wait=POLL_SECONDS),
            lambda facts: facts["job"]["state"] not in ("queued", "running"),
            seconds,
        )
        if self.kept is None:
            raise PortalError(409, self.facts["job"]["failure"] or f"It is {self.facts['job']['state']}.")
        return self
