"""Names and texts within a statement of ClickHouse."""

from __future__ import annotations

APOSTROPHE = "'"


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return f"'{_escaped(text, APOSTROPHE)}'"


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return f"`{_escaped(name, '`')}`"


def _escaped(text: str, mark: str) -> str:
    return text.replace("\\", "\\\\").replace(mark, f"\\{mark}")
