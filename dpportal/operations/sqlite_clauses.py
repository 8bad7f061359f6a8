"""The clauses of the statements that SQLite keeps: columns and constraints of a table, what an index is of.

SQLite reads a table's columns and constraints from its statement alone, in any order. The clauses are the statement's
own text, cut at the commas that stand in no quotes, comments or further brackets: equal clauses are equal to SQLite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] | --[^\n]* | /\*.*?\*/ | .""",
    re.VERBOSE | re.DOTALL,
)
_NAME = r'"(?:[^"]|"")*"|\w+'
# SQLite keeps a statement from the table's name on, behind these words of its own.
_TABLE = re.compile(rf"CREATE TABLE (?:{_NAME})\s*")
_INDEX = re.compile(rf"CREATE\s+(UNIQUE\s+)?INDEX\s+(?:{_NAME})\s+ON\s+(.*)", re.IGNORECASE | re.DOTALL)
_COLUMN = rf"(?:{_NAME})(?:\s+(?:ASC|DESC))?"
_PLAIN = re.compile(rf"(?:{_NAME})\s*\(\s*{_COLUMN}(?:\s*,\s*{_COLUMN})*\s*\)", re.IGNORECASE)


def of_table(statement: str) -> Iterator[str]:
    """The clauses of a CREATE TABLE, and what stands behind their bracket; before it, if that is more than a name.

    A virtual table is another program's, which may take the same clauses and heed none.
    """
    depth, clause = 0, ""
    for token in _TOKEN.findall(statement):
        depth += {"(": 1, ")": -1}.get(token, 0)
        is_bracket = (token, depth) in (("(", 1), (")", 0))
        if is_bracket or (token, depth) == (",", 1):
            if (token, depth) != ("(", 1) or not _TABLE.fullmatch(clause):
                yield clause.strip()
            clause = ""
        else:
            clause += token
    yield from filter(None, [clause.strip()])


def of_index(statement: str) -> str:
    """What an index is of, without its name.

    Empty for one that only makes reading faster: of columns, and not unique.
    """
    match = _INDEX.fullmatch(statement)
    if match is None:
        return statement
    unique, of = match.groups()
    return "" if not unique and _PLAIN.fullmatch(of) else f"{'UNIQUE ' if unique else ''}INDEX ON {of}"
