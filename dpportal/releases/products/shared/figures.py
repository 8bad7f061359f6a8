"""Figures and estimates as the JSON that pages show."""

from __future__ import annotations

import numpy as np

from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json


def as_integers(raw: np.ndarray) -> np.ndarray:
    """Estimates as whole rows, as pages show them."""
    return raw if np.issubdtype(raw.dtype, np.integer) else np.rint(raw).astype(np.int64)


def figure_json(figure: Figure) -> Json:
    """A figure as pages and stored results have it."""
    return {"json": figure.json, "title": figure.title, "caption": figure.caption}
