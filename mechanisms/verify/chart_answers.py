"""Answers of which a chart shows every so many, since there are more than it has room for."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pandas as pd

from mechanisms.verify.bundle import Bundle

ANSWERS, MOST_DRAWN = "answers.csv", 2000
_NUMBERS = ["answer", "interval_lower", "interval_upper"]


def drawn(bundle: Bundle) -> Iterator[np.ndarray]:
    """Answers and the ends of their intervals; none where a chart shows all."""
    number = bundle.release.get("queries")
    if not isinstance(number, int) or number <= MOST_DRAWN:
        return
    places = set((np.linspace(0, number - 1, MOST_DRAWN).round().astype(np.int64) + 1).tolist())
    with bundle.opened(ANSWERS) as content:
        text = io.TextIOWrapper(content, "utf-8", newline="")
        table = pd.read_csv(text, usecols=_NUMBERS, skiprows=lambda line: line > 0 and line not in places)
    yield from (table[name].to_numpy(float) for name in _NUMBERS)
