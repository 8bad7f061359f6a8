"""Errors to expect of every method on made-up tables of the same shape: asked for in the wizard, found by a worker."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Q

from dpportal.jobs import queues
from dpportal.jobs.claims import Claim, JobState
from dpportal.jobs.memoised import QuestionKind, StoredQuestion, Topic
from dpportal.jobs.runner import register
from dpportal.platform.json_types import Json
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.microdata.features import SHARE
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.simulation import AMOUNTS, EDITION, Simulated, SimulatedShape, at, ranked, simulated
from mechanisms.microdata.simulation_time import simulation_seconds
from mechanisms.number_text import with_two_decimals

NAME = "simulation"


class Simulations(QuestionKind):
    """How methods do on a made-up table of some shape. answer: a line for each method and cost, shown as they come."""

    name = "Simulation"
    queues = {queues.CONVERSIONS: Q()}
    too_long = "The simulation took longer than an hour. Choose fewer cells or columns."

    def version_of(self, question: Mapping[str, Any]) -> int:
        return EDITION

    def answer(self, question: Mapping[str, Any], claim: Claim) -> list[Json]:
        return _lines(question, claim)


SIMULATIONS = register(Simulations())


def question(domain: Domain, loss: Loss, people: int, keep: int | None = None) -> Json:
    """All that a simulation depends on: the shape, people to two digits, whom the loss protects; no name, no data.

    keep: how many columns go on, where some are chosen first.
    """
    digits = max(0, int(math.log10(people)) - 1)
    shape = SimulatedShape.of(domain) if keep is None else SimulatedShape.of(domain).of_columns(keep)
    return Topic(NAME, EDITION).asks(
        columns=[list(column) for column in shape.columns],
        people=round(people, -digits),
        loss=Loss(loss.definition, type(loss.amount)(1), loss.for_domain(domain).unit).to_json(),
    )


def ranking(plan: MicrodataPlan, people: int | None) -> list[tuple[str, float]]:
    """Methods by their simulated error of pairs at a plan's cost, least first; empty while that is not known."""
    if not people:
        return []
    simulation = SIMULATIONS.look_up(question(plan.domain, plan.loss, people, plan.keep))
    if simulation is None or simulation.state != JobState.DONE:
        return []
    here = _after_choice(float(plan.loss.amount), plan.keep)
    return ranked(_complete(simulation, plan.loss.definition), here)


def _after_choice(amount: float, keep: int | None) -> float:
    """What is left of a cost where columns are chosen first."""
    return amount if keep is None else amount * float(1 - SHARE)


def _complete(simulation: StoredQuestion, definition: Definition) -> list[Simulated]:
    """The lines of methods that could be simulated at every cost."""
    lines, amounts = [Simulated(**line) for line in simulation.answer or ()], AMOUNTS[definition]
    complete = {
        m for m in {line.method for line in lines} if sum(x.method == m for x in lines) == len(amounts)
    }
    return [line for line in lines if line.method in complete]


def _lines(question: Mapping[str, Any], claim: Claim) -> list[Json]:
    """Every method's lines, which are shown as they come, in the methods' order once all are there."""
    shape, loss = _shape_of(question), Loss.from_json(question["loss"])
    order = [m.name for m in registry.MICRODATA]
    methods = {m.name: m for m in registry.MICRODATA}
    lines: list[Json] = []
    for done, line in enumerate(simulated(shape, int(question["people"]), loss, methods), 1):
        lines.append(line.to_json())
        claim.write(answer=lines)
        claim.advance(done, len(methods) * len(AMOUNTS[loss.definition]))
    return sorted(lines, key=lambda line: order.index(line["method"]))


def _shape_of(question: Mapping[str, Any]) -> SimulatedShape:
    return SimulatedShape(
        tuple((int(size), str(kind), bool(missing)) for size, kind, missing in question["columns"])
    )


def seconds(question: Mapping[str, Any]) -> float:
    """About how long it takes a processor to answer, by the declared sizes alone."""
    loss = Loss.from_json(question["loss"])
    return simulation_seconds(_shape_of(question), int(question["people"]), loss, registry.MICRODATA)


def shown(
    simulation: StoredQuestion | None, definition: Definition, amount: Decimal, keep: int | None = None
) -> Json:
    """The table for a page: a line for each method, its errors at each simulated cost and between them at this one.

    While it is worked out, of the methods that are done.
    """
    if simulation is None or simulation.state == JobState.FAILED:
        return {"simulation": simulation, "simulated": []}
    amounts, lines = AMOUNTS[definition], _complete(simulation, definition)
    lasting = {"simulation_seconds": seconds(simulation.question)} if simulation.active else {}
    here, titles = _after_choice(float(amount), keep), {m.name: m.title for m in registry.MICRODATA}
    order = [name for name, _error in ranked(lines, here) if name in titles]
    shown_lines = [
        {"title": titles[name], **_errors([x for x in lines if x.method == name], here)} for name in order
    ]
    inside = float(amounts[0]) <= here <= float(amounts[-1])
    return {
        **lasting,
        "simulation": simulation,
        "simulated": shown_lines,
        "simulated_at": [with_two_decimals(amount) for amount in amounts],
        "simulated_between": inside,
    }


def _errors(lines: list[Simulated], amount: float) -> Json:
    known = [what for what in ("pairs", "triples") if getattr(lines[0], what) is not None]
    return {
        "costs": [(line.pairs, line.triples) for line in lines],
        "here": [at(lines, amount, what) for what in known],
        "seconds": max(line.seconds for line in lines),
    }
