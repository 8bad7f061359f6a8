"""Errors to expect of every method on made-up tables of the same shape: asked for in the wizard, found by a worker."""

from __future__ import annotations

import logging
import math
import traceback
from decimal import Decimal
from typing import Any

import numpy as np
from celery.exceptions import SoftTimeLimitExceeded
from django.utils.translation import gettext as _

from dpportal.releases.models import Simulation
from dpportal.running import questions
from dpportal.running.jobs import Claim, JobState, LostClaimError
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.microdata.simulation import AMOUNTS, Shape, simulated

log = logging.getLogger(__name__)

TOO_LONG = "The simulation took longer than an hour. Choose fewer cells or columns."


def question(domain: Domain, loss: Loss, people: int) -> dict[str, Any]:
    """All that a simulation depends on: the shape, people to two digits, whom the loss protects; no name, no data."""
    digits = max(0, int(math.log10(people)) - 1)
    return {
        "columns": [list(column) for column in Shape.of(domain).columns],
        "people": round(people, -digits),
        "loss": Loss(loss.definition, type(loss.amount)(1), loss.unit).to_json(),
    }


def work_out(key: str) -> None:
    """Simulate one shape, if no other worker does."""
    questions.work_out(Simulation, key, _attempt)


def _attempt(simulation: Simulation, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            claim.write(lines=_lines(simulation.question, claim))
        claim.finish(JobState.DONE)
    except LostClaimError:
        raise
    except SoftTimeLimitExceeded:
        claim.finish(JobState.FAILED, _(TOO_LONG))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error(
            "simulation %s: %s at %s:%s", simulation.key[:12], type(error).__name__, place.name, place.lineno
        )
        claim.give_back()


def _lines(asked: dict[str, Any], claim: Claim) -> list[dict[str, Any]]:
    shape = Shape(tuple((int(size), str(kind), bool(missing)) for size, kind, missing in asked["columns"]))
    loss, methods = Loss.from_json(asked["loss"]), {m.name: m for m in registry.MICRODATA}
    lines, most = [], len(methods) * len(AMOUNTS[loss.definition])
    for done, line in enumerate(simulated(shape, int(asked["people"]), loss, methods), 1):
        lines.append(line.to_json())
        claim.advance(done, most)
    return lines


def shown(simulation: Simulation | None, definition: Definition, amount: Decimal) -> dict[str, Any]:
    """The table for a page: a line for each method, its errors at each simulated cost and between them at this one."""
    if simulation is None or simulation.state != JobState.DONE:
        return {"simulation": simulation, "simulated": []}
    amounts = AMOUNTS[definition]
    lines = [
        {"title": method.title, **_errors(own, amounts, float(amount))}
        for method in registry.MICRODATA
        if len(own := [line for line in simulation.lines if line["method"] == method.name]) == len(amounts)
    ]
    return {"simulation": simulation, "simulated": lines, "simulated_at": amounts}


def _errors(lines: list[dict[str, Any]], amounts: tuple[str, ...], amount: float) -> dict[str, Any]:
    logs = [math.log(float(a)) for a in amounts]
    inside = logs[0] <= math.log(amount) <= logs[-1]
    here = [
        math.exp(np.interp(math.log(amount), logs, [math.log(max(line[name], 1e-9)) for line in lines]))
        for name in ("pairs", "triples")
        if inside and all(line[name] is not None for line in lines)
    ]
    return {
        "costs": [(line["pairs"], line["triples"]) for line in lines],
        "here": here,
        "seconds": max(line["seconds"] for line in lines),
    }
