"""Whoever writes past Django is refused by the database itself, in both kinds of portal, and reads why."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest

from dpportal.budgets import triggers
from tests.dpportal.world import World

# Starts a portal's database.
pytestmark = pytest.mark.slow

LINES, BUDGETS = "budgets_ledgerentry", "budgets_budget"
NO_DELETE, NO_CHANGE = "Ledger lines are never deleted", "Ledger lines are never changed, save"
ADD_UP = "amounts are what the lines of its ledger add up to"
AUDIT, HISTORY = "Lines of the audit record are never", "Links of the history are never"
COLUMNS = "dataset_id, budget_id, kind, state, amount, reason, key, by_id, at, total_public"
FRESH = {"sqlite": "'0123456789abcdef0123456789abcdef'", "postgres": "'01234567-89ab-cdef-0123-456789abcdef'"}


def line_like(key: str, **changed: str) -> str:
    """A statement that adds a line as the first there is, with other values."""
    values = {**{name.strip(): name.strip() for name in COLUMNS.split(",")}, "key": key, **changed}
    chosen = f"SELECT {', '.join(values.values())} FROM {LINES} ORDER BY id LIMIT 1"
    return f"INSERT INTO {LINES} ({', '.join(values)}) {chosen}"


PLANTED = {
    "more is granted": (ADD_UP, f"UPDATE {BUDGETS} SET total = total + 9000000"),
    "more delta is granted": (ADD_UP, f"UPDATE {BUDGETS} SET delta_total = delta_total + 1000"),
    "a line has another delta": (NO_CHANGE, f"UPDATE {LINES} SET delta = 5 WHERE kind = 'grant'"),
    "what is spent falls": (ADD_UP, f"UPDATE {BUDGETS} SET spent = spent - 100000 WHERE spent > 0"),
    "a reservation is forgotten": (ADD_UP, f"UPDATE {BUDGETS} SET reserved = 0 WHERE reserved > 0"),
    "spent becomes reserved": (
        ADD_UP,
        f"UPDATE {BUDGETS} SET spent = spent - 100000, reserved = reserved + 100000 WHERE spent > 0",
    ),
    "another protection": ("protection once it is fixed", f"UPDATE {BUDGETS} SET neighbours = 'replace-one'"),
    "another kind of loss": ("kind of loss never change", f"UPDATE {BUDGETS} SET definition = 'zcdp'"),
    "another delta": ("The δ at which a budget's ρ is read", f"UPDATE {BUDGETS} SET delta_exponent = 2"),
    "a budget goes": ("Budgets are never deleted", f"DELETE FROM {BUDGETS}"),
    "a budget with something in it": (
        "begins with nothing",
        f"INSERT INTO {BUDGETS} (dataset_id, is_fixed, neighbours, unit_column, ignore_case, definition, "
        "delta_exponent, total, spent, reserved) SELECT dataset_id, is_fixed, neighbours, 'name', ignore_case, "
        f"definition, delta_exponent, 9, 0, 0 FROM {BUDGETS} LIMIT 1",
    ),
    "a line goes": (NO_DELETE, f"DELETE FROM {LINES} WHERE state = 'spent'"),
    "a grant goes": (NO_DELETE, f"DELETE FROM {LINES} WHERE kind = 'grant'"),
    "a grant grows": (NO_CHANGE, f"UPDATE {LINES} SET amount = 9000000 WHERE kind = 'grant'"),
    "a spent charge is void": (NO_CHANGE, f"UPDATE {LINES} SET state = 'void' WHERE state = 'spent'"),
    "a charge is cheaper once it is spent": (
        NO_CHANGE,
        f"UPDATE {LINES} SET state = 'spent', amount = 1 WHERE state = 'reserved'",
    ),
    "an act is forgotten": (AUDIT, "DELETE FROM accounts_auditentry"),
    "an act was another's": (AUDIT, "UPDATE accounts_auditentry SET action = 'looked on'"),
    "a link goes": (HISTORY, "DELETE FROM history_link"),
    "a link says something else": (HISTORY, "UPDATE history_link SET content = digest"),
    "a link gets another place": (HISTORY, "UPDATE history_link SET position = position + 1000"),
    "another reason": (NO_CHANGE, f"UPDATE {LINES} SET reason = 'None'"),
}


def refused(world: World, words: str, *statements: str) -> None:
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match=words):
        world.attempt(*statements)


@pytest.fixture(scope="module")
def funded(world: World) -> World:
    """A portal with budgets of ε and ρ that have a spent and a reserved charge, after a migration of both tables."""
    world.run("-m", "tests.dpportal.budgets.racer", "charged")
    return world


@pytest.mark.parametrize("words, statement", PLANTED.values(), ids=PLANTED)
def test_what_is_written_past_the_ledger_is_refused(funded: World, words: str, statement: str) -> None:
    refused(funded, words, statement)


def test_lines_of_no_kind_and_lines_over_others_are_refused(funded: World) -> None:
    key = FRESH[funded.database_url.partition(":")[0]]
    words = "A ledger line is a booked grant or reduction, or a charge"
    refused(funded, words, line_like(key, state="'spent'"))  # the first line is a grant
    refused(funded, words, line_like(key, kind="'charge'", state="'void'"))
    refused(funded, words, line_like("key"))


def test_all_at_once_is_refused_as_well(funded: World) -> None:
    if funded.database_url.startswith("sqlite"):
        refused(funded, NO_DELETE, f"DELETE FROM {LINES}")
        refused(funded, "replaces none", line_like("key").replace("INSERT", "INSERT OR REPLACE"))
    else:
        refused(funded, NO_DELETE, f"TRUNCATE {LINES} CASCADE")
        refused(funded, "Budgets are never deleted", f"TRUNCATE {BUDGETS} CASCADE")


def test_amounts_that_a_new_line_accounts_for_are_written(funded: World) -> None:
    """So the ledger writes, and so a grant by hand stays on record."""
    key = FRESH[funded.database_url.partition(":")[0]]
    grown = f"UPDATE {BUDGETS} SET total = total + amount FROM {LINES} l WHERE l.key = {key} AND budget_id = "
    funded.attempt(line_like(key, amount="7"), f"{grown}{BUDGETS}.id")
    settled = f"UPDATE {LINES} SET state = 'spent', settled_at = at WHERE state = 'reserved'"
    funded.attempt(settled, f"UPDATE {BUDGETS} SET spent = spent + reserved, reserved = 0")
    refused(funded, ADD_UP, settled, f"UPDATE {BUDGETS} SET reserved = 0 WHERE reserved > 0")


def test_triggers_are_there_after_a_migration_that_makes_their_tables_again(funded: World) -> None:
    vendor = funded.database_url.partition(":")[0]
    has = {
        "sqlite": f"SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('{LINES}', '{BUDGETS}')",
        "postgres": f"SELECT tgname FROM pg_trigger WHERE tgrelid IN ('{LINES}'::regclass, '{BUDGETS}'::regclass) "
        "AND NOT tgisinternal",
    }
    rules = triggers.GUARD.expected("postgresql" if vendor == "postgres" else vendor)
    assert {name for (name,) in funded.rows(has[vendor])} >= rules
