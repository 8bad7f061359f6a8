"""What goes wrong, as RFC 9457 has programs told of it."""

from __future__ import annotations

from http import HTTPStatus

from dpportal.platform.json_types import Json

MEDIA_TYPE = "application/problem+json"


def problem_facts(status: int, detail: str) -> Json:
    """The members that every problem has. detail: what is wrong, and what to do."""
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
