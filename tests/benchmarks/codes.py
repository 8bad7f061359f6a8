"""Columns of thousands of codes: how many rows of latent classes show what cannot be, and how far pairs are off.

A made-up table as large as the flights of New York's airports in 2013: 336,776 flights by 4,044 planes, each of one
of 16 carriers, which differ in size as Zipf's law has it, and five columns more, of which three follow the carrier.
Without a declaration, with the one that each plane has one carrier, and with a public register of which. Wrong is a
row whose plane never flew for its carrier; several is how many pairs of plane and carrier the rows hold beyond one for
each plane.

Run: python -m tests.benchmarks.codes [--epsilons 0.1 1 10]
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from fractions import Fraction

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.microdata.constraints import Wishes
from mechanisms.noise import Noise
from mechanisms.registry import microdata
from tests.benchmarks.synthesis import RHO, pair_distance

FLIGHTS, PLANES, CARRIERS = 336_776, 4_044, 16
DECLARED = Wishes(follows=(("plane", "carrier"),))
REGISTER = "register"


def flights() -> tuple[Domain, np.ndarray, np.ndarray]:
    """The columns, (flights, 7) rows, and (planes,) the carrier of each plane."""
    random = np.random.default_rng(13)
    carrier_of = random.choice(CARRIERS, PLANES, p=_zipf(CARRIERS, 0, 1.0))
    plane = random.choice(PLANES, FLIGHTS, p=random.permutation(_zipf(PLANES, 49, 0.9)))
    carrier = carrier_of[plane]
    origin = np.where(random.random(FLIGHTS) < 0.6, carrier % 3, random.integers(0, 3, FLIGHTS))
    own = (carrier * 7 + random.integers(0, 20, FLIGHTS)) % 100
    destination = np.where(random.random(FLIGHTS) < 0.5, own, random.integers(0, 100, FLIGHTS))
    month = random.integers(0, 12, FLIGHTS)
    hour = np.clip(random.normal(13, 4, FLIGHTS).astype(int), 0, 23)
    delay = np.clip((random.exponential(20, FLIGHTS) + carrier).astype(int), 0, 99)
    sizes = {"plane": PLANES, "carrier": CARRIERS, "origin": 3, "destination": 100}
    ordered = {"month": 12, "hour": 24, "delay": 100}
    attributes = (
        *(
            Categorical(n, values=tuple(map(str, range(s))), closed=True, misfits_to=0)
            for n, s in sizes.items()
        ),
        *(Integer(name, lower=0, upper=size - 1) for name, size in ordered.items()),
    )
    rows = np.column_stack([plane, carrier, origin, destination, month, hour, delay])
    return Domain(attributes), rows, carrier_of


def _zipf(size: int, start: int, power: float) -> np.ndarray:
    weights = 1 / np.arange(start + 1.0, start + 1 + size) ** power
    return weights / weights.sum()


def line(epsilon: str, dependency: str) -> str:
    wishes = DECLARED if dependency else Wishes()
    domain, rows, carrier_of = flights()
    if dependency == REGISTER:
        known = (("plane", str(plane), "carrier", str(c)) for plane, c in enumerate(carrier_of))
        wishes = replace(wishes, known=tuple(known))
    method = microdata("latent-classes")
    plan = method.plan(domain, wishes, Loss(Definition.ZCDP, Fraction(RHO[epsilon])))
    measurement = method.measure(plan, plan.tables.of_rows(rows), Noise())
    made = method.reconstruct(plan, measurement).rows
    wrong = float((carrier_of[made[:, 0]] != made[:, 1]).mean())
    several = len(np.unique(made[:, :2], axis=0)) - len(np.unique(made[:, 0]))
    return (
        f"| {epsilon} | {dependency} | {wrong:.2%} | {several:,} | {pair_distance(domain, rows, made):.4f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epsilons", nargs="*", default=list(RHO), choices=list(RHO))
    print("| ε | dependency | wrong | several | pairs |\n|---|---|---|---|---|")
    for epsilon in parser.parse_args().epsilons:
        for dependency in ("", "declared", REGISTER):
            print(line(epsilon, dependency), flush=True)


if __name__ == "__main__":
    main()
