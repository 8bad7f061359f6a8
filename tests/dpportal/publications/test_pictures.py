"""A chart as a file by itself: its legend says of which column its names are, in their own colours and in full."""

from __future__ import annotations

import re

from dpportal.publications.pictures import picture
from tests.dpportal.publications.test_metadata import metadata

MARK = {"fill": "var(--series-1)", "stroke": "none", "opacity": 0.35}
EMPTY = {"grid": (), "areas": (), "lines": (), "texts": ()}


def test_a_legend_names_its_column_and_wraps() -> None:
    names = [(f"a name of some length {place}", MARK) for place in range(9)]
    drawn = {"width": 760, "height": 100, "names": names, "names_of": "cough", **EMPTY}
    svg = picture({"title": "People", "caption": "", "drawing": drawn}, metadata())
    assert "{'" not in svg and svg.count('fill-opacity="0.35"') == len(names)
    assert svg.index(">cough:<") < svg.index(">a name of some length 0<")
    marks = re.findall(r'<rect x="([0-9.]+)" y="([0-9]+)"', svg)
    assert len(marks) == len(names) and len({top for _x, top in marks}) > 1
    assert all(float(x) < 760 - 130 for x, _top in marks)
