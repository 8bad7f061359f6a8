"""What a form has read: the names of its fields to values of any kind."""

from __future__ import annotations

from typing import Any

CleanedData = dict[str, Any]
