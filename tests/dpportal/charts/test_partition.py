"""Lines between the blocks of a partition, in the coordinates of the chart."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpportal.charts.partition import mark_blocks, mark_blocks_2d


class TestPartition:
    def test_lines_run_between_the_blocks_of_one_column(self) -> None:
        figure = go.Figure()
        mark_blocks(figure, np.array([0, 0, 1, 1, 1, 2]), width=1)
        assert figure.layout.shapes[0].path == "M1.5,0V1M4.5,0V1"

    def test_lines_run_around_the_blocks_of_a_heat_map(self) -> None:
        """Two rows, two columns; only the right column is cut between the rows."""
        figure = go.Figure()
        mark_blocks_2d(figure, np.array([[0, 1], [0, 2]]), (1, 1), subplot=2)
        (shape,) = figure.layout.shapes
        assert shape.path == "M0.5,-0.5L0.5,1.5" + "M0.5,0.5L1.5,0.5"
        assert (shape.xref, shape.yref) == ("x2", "y2")

    def test_merged_cells_move_the_lines_with_them(self) -> None:
        figure = go.Figure()
        mark_blocks(figure, np.array([0, 0, 1, 1]), width=2)
        assert figure.layout.shapes[0].path == "M0.5,0V1"

    def test_one_block_has_no_line(self) -> None:
        figure = go.Figure()
        mark_blocks(figure, np.zeros(5, dtype=int), width=1)
        assert not figure.layout.shapes
