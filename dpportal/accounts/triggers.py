"""What the database itself refuses of the audit record: a line that is there is neither changed nor deleted."""

# Every statement here is made of constants of this file.
# ruff: noqa: S608

from __future__ import annotations

from dpportal.platform.triggers import POSTGRESQL, Guard, Refusal

LINES = "accounts_auditentry"
STAY = "Lines of the audit record are never changed or deleted."

GUARD = Guard(
    "accounts",
    frozenset({LINES}),
    (
        Refusal("audit_delete", LINES, "DELETE", STAY),
        Refusal("audit_truncate", LINES, "TRUNCATE", STAY, vendors=POSTGRESQL),
        Refusal("audit_change", LINES, "UPDATE", STAY),
        # SQLite's INSERT OR REPLACE deletes what is in its way, and calls no trigger for that.
        Refusal("audit_insert", LINES, "INSERT", STAY, f"EXISTS (SELECT 1 FROM {LINES} WHERE id = NEW.id)"),
    ),
)
