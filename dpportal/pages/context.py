"""What every page needs to know about jobs."""

from __future__ import annotations

from django.http import HttpRequest

from dpportal.running.jobs import announced


def finished_jobs(request: HttpRequest) -> dict[str, int]:
    """How many of the curator's jobs ended since they last looked: the number at the bell."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or not user.is_curator:
        return {}
    return {"finished_jobs": sum(kind.ended(user).filter(seen=False).count() for kind in announced())}
