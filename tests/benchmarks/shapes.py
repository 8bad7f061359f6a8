"""Shapes of tables, drawn at random: mixtures of smooth, heavy-tailed, sparse, spiky and stepped ones.

They stand for what columns look like: ages and marks gather around some middles; ranks and amounts fall off by a power
law; codes fill a few stretches or scattered cells; crowds of very different sizes lie on islands; one column nearly
follows from another; a refusal or a zero holds a large share in one cell; rounded answers come at every fifth or tenth
cell; a bound that was declared too wide leaves the end empty; wide places have nobody; and neighbouring cells differ, a
little or a lot, by themselves or at every scale at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechanisms.advice.answers import TableShape
from mechanisms.arrays import Floats, Integers

# A mixture has so many parts at most.
PARTS = 3


def sample(shape: TableShape, people: int, generator: np.random.Generator) -> Integers:
    """(cells,) counts of a table of a drawn shape, summing to `people`; cells in C order of `shape`."""
    weights = weights_of(shape, generator)
    return generator.multinomial(people, weights.ravel()).astype(np.int64)


def weights_of(shape: TableShape, generator: np.random.Generator) -> Floats:
    """How likely each cell is: `shape`, sums to 1."""
    shares = generator.dirichlet(np.full(generator.integers(1, PARTS + 1), 0.7))
    total = np.zeros(shape)
    for share in shares:
        kind = KINDS[generator.integers(len(KINDS))]
        part = kind(shape, generator) * _rough(shape, generator)
        total += share * part / max(part.sum(), 1e-300)
    total *= _filled(shape, generator)
    # A part may have underflowed or been cut off altogether; then people are spread evenly.
    return total / total.sum() if total.sum() > 0 else np.full(shape, 1 / math.prod(shape))


def _smooth(shape: TableShape, generator: np.random.Generator) -> Floats:
    """One to six bells, from narrow to wide; in several columns each with an axis of its own width."""
    places = np.meshgrid(*((np.arange(n) + 0.5) / n for n in shape), indexing="ij", sparse=True)
    total = np.zeros(shape)
    for _ in range(generator.integers(1, 7)):
        middle = generator.uniform(-0.1, 1.1, len(shape))
        width = np.exp(generator.uniform(math.log(0.01), math.log(0.6), len(shape)))
        lean = generator.uniform(-0.9, 0.9)
        z = [(x - m) / w for x, m, w in zip(places, middle, width, strict=True)]
        square = sum((v**2 for v in z), np.zeros(shape)) - (2 * lean * z[0] * z[1] if len(z) > 1 else 0)
        total += generator.exponential() * np.exp(-square / 2)
    return total


def _falling(shape: TableShape, generator: np.random.Generator) -> Floats:
    """A power law from the first cell or corner on, slow or steep; from the last one half the time."""
    falls = []
    for n in shape:
        fall = (np.arange(n) + np.exp(generator.uniform(0, math.log(n + 1)))) ** -generator.uniform(0.3, 3)
        falls.append(fall[::-1] if generator.random() < 0.5 else fall)
    return _product(falls)


def _even(shape: TableShape, generator: np.random.Generator) -> Floats:
    return np.ones(shape)


def _stretches(shape: TableShape, generator: np.random.Generator) -> Floats:
    """Few stretches or boxes of people, of any size, anywhere."""
    total = np.zeros(shape)
    for _ in range(generator.integers(1, 13)):
        box = []
        for n in shape:
            length = max(
                1, round(n * math.exp(generator.uniform(math.log(1 / n), math.log(max(0.5, 1 / n)))))
            )
            start = generator.integers(0, n - length + 1)
            box.append(slice(start, start + length))
        total[tuple(box)] += generator.exponential() / total[tuple(box)].size
    return total


def _scattered(shape: TableShape, generator: np.random.Generator) -> Floats:
    """People in a share of the cells, scattered, with weights of a light or a heavy tail."""
    cells = math.prod(shape)
    some = max(1, round(cells * math.exp(generator.uniform(math.log(1 / cells), 0))))
    total = np.zeros(cells)
    total[generator.permutation(cells)[:some]] = generator.pareto(generator.uniform(0.5, 3), some) + 0.1
    return total.reshape(shape)


def _islands(shape: TableShape, generator: np.random.Generator) -> Floats:
    """Ten to three hundred small boxes near a few centres, their people of a heavy tail."""
    total = np.zeros(shape)
    centres = generator.uniform(0, 1, (generator.integers(1, 7), len(shape)))
    spread, tail, largest = (
        generator.uniform(0.02, 0.4),
        generator.uniform(0.5, 1.5),
        generator.uniform(0.005, 0.1),
    )
    for _ in range(round(math.exp(generator.uniform(math.log(10), math.log(300))))):
        middle = centres[generator.integers(len(centres))] + generator.normal(0, spread, len(shape))
        box = []
        for n, place in zip(shape, middle, strict=True):
            length = max(1, round(n * largest * generator.random() ** 2))
            start = min(n - length, max(0, round(n * place)))
            box.append(slice(start, start + length))
        total[tuple(box)] += generator.pareto(tail) + 0.1
    return total


def _band(shape: TableShape, generator: np.random.Generator) -> Floats:
    """People near a curve: each further column rises or falls with the first; heaped or not along it."""
    places = np.meshgrid(*((np.arange(n) + 0.5) / n for n in shape), indexing="ij", sparse=True)
    total = np.ones(shape) * _falling(shape[:1], generator).reshape(-1, *[1] * (len(shape) - 1))
    for place in places[1:]:
        curve = places[0] ** math.exp(generator.normal(0, 0.7))
        away = (place - (curve if generator.random() < 0.7 else 1 - curve)) / generator.uniform(0.003, 0.1)
        total = total * np.exp(-np.abs(away))
    return total


def _spikes(shape: TableShape, generator: np.random.Generator) -> Floats:
    """One to thirty cells that hold nearly everyone, the first cell among them half the time."""
    total = np.zeros(math.prod(shape))
    cells = generator.integers(0, total.size, round(30 ** generator.random()))
    total[cells] = generator.pareto(1.0, cells.size) + 0.1
    if generator.random() < 0.5:
        total[0] += total.sum()
    return total.reshape(shape)


def _steps(shape: TableShape, generator: np.random.Generator) -> Floats:
    """Level stretches of very different heights, along every column."""
    levels = []
    for n in shape:
        edges = np.sort(generator.integers(0, n + 1, generator.integers(1, 21)))
        heights = np.exp(generator.normal(0, 1.5, edges.size + 1))
        levels.append(heights[np.searchsorted(edges, np.arange(n), side="right")])
    return _product(levels)


def _heaps(shape: TableShape, generator: np.random.Generator) -> Floats:
    """Rounded answers: a bell over the multiples of some step, with few people between."""
    step = int(generator.integers(2, 26))
    combs = [np.where(np.arange(n) % step == 0, 1.0, generator.uniform(0, 0.3)) for n in shape]
    return _smooth(shape, generator) * _product(combs)


KINDS: tuple[Callable[[TableShape, np.random.Generator], Floats], ...] = (
    _smooth,
    _falling,
    _even,
    _stretches,
    _scattered,
    _islands,
    _band,
    _spikes,
    _steps,
    _heaps,
)


def _rough(shape: TableShape, generator: np.random.Generator) -> Floats:
    """How neighbours differ: not at all, cell by cell, or by a cascade that is uneven at every scale."""
    kind, strength = generator.integers(3), generator.uniform(0.1, 2)
    if kind == 0:
        return np.ones(shape)
    if kind == 1:
        return np.asarray(np.exp(generator.normal(0, strength, shape)))
    return _cascade(shape, lambda sides: np.exp(generator.normal(0, strength / 3, sides)))


def _cascade(shape: TableShape, factors: Callable[[list[int]], Floats]) -> Floats:
    """The product of factors of blocks of every size, each axis cut into 1, 2, 4, ... intervals."""
    product = np.ones(shape)
    for level in range(max((n - 1).bit_length() for n in shape) + 1):
        sides = [min(n, 2**level) for n in shape]
        places = np.ix_(*(np.arange(n) * s // n for n, s in zip(shape, sides, strict=True)))
        product = product * factors(sides)[places]
    return product


def _filled(shape: TableShape, generator: np.random.Generator) -> Floats:
    """1 where values occur: in a fifth of the shapes not at the end of a column, in three tenths not in many holes."""
    kind, stay = generator.random(), generator.uniform(0.6, 0.97)
    if kind < 0.5:
        return np.ones(shape)
    if kind < 0.8:
        return _cascade(shape, lambda sides: (generator.random(sides) < stay).astype(np.float64))
    ends = [max(1, round(n * generator.uniform(0.05, 1))) for n in shape]
    return _product([(np.arange(n) < end).astype(np.float64) for n, end in zip(shape, ends, strict=True)])


def _product(along: list[Floats]) -> Floats:
    return np.asarray(math.prod(np.meshgrid(*along, indexing="ij", sparse=True)))
