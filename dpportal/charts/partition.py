"""The blocks that a method measured together, as lines over a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go

MAX_LINES = 5_000
LINE = {"color": "var(--text)", "width": 0.75}


def mark_blocks(figure: go.Figure, blocks: np.ndarray, width: int) -> None:
    """Lines between the blocks of one column.

    blocks: (k,) labels of the cells. width: how many cells one mark of the chart merges.
    """
    cuts = np.flatnonzero(blocks[1:] != blocks[:-1]) + 1
    if cuts.size <= MAX_LINES:
        path = "".join(f"M{cut / width - 0.5:g},0V1" for cut in cuts)
        _add(figure, path, xref="x", yref="paper")


def mark_blocks_2d(figure: go.Figure, blocks: np.ndarray, widths: Sequence[int], subplot: int) -> None:
    """Lines around the blocks of a heat map.

    blocks: (rows, columns) labels. widths: cells merged into one mark, down and across. subplot: from 1.
    """
    lines = [*_edges(blocks, widths, across=False), *_edges(blocks.T, widths[::-1], across=True)]
    axis = "" if subplot == 1 else str(subplot)
    if len(lines) <= MAX_LINES:
        _add(figure, "".join(lines), xref=f"x{axis}", yref=f"y{axis}")


def _edges(blocks: np.ndarray, widths: Sequence[int], *, across: bool) -> Iterator[str]:
    """One piece of path for each straight edge between neighbouring columns of labels."""
    differs = blocks[:, 1:] != blocks[:, :-1]
    for column in np.flatnonzero(differs.any(axis=0)):
        padded = np.concatenate([[0], differs[:, column].astype(np.int8), [0]])
        starts, ends = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
        place = (column + 1) / widths[1] - 0.5
        for start, end in zip(starts / widths[0] - 0.5, ends / widths[0] - 0.5, strict=True):
            if across:
                yield f"M{start:g},{place:g}L{end:g},{place:g}"
            else:
                yield f"M{place:g},{start:g}L{place:g},{end:g}"


def _add(figure: go.Figure, path: str, *, xref: str, yref: str) -> None:
    if path:
        figure.add_shape(type="path", path=path, line=LINE, xref=xref, yref=yref)
