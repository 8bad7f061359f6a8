"""JSON objects, as they are stored, sent and shown: names to values of any kind."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
