"""What the database itself refuses of budgets and ledger lines.

A trigger does not know who asks. It knows what is there: a line is never deleted, nor changed but from reserved to
spent or void; a budget's amounts are what its lines add up to. So whoever changes an amount has to write the line
first, and that line stays. A dump restores the triggers after the rows; `loaddata` is refused.
"""

# Every statement here is made of constants of this file.
# ruff: noqa: S608

from __future__ import annotations

from dpportal.platform.triggers import POSTGRESQL, Guard, Refusal, differ

LINES, BUDGETS = "budgets_ledgerentry", "budgets_budget"

_SUMS = f"""SELECT 1 FROM (
    SELECT coalesce(sum(CASE kind WHEN 'grant' THEN amount WHEN 'reduction' THEN -amount ELSE 0 END), 0) AS total,
           coalesce(sum(CASE state WHEN 'spent' THEN amount ELSE 0 END), 0) AS spent,
           coalesce(sum(CASE state WHEN 'reserved' THEN amount ELSE 0 END), 0) AS reserved,
           coalesce(sum(CASE kind WHEN 'grant' THEN delta WHEN 'reduction' THEN -delta ELSE 0 END), 0) AS delta_total,
           coalesce(sum(CASE state WHEN 'spent' THEN delta ELSE 0 END), 0) AS delta_spent,
           coalesce(sum(CASE state WHEN 'reserved' THEN delta ELSE 0 END), 0) AS delta_reserved
    FROM {LINES} WHERE budget_id = NEW.id
) AS lines WHERE lines.total = NEW.total AND lines.spent = NEW.spent AND lines.reserved = NEW.reserved
AND lines.delta_total = NEW.delta_total AND lines.delta_spent = NEW.delta_spent
AND lines.delta_reserved = NEW.delta_reserved"""
AMOUNTS = ("total", "spent", "reserved", "delta_total", "delta_spent", "delta_reserved")

RULES = (
    Refusal("line_delete", LINES, "DELETE", "Ledger lines are never deleted; add a line that corrects."),
    Refusal(
        "line_truncate",
        LINES,
        "TRUNCATE",
        "Ledger lines are never deleted; add a line that corrects.",
        vendors=POSTGRESQL,
    ),
    Refusal(
        "line_change",
        LINES,
        "UPDATE",
        "Ledger lines are never changed, save a reserved one that becomes spent or void.",
        "NOT (OLD.state = 'reserved' AND NEW.state IN ('spent', 'void')) OR "
        + differ(
            "id",
            "dataset_id",
            "budget_id",
            "kind",
            "amount",
            "delta",
            "reason",
            "key",
            "by_id",
            "at",
            "total_public",
        ),
    ),
    # SQLite's INSERT OR REPLACE deletes what is in its way, and calls no trigger for that.
    Refusal(
        "line_insert",
        LINES,
        "INSERT",
        "A ledger line is a booked grant or reduction, or a charge, of a budget of its dataset, and replaces none.",
        "(NEW.kind = 'charge') = (NEW.state = 'booked') OR NEW.state = 'void' "
        f"OR EXISTS (SELECT 1 FROM {LINES} WHERE id = NEW.id OR key = NEW.key) "
        f"OR NOT EXISTS (SELECT 1 FROM {BUDGETS} WHERE id = NEW.budget_id AND dataset_id = NEW.dataset_id)",
    ),
    Refusal("budget_delete", BUDGETS, "DELETE", "Budgets are never deleted."),
    Refusal("budget_truncate", BUDGETS, "TRUNCATE", "Budgets are never deleted.", vendors=POSTGRESQL),
    Refusal(
        "budget_insert",
        BUDGETS,
        "INSERT",
        "A budget begins with nothing, and replaces none; the ledger grants it what it has.",
        " OR ".join(f"NEW.{amount} <> 0" for amount in AMOUNTS)
        + f" OR EXISTS (SELECT 1 FROM {BUDGETS} WHERE id = NEW.id)",
    ),
    Refusal(
        "budget_change",
        BUDGETS,
        "UPDATE",
        "A budget's dataset and kind of loss never change, nor its protection once it is fixed.",
        differ("id", "dataset_id", "definition")
        + " OR (OLD.is_fixed AND "
        + differ("is_fixed", "neighbours", "unit_column", "ignore_case")
        + ")",
    ),
    # As `Budget.is_moved_by` says it: readers have files that say what was spent by this δ.
    Refusal(
        "budget_delta",
        BUDGETS,
        "UPDATE",
        "The δ at which a budget's ρ is read never changes once it has paid for something.",
        f"OLD.definition = 'zcdp' AND {differ('delta_exponent')} "
        f"AND EXISTS (SELECT 1 FROM {LINES} WHERE budget_id = OLD.id AND kind = 'charge')",
    ),
    Refusal(
        "budget_amounts",
        BUDGETS,
        "UPDATE",
        "A budget's amounts are what the lines of its ledger add up to; only the ledger writes both.",
        differ(*AMOUNTS) + f" AND NOT EXISTS ({_SUMS})",
    ),
)

GUARD = Guard("budgets", frozenset({LINES, BUDGETS}), RULES)
