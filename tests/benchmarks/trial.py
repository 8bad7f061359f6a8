"""How wrong the methods are on a drawn table: what the advice is made from."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.advice.answers import PURPOSES, AnswersOf, TableShape, answers, root_mean_square
from mechanisms.advice.ranking import take
from mechanisms.arrays import Integers
from mechanisms.domain import Domain, Integer
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import Mechanism, PlanError
from tests.benchmarks.shapes import sample

LOSSES = tuple(Fraction(text) for text in ("0.01", "0.03", "0.1", "0.3", "1"))
# Cells of one column; of each of two columns.
LINE, SIDE = (16, 16_384), (8, 320)
# n·ε.
STRENGTHS = (10.0, 10.0**7)


@dataclass(frozen=True)
class Trial:
    """A drawn table and the loss at which it is released; everything about it follows from its fields.

    family: names the draw; columns: 1 or 2.
    """

    family: str
    number: int
    columns: int
    definition: Definition

    @cached_property
    def _generator(self) -> np.random.Generator:
        named = f"{self.family} {self.number} {self.columns} {self.definition.value}"
        return repeatable(hashlib.sha256(named.encode()).digest())

    @cached_property
    def _sampled(self) -> tuple[TableShape, int, Fraction, Integers]:
        draw = self._generator
        ends = LINE if self.columns == 1 else SIDE
        shape = tuple(round(math.exp(draw.uniform(*np.log(ends)))) for _ in range(self.columns))
        epsilon = LOSSES[draw.integers(len(LOSSES))]
        people = max(1, round(math.exp(draw.uniform(*np.log(STRENGTHS))) / float(epsilon)))
        return shape, people, epsilon, sample(shape, people, draw)

    @property
    def shape(self) -> TableShape:
        return self._sampled[0]

    @property
    def people(self) -> int:
        return self._sampled[1]

    @property
    def counts(self) -> Integers:
        return self._sampled[3]

    @property
    def domain(self) -> Domain:
        return Domain(tuple(Integer(f"column {i}", upper=n - 1) for i, n in enumerate(self.shape)))

    @property
    def loss(self) -> Loss:
        """ε, or the ρ at which Gaussian noise has the variance of Laplace noise: ε²/4."""
        epsilon = self._sampled[2]
        amount = epsilon if self.definition is Definition.PURE else epsilon**2 / 4
        return Loss(self.definition, amount)

    @property
    def strength(self) -> float:
        """n·ε."""
        return self.people * float(self._sampled[2])

    def errors(
        self, methods: Iterable[Mechanism], trials: int, part: str = ""
    ) -> dict[str, dict[str, float]]:
        """By purpose and method, the root mean square error in rows of so many releases; without those that refuse.

        part: names the releases; others have other noise.
        """
        by_purpose: dict[str, dict[str, float]] = {purpose: {} for purpose in PURPOSES}
        for method in methods:
            planned = any(p.name == "purpose" for p in method.parameters)
            for purposes in [(p,) for p in PURPOSES] if planned else [PURPOSES]:
                parameters = {"purpose": purposes[0]} if planned else {}
                for purpose, error in self._errors(method, parameters, purposes, trials, part).items():
                    by_purpose[purpose][method.name] = error
        return by_purpose

    def _errors(
        self, method: Mechanism, parameters: dict[str, str], purposes: tuple[str, ...], trials: int, part: str
    ) -> dict[str, float]:
        try:
            plan = method.plan(self.domain, parameters, self.loss)
        except PlanError:
            return {}
        seed = f"{self.family} {self.number} {method.name} {purposes}{part}"
        noise = Noise(repeatable(hashlib.sha256(seed.encode()).digest()).bytes)
        results = [method.reconstruct(plan, method.measure(plan, self.counts, noise)) for _ in range(trials)]
        return {
            purpose: root_mean_square(
                [
                    _answers(purpose, self.shape)(getattr(result, take(method, purpose)) - self.counts)
                    for result in results
                ]
            )
            for purpose in purposes
        }


@lru_cache(maxsize=8)
def _answers(purpose: str, shape: TableShape) -> AnswersOf:
    return answers(purpose, shape)
