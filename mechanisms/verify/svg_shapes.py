"""What a drawing of the portal is made of: points of its shapes, marks of its axes, and words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from mechanisms.verify.page_text import plain

WORD_OF_NUMBER = re.compile("[-\u2212]?[0-9][0-9,\u202f]*(?:\\.[0-9]+)?")
_POLYLINE = re.compile(r'<polyline points="([^"]*)"[^>]*?stroke="([^"]*)"')
_POLYGON = re.compile(r'<polygon points="([^"]*)"')
_PATH = re.compile(r'<path\s+d="([^"]*)"(?:[^>]*?\bfill="([^"]*)"[^>]*?\bfill-opacity="([0-9.]+)")?')
# From places to how far along, and across, what is turned by 60 degrees to the left.
_TURN = np.array([[0.5, -math.sqrt(3) / 2], [math.sqrt(3) / 2, 0.5]])
_TEXT = re.compile(r"<text\b([^>]*)>(.*?)</text>", re.DOTALL)
# All that a portal writes at a text: where it stands, upright or turned, by which end, and how it looks.
_OF_TEXT = re.compile(
    r'\s*(?:transform="translate\((-?[0-9.]+) (-?[0-9.]+)\) rotate\(-60\)"|x="(-?[0-9.]+)"\s+y="(-?[0-9.]+)")'
    r'(?:\s+font-size="1[37]")?(?:\s+font-weight="600")?'
    r'(?:\s+text-anchor="(start|middle|end)")?(?:\s+class="strong")?(?:\s+fill="[^"]*")?\s*'
)
_BAR = re.compile(r"M([-0-9.]+) ([-0-9.]+)V([-0-9.]+)h([-0-9.]+)V([-0-9.]+)z")
_RECTANGLE = re.compile(r"M([-0-9.]+) ([-0-9.]+)h([-0-9.]+)v([-0-9.]+)h-([-0-9.]+)z")
_DOT = re.compile(r"M([-0-9.]+) ([-0-9.]+)a([0-9]+) \3 0 1 0 ([0-9]+) 0a\3 \3 0 1 0 -\4 0")
_RULE = re.compile(r"M([-0-9.]+) ([-0-9.]+)(?:H([-0-9.]+)|v5)")
# By the names that pages have for colours, and as drawings that are files by themselves have them.
_GRID = {"var(--grid)", "#e8ebef"}
_FRAME = _GRID | {"var(--control)", "#7b8796"}
_WHISKER = "var(--text)"
_BELOW = "var(--below)"


@dataclass(frozen=True)
class Word:
    """A text, where it stands, and by which end."""

    text: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True)
class Shade:
    """Cells of a map that are equally dark. places: (n, 5), rectangles; is_below: whether their numbers are below 0."""

    places: np.ndarray
    opacity: float
    is_below: bool


@dataclass
class Drawing:
    """Shapes by kind, each an array of points (n, 2), of bars (n, 5), or of rectangles (n, 5).

    turned: words as they stand along their own direction. titles: what stands at no shape, over and under it.
    unread: shapes and texts that are written as no portal writes them.
    """

    grid: list[np.ndarray] = field(default_factory=list)
    lines: list[np.ndarray] = field(default_factory=list)
    whiskers: list[np.ndarray] = field(default_factory=list)
    bands: list[np.ndarray] = field(default_factory=list)
    outlines: list[np.ndarray] = field(default_factory=list)
    dots: list[np.ndarray] = field(default_factory=list)
    bars: list[np.ndarray] = field(default_factory=list)
    rectangles: list[np.ndarray] = field(default_factory=list)
    shades: list[Shade] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    turned: list[Word] = field(default_factory=list)
    titles: list[Word] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def read(svg: str) -> Drawing:
    """The drawing that an SVG is. Raises ValueError where a number in it is none."""
    drawing = Drawing()
    _add_words(drawing, svg)
    for places, stroke in _POLYLINE.findall(svg):
        points = _points(places)
        if stroke in _FRAME:
            drawing.grid += [points] if stroke in _GRID else []
            drawing.unread += [] if _is_straight(points) else [places[:20]]
        elif stroke == _WHISKER or _is_upright(points):
            drawing.whiskers += [points] if _is_straight(points) else []
            drawing.unread += [] if _is_straight(points) else [places[:20]]
        else:
            drawing.lines.append(points)
            drawing.unread += [] if _goes_on(points) else [places[:20]]
    drawing.bands += map(_points, _POLYGON.findall(svg))
    for path, fill, opacity in _PATH.findall(svg):
        before = len(drawing.rectangles)
        _add_path(drawing, path)
        if opacity and len(drawing.rectangles) > before:
            drawing.shades.append(Shade(drawing.rectangles[-1], float(opacity), fill == _BELOW))
    return drawing


def _goes_on(line: np.ndarray) -> bool:
    """Whether no point is to the left of the one before, as those of a series are: no digit but 1 is written so."""
    return bool((np.diff(line[:, 0]) >= 0).all())


def _is_straight(points: np.ndarray) -> bool:
    """Whether a line of the frame is level or stands upright, from one end to the other."""
    return points.shape == (2, 2) and bool((points[0] == points[1]).any())


def _is_upright(points: np.ndarray) -> bool:
    """Whether it is a margin in the colour of its series: no series has two values in one place."""
    return points.shape == (2, 2) and bool(points[0, 0] == points[1, 0])


def _add_words(drawing: Drawing, svg: str) -> None:
    for attributes, text in _TEXT.findall(svg):
        words, form = " ".join(plain(text).split()), _OF_TEXT.fullmatch(attributes)
        if form is None:
            drawing.unread.append(words[:20])
        elif form[1]:
            along, across = _TURN @ np.array([float(form[1]), float(form[2])])
            drawing.turned.append(Word(words, float(along), float(across), form[5] or "start"))
        else:
            own = drawing.words if form[5] else drawing.titles
            own.append(Word(words, float(form[3]), float(form[4]), form[5] or "start"))


def _points(places: str) -> np.ndarray:
    return np.array([[float(number) for number in place.split(",")] for place in places.split()]).reshape(
        -1, 2
    )


def _add_path(drawing: Drawing, path: str) -> None:
    for pattern, kind in ((_BAR, drawing.bars), (_RECTANGLE, drawing.rectangles), (_DOT, drawing.dots)):
        matches = [tuple(map(float, match)) for match in pattern.findall(path)]
        if matches:
            kind.append(np.array(matches))
            if pattern.sub("", path).strip():
                drawing.unread.append(path[:20])
            return
    if rule := _RULE.fullmatch(path):
        begin, height, end = (float(each) for each in (rule[1], rule[2], rule[3] or rule[1]))
        drawing.grid += [np.array([[begin, height], [end, height]])] if rule[3] else []
    elif "," in path:
        drawing.outlines.append(_points(path.strip("Mz")))
    elif "L" in path:
        points = [place.split() for place in path.strip("Mz").split("L")]
        drawing.bands.append(np.array(points, float).reshape(-1, 2))
    elif path:
        drawing.unread.append(path[:20])
