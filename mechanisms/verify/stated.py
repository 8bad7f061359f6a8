"""Whether what release.json tells people of their protection is what the plan's loss gives them."""

from __future__ import annotations

import re
from typing import Any

from mechanisms.accounting import Definition, Loss
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import same

WHAT = "promise"
# A statement may speak of other releases after its own loss, and of nothing before. Losses are written alike in every
# language.
_BEGIN = re.compile(r"This (?:release|running count) is (zero-concentrated )?differentially private with ")
_LOSS = re.compile(r"[ερ] = [0-9]+(?:\.[0-9]+)?")


def check(bundle: Bundle) -> Finding:
    """Compare `protects` and `statement` with the loss of the plan."""
    try:
        loss = Loss.from_json(bundle.release["plan"]["loss"])
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return Finding(WHAT, State.FAILED, "the plan states no loss")
    fault = _fault_of_protection(bundle.release.get("protects"), loss)
    fault = fault or _fault_of_statement(bundle.release.get("statement"), loss)
    return Finding.of(WHAT, fault, f"{loss} and the people whom it protects are those of the plan")


def _fault_of_protection(protects: Any, loss: Loss) -> str:
    unit = loss.unit
    own = {
        "neighbours": unit.neighbours.value,
        "max_rows": unit.max_rows,
        "number_of_rows_is_public": unit.total_public,
    }
    if not isinstance(protects, dict):
        return "release.json does not say whom it protects"
    return next(
        (f"another {name} than the plan's" for name in own if not same(protects.get(name), own[name])), ""
    )


def _fault_of_statement(statement: Any, loss: Loss) -> str:
    begin = _BEGIN.match(statement) if isinstance(statement, str) else None
    if begin is None or (begin[1] is not None) != (loss.definition is Definition.ZCDP):
        return "the statement begins with something else than its loss"
    first = _LOSS.match(statement, begin.end())
    if first is None:
        return "the statement names no loss"
    return (
        "" if same(first.group(), str(loss)) else f"the statement says {first.group()}, and the plan {loss}"
    )
