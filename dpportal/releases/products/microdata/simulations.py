"""Errors to expect of every method on made-up tables of the same shape: asked for in the wizard, found by a worker."""

from __future__ import annotations

import logging
import math
import traceback
from decimal import Decimal
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.utils.translation import gettext as _

from dpportal.releases.models import Simulation
from dpportal.running import questions
from dpportal.running.jobs import Claim, JobState, LostClaimError
from dpportal.running.questions import Kind
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.microdata.features import SHARE
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.simulation import AMOUNTS, EDITION, Shape, Simulated, at, ranked, simulated

log = logging.getLogger(__name__)

# Its figures are there in a moment, while the others are still worked out.
QUICKEST = "tree-of-pairs"
NAME = "simulation"
TOO_LONG = "The simulation took longer than an hour. Choose fewer cells or columns."


def question(domain: Domain, loss: Loss, people: int, keep: int | None = None) -> dict[str, Any]:
    """All that a simulation depends on: the shape, people to two digits, whom the loss protects; no name, no data.

    keep: how many columns go on, where some are chosen first.
    """
    digits = max(0, int(math.log10(people)) - 1)
    shape = Shape.of(domain) if keep is None else Shape.of(domain).of_columns(keep)
    return Kind(NAME, EDITION).asks(
        columns=[list(column) for column in shape.columns],
        people=round(people, -digits),
        loss=Loss(loss.definition, type(loss.amount)(1), loss.over(domain).unit).to_json(),
    )


def ranking(plan: MicrodataPlan, people: int | None) -> list[tuple[str, float]]:
    """Methods by their simulated error of pairs at a plan's cost, least first; empty while that is not known."""
    if not people:
        return []
    asked = question(plan.domain, plan.loss, people, plan.keep)
    found = questions.found(Simulation, asked)
    if found is None or found.state != JobState.DONE:
        return []
    return ranked(_complete(found, plan.loss.definition), _after_choice(float(plan.loss.amount), plan.keep))


def _after_choice(amount: float, keep: int | None) -> float:
    """What is left of a cost where columns are chosen first."""
    return amount if keep is None else amount * float(1 - SHARE)


def _complete(simulation: Simulation, definition: Definition) -> list[Simulated]:
    """The lines of methods that could be simulated at every cost."""
    lines, amounts = [Simulated(**line) for line in simulation.lines], AMOUNTS[definition]
    whole = {m for m in {line.method for line in lines} if sum(x.method == m for x in lines) == len(amounts)}
    return [line for line in lines if line.method in whole]


def work_out(key: str) -> None:
    """Simulate one shape, if no other worker does."""
    questions.work_out(Simulation, key, _attempt)


def _attempt(simulation: Simulation, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            claim.write(lines=_lines(simulation.question, claim))
        claim.finish(JobState.DONE)
        questions.forget_older(Simulation, simulation.question)
    except LostClaimError:
        raise
    except SoftTimeLimitExceeded:
        claim.finish(JobState.FAILED, _(TOO_LONG))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error(
            "simulation %s: %s at %s:%s", simulation.key[:12], type(error).__name__, place.name, place.lineno
        )
        claim.give_back(error)


def _lines(asked: dict[str, Any], claim: Claim) -> list[dict[str, Any]]:
    """Every method's lines, which are shown as they come, in the methods' order once all are there."""
    shape = Shape(tuple((int(size), str(kind), bool(missing)) for size, kind, missing in asked["columns"]))
    loss, order = Loss.from_json(asked["loss"]), [m.name for m in registry.MICRODATA]
    methods = {m.name: m for m in sorted(registry.MICRODATA, key=lambda m: m.name != QUICKEST)}
    lines: list[dict[str, Any]] = []
    for done, line in enumerate(simulated(shape, int(asked["people"]), loss, methods), 1):
        lines.append(line.to_json())
        claim.write(lines=lines)
        claim.advance(done, len(methods) * len(AMOUNTS[loss.definition]))
    return sorted(lines, key=lambda line: order.index(line["method"]))


def shown(
    simulation: Simulation | None, definition: Definition, amount: Decimal, keep: int | None = None
) -> dict[str, Any]:
    """The table for a page: a line for each method, its errors at each simulated cost and between them at this one.

    While it is worked out, of the methods that are done.
    """
    if simulation is None or simulation.state == JobState.FAILED:
        return {"simulation": simulation, "simulated": []}
    amounts, lines = AMOUNTS[definition], _complete(simulation, definition)
    here, titles = _after_choice(float(amount), keep), {m.name: m.title for m in registry.MICRODATA}
    order = [name for name, _error in ranked(lines, here) if name in titles]
    shown_lines = [
        {"title": titles[name], **_errors([x for x in lines if x.method == name], here)} for name in order
    ]
    inside = float(amounts[0]) <= here <= float(amounts[-1])
    return {
        "simulation": simulation,
        "simulated": shown_lines,
        "simulated_at": amounts,
        "simulated_between": inside,
    }


def _errors(lines: list[Simulated], amount: float) -> dict[str, Any]:
    known = [what for what in ("pairs", "triples") if getattr(lines[0], what) is not None]
    return {
        "costs": [(line.pairs, line.triples) for line in lines],
        "here": [at(lines, amount, what) for what in known],
        "seconds": max(line.seconds for line in lines),
    }
