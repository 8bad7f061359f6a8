"""A codebook with a column of each kind, for the description of the API."""

from __future__ import annotations

from dpportal.platform.json_types import Json

EXAMPLE: Json = {
    "sex": ["female", "male"],
    "district": {"kind": "categorical", "values": ["north", "south"], "missing_cell": True},
    "smokes": {"kind": "boolean"},
    "age": {"kind": "integer", "lower": 0, "upper": 99, "width": 10},
    "income": {"kind": "real", "lower": 0, "upper": 100000, "step": 5000},
    "visited": {"kind": "date", "lower": "2026-01-01", "upper": "2026-12-31", "step": "month"},
}
