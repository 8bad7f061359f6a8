"""What a form has read: the names of its fields to values of any kind."""

from __future__ import annotations

from dpportal.platform.json_types import Json

CleanedData = Json
