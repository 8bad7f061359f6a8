"""What every page needs to know."""

from __future__ import annotations

from django.http import HttpRequest

from dpportal.accounts import bell
from dpportal.accounts.models import User


def news(request: HttpRequest) -> dict[str, int]:
    """How much the visitor has not looked at yet: the number at the bell."""
    user = getattr(request, "user", None)
    return {"news": bell.news(user)} if isinstance(user, User) else {}
