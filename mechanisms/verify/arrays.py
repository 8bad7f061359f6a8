"""The arrays of a bundle of answers: the strategy that was measured, and queries that were uploaded."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from hashlib import sha256

import numpy as np

from mechanisms import registry
from mechanisms.matrix.strategy_arrays import strategy_arrays
from mechanisms.refusal import RefusalError
from mechanisms.verify import container
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.planned import Planned
from mechanisms.verify.uploads import ENDING, UPLOADED, loaded

STRATEGY = "strategy.npz"
_SPARSE = {"data", "indices", "indptr", "shape", "format"}
# Of real weights, which another processor ends otherwise.
RELATIVE = 1e-9


def check(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    """Whether a fixed strategy is the method's own, and each uploaded matrix the one that its name is the digest of."""
    for name in bundle.entries:
        if name == STRATEGY:
            yield _strategy(bundle, planned)
        elif name.startswith(UPLOADED) and name.endswith(ENDING):
            digest = sha256(bundle.content(name)).hexdigest()
            same = name == f"{UPLOADED}{digest}{ENDING}" and digest in planned.stated.workload.text
            yield Finding.of(
                name, "" if same else "it is not what the plan names", "the plan names it by its digest"
            )


def _strategy(bundle: Bundle, planned: Planned) -> Finding:
    content = bundle.content(STRATEGY)
    try:
        if fault := _fault_of_zip(content):
            return Finding(STRATEGY, State.FAILED, fault)
        stated = loaded(content)
        if planned.again is None:
            # What one person moves in it is added up by `strategy`.
            fault = "" if set(stated) == _SPARSE or "shape" not in stated else "it has further arrays"
            return Finding.of(STRATEGY, fault, "the strategy that the noise was checked for")
        own = strategy_arrays(registry.query_mechanism(planned.again.mechanism), planned.again)
    except (RefusalError, ValueError) as fault_of_plan:
        return Finding(STRATEGY, State.FAILED, f"it does not fit the plan ({type(fault_of_plan).__name__})")
    return Finding.of(
        STRATEGY, "" if _are_same(stated, own) else "it has other weights", "the method's own strategy"
    )


def _fault_of_zip(content: bytes) -> str:
    held = io.BytesIO(content)
    try:
        with zipfile.ZipFile(held) as archive:
            return next(container.faults(archive, held), "")
    except zipfile.BadZipFile:
        return "it is no zip of arrays"


def _are_same(stated: dict[str, np.ndarray], own: dict[str, np.ndarray]) -> bool:
    if set(stated) != set(own):
        return False
    return all(
        np.allclose(stated[name], own[name], rtol=RELATIVE, atol=0.0)
        if own[name].dtype.kind == "f" and stated[name].shape == own[name].shape
        else np.array_equal(stated[name], own[name])
        for name in own
    )
