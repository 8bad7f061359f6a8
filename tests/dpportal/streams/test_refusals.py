"""Every refusal after records were read is listed with why no count decides it; a new one has to be argued for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LISTS = ("dpportal/streams/README.md", "dpportal/releases/README.md")
# Where records, counts or sums of them are held, and what is asked between them and what is published: the ledger, the
# memory, the files. What a folder adds is looked at, too.
AFTER = (
    "dpportal/streams/*.py",
    "dpportal/tables/**/*.py",
    "dpportal/releases/execution.py",
    "dpportal/releases/results.py",
    "dpportal/releases/products/*/runner.py",
    "dpportal/value_choices/execution.py",
    "dpportal/datasets/records.py",
    "dpportal/datasets/remote_table.py",
    "dpportal/datasets/record_files.py",
    "dpportal/datasets/keys.py",
    "dpportal/value_choices/keeping.py",
    "dpportal/budgets/charge_journal.py",
    "dpportal/budgets/ledger.py",
    "dpportal/jobs/claims.py",
    "dpportal/platform/journal.py",
    "dpportal/platform/sealed_files.py",
    "dpportal/platform/durable_files.py",
    "dpportal/platform/storage.py",
    "mechanisms/arrays.py",
    "mechanisms/continual/*.py",
    "mechanisms/histogram/*.py",
    "mechanisms/linear/*.py",
    "mechanisms/matrix/answering.py",
    "mechanisms/matrix/strategy/*.py",
    "mechanisms/microdata/*.py",
    "mechanisms/validation.py",
    "mechanisms/matrix/marginals/answering.py",
    "mechanisms/moments/*.py",
    "mechanisms/partition_selection/*.py",
    "mechanisms/response.py",
    "mechanisms/selection/*.py",
    "mechanisms/summary/*.py",
    "mechanisms/noise/*.py",
)
# What ends before any record is read: requests, drafts, forms, declarations, and what a curator does on a page.
BEFORE = {
    "dpportal/streams": {
        "api", "calendar", "choosing", "strategy_page", "drafts", "forms", "models", "public", "services", "tokens",
    },
    "dpportal/tables": {"__init__", "suggestions"},
    "dpportal/tables/meaning": {"dates", "parse_options"},
    "dpportal/tables/connections": {"models"},
}  # fmt: skip
PLANNED = {"PlanError", "NotImplementedError", "too_small"}
PLANNING = {
    "dpportal/budgets/ledger.py": {"_bind", "_require_unsettled", "grant", "reduce", "reserve"},
    "dpportal/platform/storage.py": {"PrivateStorage.url"},
    "mechanisms/histogram/private_selection.py": {"_candidates"},
    "mechanisms/matrix/answering.py": {"MatrixMechanism.refusal"},
}


def in_the_code() -> set[tuple[str, str]]:
    """Files and functions that raise something of their own."""
    return {
        (path.relative_to(ROOT).as_posix(), function)
        for pattern in AFTER
        for path in ROOT.glob(pattern)
        if path.stem not in BEFORE.get(path.parent.relative_to(ROOT).as_posix(), ())
        for function, raised in _raises(ast.parse(path.read_text()), "")
        if raised not in PLANNED and function not in PLANNING.get(path.relative_to(ROOT).as_posix(), ())
    }


def _raises(node: ast.AST, within: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        name = within
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{within}.{child.name}" if within else child.name
        if isinstance(child, ast.Raise) and child.exc is not None:
            raised = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
            yield name, ast.unparse(raised)
        yield from _raises(child, name)


def in_the_lists() -> list[tuple[str, str]]:
    listed = []
    for name in LISTS:
        for row in (ROOT / name).read_text().splitlines():
            file = ""
            for said in re.findall("`([^`]+)`", row.split(" | ")[0] if row.startswith("| `") else ""):
                if said.endswith(".py"):
                    file = said
                else:
                    listed.append((file, said))
    return listed


def test_every_refusal_after_records_were_read_is_listed_with_its_reason() -> None:
    assert in_the_code() - set(in_the_lists()) == set()


def test_what_is_listed_is_there_once() -> None:
    listed = in_the_lists()
    assert set(listed) - in_the_code() == set()
    assert len(listed) == len(set(listed))
