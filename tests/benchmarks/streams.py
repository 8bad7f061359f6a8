"""Running counts: error (by formula, by Monte Carlo), time and memory of every mechanism, beside binary tree and FDA.

Run: python -m tests.benchmarks.streams. Errors are mean squared errors of a published count over the horizon, in
rows², at ε = 1 and at ρ = 1/2 (Gaussian noise of variance 1 for one count). The targets at ε = 1 are 52, 88, 300 and
500. "bound" is what no strategy can go below: at ε = 1 by the singular values; "convex" is more than any bound can be
that is the least error over a convex set of AᵀA (see the room's README). Times are those of the processor, on one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.continual.compare import offers, suggested
from mechanisms.continual.fda import FactorisationDiagonal
from mechanisms.continual.gaussian_optimum import GaussianOptimumStream, triangular_optimum
from mechanisms.continual.mechanism import StreamMechanism, StreamPlan, StreamRequest
from mechanisms.continual.strategy import ROUNDING_VARIANCE
from mechanisms.continual.tree import BinaryTree
from mechanisms.matrix.optimise.gaussian import gaussian_optimum
from mechanisms.matrix.workload.factor import Prefix
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError

HORIZONS = (255, 1023, 65_535, 2**20 - 1)
# Where the least error is set beside FDA's and the binary tree's: powers of two less one favour those.
COMPARED = (31, 63, 255, 256, 1023, 4095, 5000, 8191, 16_383, 65_535, 100_000, 2**18 - 1, 700_000, 2**20 - 1)
# Streams side by side in the simulation; longer horizons do not fit.
LANES = {255: 2000, 1023: 500, 65_535: 8}
LOSSES = (Loss(Definition.PURE, Fraction(1)), Loss(Definition.ZCDP, Fraction(1, 2)))
UPDATES = 3000

T = TypeVar("T")


def timed(run: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    return run(), time.process_time() - start


def plan_or_none(mechanism: StreamMechanism, horizon: int, loss: Loss, series: int = 1) -> StreamPlan | None:
    try:
        return mechanism.plan(StreamRequest(horizon, series), loss)
    except PlanError:
        return None


def simulated(mechanism: StreamMechanism, horizon: int, loss: Loss) -> tuple[float, float] | None:
    """Mean squared error of a few streams, and its standard error from the spread between them."""
    lanes = LANES.get(horizon)
    plan = plan_or_none(mechanism, horizon, loss, lanes) if lanes else None
    if plan is None or lanes is None:
        return None
    noise, nothing = Noise(), np.zeros(lanes, dtype=np.int64)
    squares, state = np.zeros(lanes), mechanism.open(plan, noise)
    for _ in range(horizon):
        counts, state = mechanism.advance(plan, state, nothing, noise)
        squares += counts.astype(float) ** 2
    means = squares / horizon
    return float(means.mean()), float(means.std(ddof=1) / lanes**0.5)


def errors(loss: Loss) -> None:
    print(f"\nMean squared error at {loss.symbol} = {loss.amount}, by formula [simulated ± standard error]")
    print(f"{'':<22}" + "".join(f"{horizon:>34,}" for horizon in HORIZONS))
    for mechanism in registry.STREAMS:
        if loss.definition not in mechanism.definitions:
            continue
        cells = []
        for horizon in HORIZONS:
            plan = plan_or_none(mechanism, horizon, loss)
            chance = None if mechanism.reference else simulated(mechanism, horizon, loss)
            drawn = f" [{chance[0]:,.1f} ± {chance[1]:.1f}]" if chance else ""
            cells.append("-" if plan is None else f"{plan.mean_squared_error:,.2f}{drawn}")
        print(f"{mechanism.name:<22}" + "".join(f"{cell:>34}" for cell in cells), flush=True)
    if loss.definition is Definition.ZCDP:
        bounds = [
            f"{triangular_optimum(n).lower_bound / n + ROUNDING_VARIANCE:.2f}"
            if n <= GaussianOptimumStream.longest
            else "-"
            for n in HORIZONS
        ]
        print(f"{'bound':<22}" + "".join(f"{bound:>34}" for bound in bounds))
    else:
        print(f"{'bound':<22}" + "".join(f"{singular_bound(n):>34,.2f}" for n in HORIZONS))
        print(f"{'convex':<22}" + "".join(f"{convex_limit(n):>34,.2f}" for n in HORIZONS[:2]))


def singular_bound(horizon: int) -> float:
    """2‖W‖_*²/N²: no strategy with Laplace noise and columns of L1 norm 1 has a smaller mean squared error."""
    values = 0.5 / np.sin(np.pi * (2 * np.arange(1, horizon + 1) - 1) / (4 * horizon + 2))
    return float(2 * (values.sum() / horizon) ** 2)


def convex_limit(horizon: int) -> float:
    """The error at a mixture of single rows of signs, each of which has columns of L1 norm 1: signs of a normal vector
    whose covariance is the Gaussian optimum."""
    strategy = gaussian_optimum(Prefix(horizon)).strategy
    covariance = strategy.T @ strategy
    lengths = np.sqrt(np.diag(covariance))
    mixture = 2 / np.pi * np.arcsin(np.clip(covariance / np.outer(lengths, lengths), -1, 1))
    left = np.arange(horizon, 0, -1)
    gram = np.minimum.outer(left, left).astype(float)
    return float(2 * np.trace(np.linalg.solve(mixture, gram)) / horizon)


def shares(loss: Loss) -> None:
    print(f"\nThe least error at {loss.symbol} = {loss.amount}, as a share of FDA's and of the binary tree's")
    print(f"{'periods':>10}  {'':<16}{'error':>10}{'of FDA':>10}{'of tree':>10}")
    for horizon in COMPARED:
        request = StreamRequest(horizon)
        best = suggested(offers(registry.STREAMS, request, loss))
        assert best is not None and best.plan is not None
        error = best.plan.mean_squared_error
        others = [
            other.plan(request, loss).mean_squared_error for other in (FactorisationDiagonal(), BinaryTree())
        ]
        line = "".join(f"{error / other:>10.3f}" for other in others)
        print(f"{horizon:>10,}  {best.mechanism.name:<16}{error:>10,.1f}{line}", flush=True)


def times(loss: Loss) -> None:
    print(f"\nThe longest stream up to 2^20 periods, at {loss.symbol} = {loss.amount}")
    heads = ("periods", "plan, s", "opening, s", "update, ms", "slowest, ms", "state, bytes")
    print(f"{'':<22}" + "".join(f"{head:>14}" for head in heads))
    for mechanism in registry.STREAMS:
        longest = next((n for n in (2**20, 2**16, 4096, 1024, 64) if plan_or_none(mechanism, n, loss)), None)
        if longest is None:
            continue
        # One less, so that nothing is known of it yet.
        periods = longest - 1
        plan, planning = timed(partial(mechanism.plan, StreamRequest(periods), loss))
        noise, increment = Noise(), np.array([3], dtype=np.int64)
        state, opening = timed(partial(mechanism.open, plan, noise))
        largest, spent = len(state.to_bytes()), []
        for period in range(min(UPDATES, periods)):
            start = time.process_time()
            _, state = mechanism.advance(plan, state, increment, noise)
            spent.append(time.process_time() - start)
            if period % 64 == 1:
                largest = max(largest, len(state.to_bytes()))
        numbers = f"{periods:>14,}{planning:>14.3f}{opening:>14.4f}"
        numbers += f"{1e3 * sum(spent) / len(spent):>14.3f}{1e3 * max(spent):>14.2f}{largest:>14,}"
        print(f"{mechanism.name:<22}{numbers}", flush=True)


def fda_weights() -> None:
    mechanism, horizon = FactorisationDiagonal(), 2**20 - 1
    plan = mechanism.plan(StreamRequest(horizon), LOSSES[0])
    strategy = mechanism.build(horizon, Definition.PURE, plan.details)
    _, everything = timed(lambda: strategy.weights(np.arange(1, horizon + 1)))
    some = np.random.default_rng(0).integers(1, horizon + 1, 1000).tolist()
    _, thousand = timed(lambda: [strategy.weight(period) for period in some])
    print(f"\nFDA at N = 2^20 - 1: all weights in {everything:.3f} s, one weight in {1e3 * thousand:.1f} µs")


def main() -> None:
    for loss in LOSSES:
        errors(loss)
    shares(LOSSES[0])
    for loss in LOSSES:
        times(loss)
    fda_weights()


if __name__ == "__main__":
    main()
