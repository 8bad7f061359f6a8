"""Noisy counts, and adjusted ones in their place at a reader's choice: one kind is shown at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.style import Figure


def of_both_kinds(noisy: Iterable[FigureJson], adjusted: Iterable[FigureJson]) -> list[FigureJson]:
    """The traces of both, which say of which kind they are."""
    kinds = {"noisy": noisy, "synthetic": adjusted}
    return [{**trace, "meta": kind} for kind, traces in kinds.items() for trace in traces]


def one_at_a_time(figure: Figure, data: Sequence[FigureJson]) -> Figure:
    """A figure of traces of both kinds; adjusted counts are hidden until they are chosen."""
    shown = [{**trace, "visible": trace.get("meta") != "synthetic"} for trace in data]
    layout = figure.json["layout"]
    meta = {**(layout.get("meta") or {}), "is_switched": True}
    return replace(figure, json={**figure.json, "data": shown, "layout": {**layout, "meta": meta}})
