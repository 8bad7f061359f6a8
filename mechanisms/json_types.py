"""JSON objects, as plans and laws are read from them: names to values of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]
