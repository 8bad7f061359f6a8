"""Watches the requests of all tests: what changes something leaves a line in the audit record or in the ledger.

An address that changes something without one stands in `UNRECORDED`, by the reason why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.test import Client
from django.urls import Resolver404, resolve

CHANGING = {"POST", "PUT", "PATCH", "DELETE"}
STATEMENT = re.compile(r'\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM) "?(\w+)"?', re.IGNORECASE)
LINES = {"accounts_auditentry", "budgets_ledgerentry"}
# What is written beside an act: sessions, counters, questions to workers (who looks at an answer is recorded), mail,
# keys (which a refused upload leaves until the sweep), and the history itself.
BESIDE = re.compile(
    r"django_|axes_|history_|jobs_|accounts_(personsession|outgoingmail|mailhint|resetrequest|failedsignin)"
    r"|datasets_(fit|datasetkey)$|api_(apitoken|answeredrequest)$|streams_token$|catalogue_|notices_delivery|accounts_user$"
)
UNRECORDED: dict[str, set[str]] = {
    "a draft: nothing of it is charged or shown until it is confirmed, which is recorded": {
        *("releases:again", "releases:columns", "releases:discard", "releases:method", "releases:product"),
        *("releases:start", "releases:summarise"),
        *("streams:again", "streams:discard"),
        *("streams:start", "streams:strategy", "streams:timing", "streams:counted"),
        *("api:draft", "api:draft_stream", "api:streams", "api:releases", "api:stream", "api:stream_again"),
    },
    "a file that waits for a worker: what is made of it says how it came": {
        *("streams:add_many", "streams:add_records", "streams:confirm_file", "streams:drop_file"),
        *("api:send_periods", "api:confirm_periods", "api:drop_periods", "api:period_file"),
        *("datasets:direct", "datasets:direct_again", "datasets:direct_part", "datasets:direct_give_up"),
        *("api:begin_upload", "api:file", "api:upload_state"),
    },
    "a step on the way: its end is recorded": {
        *("accounts:begin_app", "accounts:passkey_sign_in", "accounts:second_step"),
    },
    "a person's own display of pages": {"accounts:language", "notices:mail"},
}


def reasons() -> dict[str, str]:
    return {name: reason for reason, names in UNRECORDED.items() for name in names}


def changed_tables(statements: list[str]) -> set[str]:
    """Of what was not rolled back to a savepoint."""
    kept: list[str] = []
    for text in statements:
        if text.startswith("ROLLBACK TO SAVEPOINT"):
            begun = text.replace("ROLLBACK TO SAVEPOINT", "SAVEPOINT").rstrip(";")
            places = [place for place, earlier in enumerate(kept) if earlier.rstrip(";") == begun]
            kept = kept[: places[-1]] if places else kept
        else:
            kept.append(text)
    found = {match[1] for text in kept if (match := STATEMENT.match(text))}
    return {table for table in found if not BESIDE.match(table)}


class UnrecordedActError(AssertionError):
    """A request changed something, and nobody can read later who did it."""


@contextmanager
def watching() -> Iterator[None]:
    answered = Client.request

    def request(self: Client, **environment: Any) -> Any:
        if environment.get("REQUEST_METHOD") not in CHANGING:
            return answered(self, **environment)
        statements: list[str] = []

        def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            answer = execute(sql, params, many, context)
            if context["cursor"].rowcount or not sql.startswith(("UPDATE", "DELETE")):  # they may find no row
                statements.append(sql)
            return answer

        with connection.execute_wrapper(note):
            answer = answered(self, **environment)
        if answer.status_code < 400:
            require_recorded(environment["PATH_INFO"], changed_tables(statements))
        return answer

    Client.request = request
    yield
    Client.request = answered


def require_recorded(path: str, tables: set[str]) -> None:
    """Raises UnrecordedActError."""
    try:
        name = resolve(path).view_name
    except Resolver404:
        return
    if tables and not tables & LINES and name not in reasons():
        raise UnrecordedActError(f"{name} changed {', '.join(sorted(tables))}, and left no line.")
