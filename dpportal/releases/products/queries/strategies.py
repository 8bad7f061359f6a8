"""Optimised strategies: asked for in the wizard, found by a worker, kept by workload and domain for every loss."""

from __future__ import annotations

import logging
import traceback
from functools import lru_cache
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.utils.translation import gettext as _

from dpportal.releases import arrays
from dpportal.releases.models import Optimisation
from dpportal.releases.products.queries import matrices, workloads
from dpportal.running import questions, workings
from dpportal.running.jobs import Claim, JobState, LostClaimError
from mechanisms import registry
from mechanisms.accounting import Definition
from mechanisms.domain import Domain
from mechanisms.matrix.mechanism import Optimised
from mechanisms.matrix.workload.union import Workload
from mechanisms.protocol import PlanError

log = logging.getLogger(__name__)

FOLDER = "strategies"
TOO_LONG = "The search took longer than an hour. Ask fewer queries or use fewer cells."


def question(mechanism: str, domain: Domain, workload: str, definition: Definition) -> dict[str, Any]:
    """All that an optimised strategy depends on: neither data nor the size of the loss."""
    return {
        "mechanism": mechanism,
        "domain": domain.to_json(),
        "workload": workload,
        "definition": definition.value,
    }


@lru_cache(maxsize=16)
def kept(name: str) -> Optimised:
    """A stored strategy, searched for or uploaded; the same object for the same name."""
    if matrix := matrices.of_name(name):
        return Optimised({"strategy": matrix.rows.toarray()}, name=name)
    facts = Optimisation.objects.filter(arrays=name).values_list("facts", flat=True).first()
    return Optimised(arrays.kept(name), facts or {}, name)


class Kept:
    """What a worker finds by name that plans an uploaded workload or a stored strategy."""

    def strategy(self, name: str) -> Optimised:
        return kept(name)

    def workload(self, text: str, domain: Domain) -> Workload:
        return workloads.read(text, domain)


def work_out(key: str) -> None:
    """Find one strategy, if no other worker does."""
    questions.work_out(Optimisation, key, _attempt)


def _attempt(search: Optimisation, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            result = _optimise(search.question, claim)
        name, _digest = arrays.keep(result.arrays, FOLDER)
        claim.write(arrays=name, facts=dict(result.facts))
        claim.finish(JobState.DONE)
    except LostClaimError:
        raise
    except PlanError as refusal:
        claim.finish(JobState.FAILED, str(refusal))
    except SoftTimeLimitExceeded:
        claim.finish(JobState.FAILED, _(TOO_LONG))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error(
            "optimisation %s: %s at %s:%s", search.key[:12], type(error).__name__, place.name, place.lineno
        )
        claim.give_back(error)


def _optimise(asked: dict[str, Any], claim: Claim) -> Optimised:
    domain = Domain.from_json(asked["domain"])
    workload = workloads.read(asked["workload"], domain)
    method = registry.query_mechanism(asked["mechanism"])

    def advance(done: int, total: int | None) -> None:
        workings.work_out_waiting()
        claim.advance(done, total)

    return method.optimise(domain, workload, Definition(asked["definition"]), advance)
