"""Triggers of the portal's database: what it does or refuses by itself, whoever asks: the ORM, SQL, a console.

They are made by a signal after each `migrate`, not by a migration: SQLite loses the triggers of a table that a
migration makes again, and the tables of a new file are made from the models, without migrations.

`DROP TRIGGER`, or rights on file or server, undo all this: it guards against mistakes, not the database's owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, Protocol

from django.apps import AppConfig
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.models.signals import post_migrate, pre_migrate

POSTGRESQL, SQLITE = frozenset({"postgresql"}), frozenset({"sqlite"})
DOUBLE = '"'
# What PostgreSQL may set around names and conditions of a trigger that it says again.
MARKS = str.maketrans("", "", '"()')
# A trigger fires always, or else only outside replication: all others count as switched off, and so does one whose
# function was made in another way, or whose table is called as none of the portal's, but for marks or capitals.
COMPARED_STATEMENT = """
SELECT tgname, prosrc, pg_catalog.pg_get_triggerdef(pg_trigger.oid, true),
  tgenabled NOT IN ('O', 'A') OR lanname <> 'plpgsql' OR prosecdef OR proconfig IS NOT NULL
  OR relname !~ '^[a-z0-9_]+$'
FROM pg_catalog.pg_trigger JOIN pg_catalog.pg_class ON pg_class.oid = tgrelid
JOIN pg_catalog.pg_proc ON pg_proc.oid = tgfoid
JOIN pg_catalog.pg_language ON pg_language.oid = prolang
WHERE tgname LIKE %s AND pg_catalog.pg_table_is_visible(tgrelid) ORDER BY 1, 3
"""


class Trigger(Protocol):
    """What a table of the database does by itself. vendors: the kinds of database that have it."""

    @property
    def name(self) -> str: ...

    @property
    def vendors(self) -> frozenset[str]: ...

    def trigger(self, prefix: str) -> str:
        """Its name in the database, which changes with its text: so a database shows which version's it has."""

    def making(self, prefix: str, vendor: str) -> Iterator[str]:
        """The statements that make it: one on SQLite; on PostgreSQL that of its function, then its own."""


@dataclass(frozen=True)
class Refusal:
    """A trigger that refuses. when: SQL that both databases read, of OLD and NEW; words: of the refusal.

    SQLite has no TRUNCATE.
    """

    name: str
    table: str
    event: Literal["INSERT", "UPDATE", "DELETE", "TRUNCATE"]
    words: str
    when: str = "1 = 1"
    vendors: frozenset[str] = POSTGRESQL | SQLITE

    def trigger(self, prefix: str) -> str:
        return named(prefix, self.name, f"{self.table} {self.event} {self.when} {self.words}")

    def making(self, prefix: str, vendor: str) -> Iterator[str]:
        return self._postgresql(prefix) if vendor == "postgresql" else self._sqlite(prefix)

    def _sqlite(self, prefix: str) -> Iterator[str]:
        yield (
            f"CREATE TRIGGER {self.trigger(prefix)} BEFORE {self.event} ON {self.table} WHEN {self.when} "
            f"BEGIN SELECT RAISE(ABORT, '{_quoted(self.words)}'); END"
        )

    def _postgresql(self, prefix: str) -> Iterator[str]:
        each = "STATEMENT" if self.event == "TRUNCATE" else "ROW"
        given = {"TRUNCATE": "NULL", "DELETE": "OLD"}.get(self.event, "NEW")
        yield (
            f"CREATE FUNCTION {self.trigger(prefix)}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF {self.when} THEN RAISE EXCEPTION USING MESSAGE = '{_quoted(self.words)}', "
            f"ERRCODE = 'integrity_constraint_violation'; END IF; RETURN {given}; END $$"
        )
        yield (
            f"CREATE TRIGGER {self.trigger(prefix)} BEFORE {self.event} ON {self.table} "
            f"FOR EACH {each} EXECUTE FUNCTION {self.trigger(prefix)}()"
        )


@dataclass(frozen=True)
class Guard:
    """The triggers of a room. prefix: of their names; label: the room's, as Django calls it."""

    label: str
    tables: frozenset[str]
    triggers: Sequence[Trigger]

    @property
    def prefix(self) -> str:
        return f"{self.label}_refuse_"

    def connect(self, room: AppConfig) -> None:
        """Have them made after each `migrate`, and out of the way before migrations of the room."""
        guards[self.label] = self
        pre_migrate.connect(self.make_way, sender=room)
        post_migrate.connect(self.install, sender=room)

    def install(self, using: str, **_: object) -> None:
        """Give the database the triggers of this version, in one transaction, where any is missing or another one.

        Whoever migrates while others work takes no lock of the tables if nothing is.
        """
        connection = connections[using]
        if not self.tables <= set(connection.introspection.table_names()):
            return
        if self._installed(connection) == self._expected(connection.vendor) and not self._rules(using):
            return
        with transaction.atomic(using), connection.cursor() as cursor:
            for rule, table in self._rules(using):
                cursor.execute(f'DROP RULE "{_quoted(rule, mark=DOUBLE)}" ON {table}')
            for statement in (*self._dropping(connection), *self._making(connection.vendor)):
                cursor.execute(statement)

    def make_way(self, using: str, plan: Sequence[tuple[Migration, bool]], **_: object) -> None:
        """Remove them before migrations of the room: SQLite renames no table that another one's trigger names."""
        if any(migration.app_label == self.label for migration, _backwards in plan):
            self.remove(using)

    def remove(self, using: str) -> None:
        """Take them away until the next `install`."""
        connection = connections[using]
        with transaction.atomic(using), connection.cursor() as cursor:
            for statement in self._dropping(connection):
                cursor.execute(statement)

    def expected(self, vendor: str) -> set[str]:
        """The names that the triggers of this version have in such a database."""
        return set(self._expected(vendor))

    def differing(self, using: str) -> list[str]:
        """The names of those that a database lacks, has with another text, or has switched off."""
        there, expected = self._installed(connections[using]), self._expected(connections[using].vendor)
        return sorted(name for name, text in expected.items() if there.get(name) != text)

    def _rules(self, using: str) -> list[tuple[str, str]]:
        """Rules of PostgreSQL, with the table of each: they rewrite a statement before a trigger sees it."""
        connection = connections[using]
        if connection.vendor != "postgresql":
            return []
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT rulename, relname FROM pg_catalog.pg_rewrite JOIN pg_catalog.pg_class ON pg_class.oid = "
                "ev_class WHERE pg_catalog.pg_table_is_visible(ev_class) AND relname = ANY(%s) "
                "AND rulename <> '_RETURN' ORDER BY 1, 2",
                [sorted(self.tables)],
            )
            return list(cursor.fetchall())

    def _expected(self, vendor: str) -> dict[str, str]:
        """As `_installed` has it where all is as this version makes it."""
        chosen = [each for each in self.triggers if vendor in each.vendors]
        normalised = _normalised_statements if vendor == "postgresql" else "".join
        return {each.trigger(self.prefix): normalised(each.making(self.prefix, vendor)) for each in chosen}

    def _installed(self, connection: BaseDatabaseWrapper) -> dict[str, str]:
        """The triggers that a database has, by name, with all that it keeps of them; of two of a name, of both."""
        having = {
            "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s",
            "postgresql": COMPARED_STATEMENT,
        }
        installed: dict[str, str] = {}
        with connection.cursor() as cursor:
            cursor.execute(having[connection.vendor], [f"{self.prefix}%"])
            for name, *texts in cursor.fetchall():
                text = _normalised(*texts) if connection.vendor == "postgresql" else texts[0]
                installed[name] = installed.get(name, "") + text
        return installed

    def _dropping(self, connection: BaseDatabaseWrapper) -> Iterator[str]:
        there = self._installed(connection)
        if connection.vendor == "sqlite":
            yield from (f"DROP TRIGGER {trigger}" for trigger in there)
            return
        # A function goes with its trigger, and alone where somebody dropped that.
        for trigger in sorted(there.keys() | self.expected(connection.vendor)):
            yield f"DROP FUNCTION IF EXISTS {trigger}() CASCADE"

    def _making(self, vendor: str) -> Iterator[str]:
        for each in self.triggers:
            if vendor in each.vendors:
                yield from each.making(self.prefix, vendor)


def _normalised_statements(statements: Iterator[str]) -> str:
    """The statements of a trigger as `_normalised` gives them."""
    function, trigger = statements
    return _normalised(function.split("$$")[1], trigger)


def _normalised(body: str, trigger: str, *switched_off: bool) -> str:
    """The text of a function and of its trigger, whichever marks the server sets around names and conditions."""
    plain = " ".join(trigger.translate(MARKS).lower().split())
    return f"{body}\n{plain}{'off' if any(switched_off) else ''}"


# Of all rooms that have any.
guards: dict[str, Guard] = {}


def differ(*columns: str) -> str:
    """SQL: whether any of these columns is to be changed."""
    return "(" + " OR ".join(f"NEW.{c} <> OLD.{c}" for c in columns) + ")"


def named(prefix: str, name: str, text: str) -> str:
    """The name of a trigger with this text."""
    return f"{prefix}{name}_{sha256(text.encode()).hexdigest()[:8]}"


def _quoted(words: str, mark: str = "'") -> str:
    return words.replace(mark, mark * 2)
