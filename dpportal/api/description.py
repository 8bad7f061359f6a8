"""What the API's description says to people: of the docstrings, and in the language of whoever reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext, gettext_noop as _

from dpportal.api.schemas import Problem
from dpportal.platform.problem_details import MEDIA_TYPE

TEXTS = ("description", "summary")
TAGS = {
    _("catalogue"): "What is published; no token is needed",
    _("plans"): "What can be released, what it would cost, and how wrong it would be",
    _("datasets"): "Tables, what is declared of them, and values that nobody declared",
    _("budgets"): "What may be spent, and questions for more",
    _("releases"): "From a draft to its files",
    _("running counts"): "Counts that go on, period after period",
    _("uploads"): "Tables in pieces, which go on after a broken connection",
    _("webhooks"): "Programs of yours that are told what happened",
    _("publishing"): "What everyone sees",
}


def complete(schema: dict[str, Any]) -> None:
    """Say of every operation what it does, by the first sentence of its docstring, and how it tells what goes wrong."""
    schema["tags"] = [{"name": gettext(name), "description": text} for name, text in TAGS.items()]
    schema["components"]["schemas"]["Problem"] = Problem.json_schema()
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in schema["paths"].values():
        for operation in operations.values():
            heading, *more = re.split(r"(?<=\.)\s+", operation.pop("description"), maxsplit=1)
            # The specification has no Markdown in summaries.
            operation["summary"] = heading.removesuffix(".").replace("`", "")
            if more:
                operation["description"] = more[0]
            operation["tags"] = [gettext(name) for name in operation["tags"]]
            operation["responses"]["default"] = {"description": "What went wrong", "content": content}


def reworded(described: Any, say: Callable[[str], str]) -> Any:
    """A copy of a part of the description in which each text for people is as `say` has it.

    The framework's titles of fields are left out: they are their names again.
    """
    if isinstance(described, list):
        return [reworded(each, say) for each in described]
    if not isinstance(described, dict):
        return described
    return {
        name: say(_unwrapped(value))
        if name in TEXTS and isinstance(value, str) and value
        else reworded(value, say)
        for name, value in described.items()
        if name != "title" or not isinstance(value, str)
    }


def _unwrapped(text: str) -> str:
    """A docstring's paragraphs, each in one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)
