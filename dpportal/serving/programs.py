"""Where programs ask, who are answered by RFC 9457: known before Django is, for what never comes to it."""

from __future__ import annotations

PROGRAMS = "/api/"
