"""Whole releases of two neighbours with the same earlier answers: what each step asks of them, and with which noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.packing import unpack
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.noise import Noise, NoiseLaw
from mechanisms.selection import ExponentialMechanism, PermuteAndFlip, Selection
from tests.mechanisms.audit import no_bytes

# Rate, points and which candidates are left, of one pick.
Pick = tuple[type[Selection], Fraction, np.ndarray, np.ndarray]


class Answered(Noise):
    """Adds what it is told in turn, then zeros, and writes down the laws that were asked for."""

    def __init__(self, script: Sequence[np.ndarray]) -> None:
        super().__init__(no_bytes)
        self._script = iter(script)
        self.laws: list[tuple[NoiseLaw, int]] = []

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        self.laws.append((law, size))
        return next(self._script, np.zeros(size, dtype=np.int64)).copy()


@contextmanager
def picks_of(picked: list[Pick], forced: Iterator[int] | None) -> Iterator[None]:
    """Every pick takes the best candidate, or those that are forced, and is written down."""
    own: dict[type[Selection], Callable[..., np.ndarray]] = {}
    for kind in (ExponentialMechanism, PermuteAndFlip):
        own[kind] = kind.choose

        def choose(  # type: ignore[no-untyped-def]
            self: Selection, rate, points, left, noise, kind: type[Selection] = kind
        ) -> np.ndarray:
            picked.append((kind, rate, points.copy(), left.copy()))
            best = np.where(left[0], points, np.iinfo(np.int64).min).argmax()
            return np.array([next(forced) if forced else best])

        kind.choose = choose  # type: ignore[method-assign]
    try:
        yield
    finally:
        for kind, choose_ in own.items():
            kind.choose = choose_  # type: ignore[method-assign]


@dataclass(frozen=True)
class Steps:
    """Two neighbours' releases that gave the same answers all along.

    laws: of each noisy number that the neighbours' true answers differ in; apart: by how much. picks: of every pick
    what the one and the other had to choose from.
    """

    laws: tuple[NoiseLaw, ...]
    apart: np.ndarray
    picks: tuple[tuple[Pick, Pick], ...]


def steps(method: Microdata, plan: MicrodataPlan, one: np.ndarray, other: np.ndarray) -> Steps:
    """Run the measurement on both counts; the second with such noise that each answer is the first one's.

    Asserts that what is no noisy answer (groups, chosen pairs, components) then is the same, too: a function of
    earlier answers alone.
    """
    picks: list[Pick] = []
    noise = Answered(())
    with picks_of(picks, None):
        wanted = unpack(method.measure(plan, one, noise).values)
    chosen = [
        int(np.where(left[0], points, np.iinfo(np.int64).min).argmax()) for _k, _r, points, left in picks
    ]
    slots = list(_slots(wanted, noise.laws, plan))
    script: list[np.ndarray] = []
    for part, start, size in [*slots, (0, 0, 0)]:
        others: list[Pick] = []
        with picks_of(others, iter(chosen)):
            found = unpack(method.measure(plan, other, Answered(script)).values)
        script.append(wanted[part][start : start + size] - found[part][start : start + size])
    assert all(np.array_equal(a, b) for a, b in zip(wanted, found, strict=True))
    laws = [law for law, size in noise.laws for _ in range(size)]
    apart = np.concatenate(script)
    moved = np.flatnonzero(apart)
    return Steps(tuple(laws[place] for place in moved), apart[moved], tuple(zip(picks, others, strict=True)))


def _slots(
    parts: Sequence[np.ndarray], laws: Sequence[tuple[NoiseLaw, int]], plan: MicrodataPlan
) -> Iterator[tuple[int, int, int]]:
    """Where in the record the numbers of each draw are: (part, start, size). Single columns share a part."""
    columns, start = len(plan.domain.shape), 0
    for _law, size in laws[:columns]:
        yield 0, start, size
        start += size
    part, start = 1, 0
    for place, (_law, size) in enumerate(laws[columns:]):
        if start == 0:
            part = next(p for p in range(part, len(parts)) if _is_noisy(plan, p, place, parts, size))
        yield part, start, size
        start += size
        if start >= parts[part].size:
            part, start = part + 1, 0


def _is_noisy(plan: MicrodataPlan, part: int, place: int, parts: Sequence[np.ndarray], size: int) -> bool:
    """Whether a part holds a draw: of components the products and the last one, else what is no group or pair."""
    first = 2 if plan.keep is None else 3
    if plan.mechanism == "principal-components":
        return part == (first - 1 if place == 0 else len(parts) - 1)
    if plan.mechanism == "clusters":
        return part >= first
    if plan.mechanism == "tree-of-pairs":
        return part > first
    if part < first or _follows_scores(plan, part - first, parts[first:]):
        return False
    return parts[part].size == size or _is_again(parts[part - 1], parts[part])


def _follows_scores(plan: MicrodataPlan, part: int, parts: Sequence[np.ndarray]) -> bool:
    """Whether a part of latent classes is a list of pairs, which comes after each round's scores."""
    at = 0
    while at < part:
        if part == at + 1:
            return True
        at += 2 + max(1, parts[at + 1].size // 2)
    return False


def _is_again(pairs: np.ndarray, part: np.ndarray) -> bool:
    """Whether a part has single columns that were measured again, in place of the pairs that none were chosen of."""
    return pairs.size == 0 and part.size > 0
