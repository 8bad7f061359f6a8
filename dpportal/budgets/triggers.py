"""What the database itself refuses of budgets and ledger lines, whoever asks: the ORM, SQL, a console.

A trigger does not know who asks. It knows what is there: a line is never deleted, nor changed but from reserved to
spent or void; a budget's amounts are what its lines add up to. So whoever changes an amount has to write the line
first, and that line stays. A dump restores the triggers after the rows; `loaddata` is refused.

They are made by a signal after each `migrate`, not by a migration: SQLite loses the triggers of a table that a
migration makes again, and the tables of a new file are made from the models, without migrations.

`DROP TRIGGER`, or rights on file or server, undo all this: it guards against mistakes, not the database's owner.
"""

# Every statement here is made of constants of this file.
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration

LINES, BUDGETS = "budgets_ledgerentry", "budgets_budget"
PREFIX = "budgets_refuse_"


@dataclass(frozen=True)
class Rule:
    """What a trigger refuses. when: SQL that both databases read, of OLD and NEW; words: of the refusal."""

    name: str
    table: str
    event: Literal["INSERT", "UPDATE", "DELETE", "TRUNCATE"]
    words: str
    when: str = "1 = 1"

    @property
    def trigger(self) -> str:
        """Its name, which changes with its text, so that a database shows whether it has the rules of this version."""
        digest = sha256(f"{self.table} {self.event} {self.when} {self.words}".encode()).hexdigest()
        return f"{PREFIX}{self.name}_{digest[:8]}"


def _differ(*columns: str) -> str:
    return "(" + " OR ".join(f"NEW.{c} <> OLD.{c}" for c in columns) + ")"


_SUMS = f"""SELECT 1 FROM (
    SELECT coalesce(sum(CASE kind WHEN 'grant' THEN amount WHEN 'reduction' THEN -amount ELSE 0 END), 0) AS total,
           coalesce(sum(CASE state WHEN 'spent' THEN amount ELSE 0 END), 0) AS spent,
           coalesce(sum(CASE state WHEN 'reserved' THEN amount ELSE 0 END), 0) AS reserved
    FROM {LINES} WHERE budget_id = NEW.id
) AS lines WHERE lines.total = NEW.total AND lines.spent = NEW.spent AND lines.reserved = NEW.reserved"""

RULES = (
    Rule("line_delete", LINES, "DELETE", "Ledger lines are never deleted; add a line that corrects."),
    Rule("line_truncate", LINES, "TRUNCATE", "Ledger lines are never deleted; add a line that corrects."),
    Rule(
        "line_change",
        LINES,
        "UPDATE",
        "Ledger lines are never changed, save a reserved one that becomes spent or void.",
        "NOT (OLD.state = 'reserved' AND NEW.state IN ('spent', 'void')) OR "
        + _differ(
            "id", "dataset_id", "budget_id", "kind", "amount", "reason", "key", "by_id", "at", "total_public"
        ),
    ),
    # SQLite's INSERT OR REPLACE deletes what is in its way, and calls no trigger for that.
    Rule(
        "line_insert",
        LINES,
        "INSERT",
        "A ledger line is a booked grant or reduction, or a charge, of a budget of its dataset, and replaces none.",
        "(NEW.kind = 'charge') = (NEW.state = 'booked') OR NEW.state = 'void' "
        f"OR EXISTS (SELECT 1 FROM {LINES} WHERE id = NEW.id OR key = NEW.key) "
        f"OR NOT EXISTS (SELECT 1 FROM {BUDGETS} WHERE id = NEW.budget_id AND dataset_id = NEW.dataset_id)",
    ),
    Rule("budget_delete", BUDGETS, "DELETE", "Budgets are never deleted."),
    Rule("budget_truncate", BUDGETS, "TRUNCATE", "Budgets are never deleted."),
    Rule(
        "budget_insert",
        BUDGETS,
        "INSERT",
        "A budget begins with nothing, and replaces none; the ledger grants it what it has.",
        f"NEW.total <> 0 OR NEW.spent <> 0 OR NEW.reserved <> 0 OR EXISTS (SELECT 1 FROM {BUDGETS} WHERE id = NEW.id)",
    ),
    Rule(
        "budget_change",
        BUDGETS,
        "UPDATE",
        "A budget's dataset and kind of loss never change, nor its protection once it is fixed.",
        _differ("id", "dataset_id", "definition")
        + " OR (OLD.is_fixed AND "
        + _differ("is_fixed", "neighbours", "unit_column", "ignore_case")
        + ")",
    ),
    Rule(
        "budget_amounts",
        BUDGETS,
        "UPDATE",
        "A budget's amounts are what the lines of its ledger add up to; only the ledger writes both.",
        _differ("total", "spent", "reserved") + f" AND NOT EXISTS ({_SUMS})",
    ),
)


# The names and tables of the triggers that a database has.
_HAS = {
    "sqlite": f"SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '{PREFIX}%'",
    "postgresql": "SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
    f"WHERE tgname LIKE '{PREFIX}%' AND pg_table_is_visible(tgrelid)",
}


def install(using: str, **_: object) -> None:
    """Give the database the triggers of this version, in one transaction; after each `migrate`, where any is missing.

    Whoever migrates while others work takes no lock of the tables if nothing is missing.
    """
    connection = connections[using]
    expected = {rule.trigger for rule in _rules(connection)}
    if not {LINES, BUDGETS} <= set(connection.introspection.table_names()) or expected == set(
        _installed(connection)
    ):
        return
    with transaction.atomic(using), connection.cursor() as cursor:
        for statement in (*_dropping(connection), *_making(connection)):
            cursor.execute(statement)


def make_way(using: str, plan: Sequence[tuple[Migration, bool]], **_: object) -> None:
    """Remove the triggers before migrations of this room: SQLite renames no table that another one's trigger names."""
    if any(migration.app_label == "budgets" for migration, _backwards in plan):
        remove(using)


def remove(using: str) -> None:
    """Take all triggers away until the next `install`."""
    connection = connections[using]
    with transaction.atomic(using), connection.cursor() as cursor:
        for statement in _dropping(connection):
            cursor.execute(statement)


def _rules(connection: BaseDatabaseWrapper) -> list[Rule]:
    return [rule for rule in RULES if rule.event != "TRUNCATE" or connection.vendor == "postgresql"]


def _installed(connection: BaseDatabaseWrapper) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(_HAS[connection.vendor])
        return dict(cursor.fetchall())


def _dropping(connection: BaseDatabaseWrapper) -> Iterator[str]:
    for trigger, table in _installed(connection).items():
        if connection.vendor == "postgresql":
            yield f"DROP TRIGGER {trigger} ON {table}"
            yield f"DROP FUNCTION {trigger}()"
        else:
            yield f"DROP TRIGGER {trigger}"


def _making(connection: BaseDatabaseWrapper) -> Iterator[str]:
    for rule in _rules(connection):
        yield from _postgresql(rule) if connection.vendor == "postgresql" else _sqlite(rule)


def _sqlite(rule: Rule) -> Iterator[str]:
    yield (
        f"CREATE TRIGGER {rule.trigger} BEFORE {rule.event} ON {rule.table} WHEN {rule.when} "
        f"BEGIN SELECT RAISE(ABORT, '{_quoted(rule.words)}'); END"
    )


def _postgresql(rule: Rule) -> Iterator[str]:
    each = "STATEMENT" if rule.event == "TRUNCATE" else "ROW"
    given = {"TRUNCATE": "NULL", "DELETE": "OLD"}.get(rule.event, "NEW")
    yield (
        f"CREATE FUNCTION {rule.trigger}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {rule.when} THEN RAISE EXCEPTION USING MESSAGE = '{_quoted(rule.words)}', "
        f"ERRCODE = 'integrity_constraint_violation'; END IF; RETURN {given}; END $$"
    )
    yield (
        f"CREATE TRIGGER {rule.trigger} BEFORE {rule.event} ON {rule.table} "
        f"FOR EACH {each} EXECUTE FUNCTION {rule.trigger}()"
    )


def _quoted(words: str) -> str:
    return words.replace("'", "''")
