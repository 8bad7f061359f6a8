"""The mechanism of smooth overlapping windows: p-Identity, nested for long streams."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import ClassVar

from mechanisms.accounting import Definition
from mechanisms.continual.block_tree import BlockLevels, Nested, best_outer_share, block_length
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.strategy import StreamStrategy
from mechanisms.continual.stream import LinearStream
from mechanisms.continual.windows import LONGEST as LONGEST_BLOCK, UNIT, Layer, best_layers
from mechanisms.json_types import JsonObject


class WindowStream(LinearStream):
    """p-Identity (McKenna et al. 2018) with windows of few parameters; above 4,096 periods blocks of blocks."""

    name: ClassVar[str] = "p-identity"
    title: ClassVar[str] = "Smooth overlapping windows"
    summary: ClassVar[str] = (
        "Measures each period and weighted sums over many, chosen for the horizon, and combines them as well as "
        "can be: the least error for a fixed number of periods."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE})

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        assert horizon is not None  # `endless` is False
        if horizon <= LONGEST_BLOCK:
            return {"levels": [_level(horizon, grid, False)]}
        block = block_length(horizon)
        blocks = -(-horizon // block)
        outer = round(grid * _outer_share(horizon, blocks, block))
        return {"levels": [_level(blocks, outer, False), _level(block, grid - outer, True)]}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        return _strategy(json.dumps(details["levels"]))


def _level(periods: int, grid: int, within_block: bool) -> dict[str, object]:
    best = best_layers(periods, within_block)
    layers = [{"knots": list(layer.knots), "heights": list(layer.heights)} for layer in best]
    return {"periods": periods, "grid": grid, "layers": layers}


@lru_cache(maxsize=256)
def _outer_share(horizon: int, blocks: int, block: int) -> float:
    outer = NestedWindows(blocks, best_layers(blocks, False), UNIT**2)
    inner = NestedWindows(block, best_layers(block, True), UNIT**2)
    return best_outer_share(BlockLevels.of(outer, inner), horizon)


@lru_cache(maxsize=16)
def _strategy(levels: str) -> StreamStrategy:
    """The strategy of the levels, outermost first; a plan's JSON says all there is to know about it."""
    windows = [
        NestedWindows(
            level["periods"],
            tuple(Layer(tuple(layer["knots"]), tuple(layer["heights"])) for layer in level["layers"]),
            level["grid"],
        )
        for level in json.loads(levels)
    ]
    return windows[0] if len(windows) == 1 else Nested(*windows)
