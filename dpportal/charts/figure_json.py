"""Figures as Plotly's programs take them: JSON objects of traces, axes and layouts."""

from __future__ import annotations

from typing import Any

FigureJson = dict[str, Any]
