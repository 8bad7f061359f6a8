"""What the database does of the chain by itself: it gives links their places, and refuses to change or delete them.

Nor does it let anybody change or delete imprints and eras.

On PostgreSQL a link gets its place when its transaction commits, after all else that is checked then: only that short
moment is one writer's at a time, and a worker that hangs inside a transaction stops nobody.
"""

# Every statement here is made of constants of this file.
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpportal.platform.triggers import POSTGRESQL, SQLITE, Guard, Refusal, differ, named

LINKS = "history_link"
# Names the lock among all advisory locks of the database.
LOCK = 0x6368_6169_6E
STAY = "Links of the history are never changed or deleted."
IMPRINTS = "history_imprint"
ERAS = "history_era"
WAITS = "waits"


@dataclass(frozen=True)
class AtCommit:
    """A trigger of PostgreSQL that does something with each new link at the end of its transaction."""

    name: str
    event: str
    body: str
    vendors: frozenset[str] = POSTGRESQL

    def trigger(self, prefix: str) -> str:
        return named(prefix, self.name, f"{self.event} {self.body}")

    def making(self, prefix: str, vendor: str) -> Iterator[str]:
        name = self.trigger(prefix)
        yield (
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE last {LINKS}%ROWTYPE; BEGIN "
            f"{self.body} RETURN NULL; END $$"
        )
        yield (
            f"CREATE CONSTRAINT TRIGGER {name} AFTER {self.event} ON {LINKS} DEFERRABLE INITIALLY DEFERRED "
            f"FOR EACH ROW WHEN (NEW.position IS NULL) EXECUTE FUNCTION {name}()"
        )


# Foreign keys are checked at the end of the transaction, too, and may wait for rows that others hold. Whoever has the
# lock must wait for nobody, or two would wait for each other: so a link first goes behind all these checks.
_GOES_LAST = f"UPDATE {LINKS} SET digest = '{WAITS}' WHERE id = NEW.id;"
_GETS_ITS_PLACE = (
    f"PERFORM pg_advisory_xact_lock({LOCK}); "
    f"SELECT * INTO last FROM {LINKS} WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1; "
    f"UPDATE {LINKS} SET position = coalesce(last.position, 0) + 1, "
    "digest = encode(sha256(convert_to(coalesce(last.digest, '') || content, 'UTF8')), 'hex') "
    "WHERE id = NEW.id AND position IS NULL;"
)


def _stays(name: str, table: str, words: str) -> Iterator[Refusal]:
    """Rows are written once."""
    yield Refusal(f"{name}_delete", table, "DELETE", words)
    yield Refusal(f"{name}_truncate", table, "TRUNCATE", words, vendors=POSTGRESQL)
    yield Refusal(f"{name}_change", table, "UPDATE", words)
    yield Refusal(
        f"{name}_insert", table, "INSERT", words, f"EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)"
    )


GUARD = Guard(
    "history",
    frozenset({LINKS, IMPRINTS, ERAS}),
    (
        Refusal("link_delete", LINKS, "DELETE", STAY),
        Refusal("link_truncate", LINKS, "TRUNCATE", STAY, vendors=POSTGRESQL),
        Refusal(
            "link_change",
            LINKS,
            "UPDATE",
            STAY,
            "OLD.position IS NOT NULL OR " + differ("id", "event", "line", "content", "seal"),
        ),
        # SQLite's INSERT OR REPLACE deletes what is in its way, and calls no trigger for that.
        Refusal(
            "link_insert",
            LINKS,
            "INSERT",
            STAY,
            f"EXISTS (SELECT 1 FROM {LINKS} WHERE id = NEW.id OR position = NEW.position "
            "OR (event = NEW.event AND line = NEW.line))",
        ),
        # Where one writes at a time, a link has its place from the beginning.
        Refusal("link_without_place", LINKS, "INSERT", STAY, "NEW.position IS NULL", vendors=SQLITE),
        *_stays("imprint", IMPRINTS, "Imprints of the history are never changed or deleted."),
        *_stays("era", ERAS, "Eras of the history are never changed or deleted."),
        AtCommit("link_goes_last", "INSERT", _GOES_LAST),
        AtCommit("link_gets_its_place", "UPDATE", _GETS_ITS_PLACE),
    ),
)
