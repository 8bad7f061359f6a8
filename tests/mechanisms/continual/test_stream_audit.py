"""No mechanism for running counts leaks more than it states, to an adversary who sees every output first.

One run is a whole stream of four periods; 100,000 streams, at night a million, run side by side as the running
counts of one, whose noise is independent. The next increment is chosen by what was published before: the same rule on
both inputs, which differ by one row in one period. See `tests.mechanisms.test_audit` for what a verdict means.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.continual.block_tree import Nested
from mechanisms.continual.mechanism import StreamMechanism, StreamRequest
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import PlanError
from tests.mechanisms.audit import MILLION, RUNS, Claim, Verdict, Weakened, audit

# Half of any method's noise is refuted in each gate.
pytestmark = pytest.mark.every_day

PERIODS = 4
# The period in which a row more is counted in answers of full weight.
PERIOD_OF = {"hybrid": 3, "doubling-epochs": 2}
# Where streams side by side are advanced one by one.
RUNS_OF = {"buffered-toeplitz": 9_000}
LOSSES = {
    Definition.PURE: Loss(Definition.PURE, Fraction(1)),
    Definition.ZCDP: Loss(Definition.ZCDP, Fraction(1, 2)),
}
# Both kinds of noise where they meet different weights; else one, since the code is the same.
CASES = [
    (m, d)
    for m in registry.STREAMS
    for d in sorted(m.definitions)
    if d is sorted(m.definitions)[0] or m.name in {"hierarchy", "fda"}
]


def adaptive_stream(
    mechanism: StreamMechanism, loss: Loss, increments: np.ndarray, runs: int, noise: Noise
) -> np.ndarray:
    """(runs, periods) released counts; each period adds what was released before, modulo 3, to the increments."""
    try:
        plan = mechanism.plan(StreamRequest(PERIODS, series=runs), loss)
    except PlanError:
        plan = mechanism.plan(StreamRequest(None, series=runs), loss)
    state = mechanism.open(plan, noise)
    released = [np.zeros(runs, dtype=np.int64)]
    for increment in increments:
        counts, state = mechanism.advance(plan, state, increment + released[-1] % 3, noise)
        released.append(counts)
    return np.stack(released[1:], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "definition"), CASES, ids=[f"{m.name} {d}" for m, d in CASES])
def test_a_stream_keeps_its_promise_and_half_its_noise_does_not(
    mechanism: StreamMechanism, definition: Definition
) -> None:
    loss = LOSSES[definition]
    without = np.array([2, 0, 1, 3])
    row = np.arange(1, PERIODS + 1) == PERIOD_OF.get(mechanism.name, 1)
    sample = partial(adaptive_stream, mechanism, loss)
    runs = RUNS_OF.get(mechanism.name, RUNS)
    verdict = audit(sample, (without, without + row), Claim.of(loss), runs, Noise())
    broken = audit(sample, (without, without + row), Claim.of(loss), min(runs, MILLION // 10), Weakened())
    _report(f"{mechanism.name}, {definition}", verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


@pytest.mark.slow
def test_a_person_with_two_rows_who_is_replaced_stays_hidden() -> None:
    """Two rows of the first period become two of the third, or none."""
    loss = Loss(Definition.PURE, Fraction(1), PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=2))
    sample = partial(adaptive_stream, registry.stream("fda"), loss)
    first, third, none = np.array([2, 0, 1, 1]), np.array([0, 0, 3, 1]), np.array([0, 0, 1, 1])
    moved, gone = (audit(sample, (first, o), Claim.of(loss), MILLION // 10, Noise()) for o in (third, none))
    broken = audit(sample, (first, third), Claim.of(loss), MILLION // 5, Weakened())
    _report("fda, two rows", moved, broken)
    assert not moved.refuted
    assert not gone.refuted
    assert broken.refuted


def nested_stream(increments: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
    """As `adaptive_stream`, of two blocks of two periods, whose sums are asked within and without; ε = 1."""
    strategy = Nested(NestedWindows(2, (), 2**14), NestedWindows(2, (), 2**14))
    law = DiscreteLaplace(Fraction(strategy.column.l1))

    def draw(answers: int) -> np.ndarray:
        return noise.draw(law, answers * runs).reshape(answers, runs)

    numbers, total = strategy.begin(draw), np.zeros(runs, dtype=np.int64)
    released = [total]
    for period, increment in enumerate(increments, start=1):
        total = total + increment + released[-1] % 3
        counts, numbers = strategy.step(period, numbers, draw)
        released.append(total + counts)
    return np.stack(released[1:], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("period", [1, 4])
def test_blocks_reconciled_with_their_sums_keep_the_promise(period: int) -> None:
    without = np.array([2, 0, 1, 3])
    inputs = without, without + (np.arange(1, PERIODS + 1) == period)
    claim = Claim.of(LOSSES[Definition.PURE])
    verdict = audit(nested_stream, inputs, claim, MILLION // 10, Noise())
    broken = audit(nested_stream, inputs, claim, MILLION // 4, Weakened())
    _report(f"nested, row in period {period}", verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


def _report(name: str, verdict: Verdict, broken: Verdict) -> None:
    print(
        f"\n{name:28} {verdict.runs:>9,} runs   stated ε {verdict.stated:.3f} (δ {verdict.delta:g})   "
        f"at least {verdict.bound:.3f}   with half the noise at least {broken.bound:.3f} of {broken.stated:.3f}"
    )
