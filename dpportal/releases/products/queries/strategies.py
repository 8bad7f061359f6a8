"""Optimised strategies: asked for in the wizard, found by a worker, kept by workload and domain for every loss."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from zipfile import BadZipFile

from celery.exceptions import SoftTimeLimitExceeded
from django.utils.translation import gettext as _

from dpportal.releases import arrays
from dpportal.releases.models import Optimisation
from dpportal.releases.products.queries import matrices, workloads
from dpportal.running import questions, workings
from dpportal.running.clock import ago
from dpportal.running.jobs import Claim, JobState, LostClaimError, from_the_beginning
from dpportal.running.questions import Kind
from mechanisms import registry
from mechanisms.accounting import Definition
from mechanisms.domain import Domain
from mechanisms.matrix.mechanism import Optimised
from mechanisms.matrix.workload.union import Workload
from mechanisms.protocol import PlanError

log = logging.getLogger(__name__)

FOLDER = "strategies"
NAME = "strategy"
TOO_LONG = "The search took longer than an hour. Ask fewer queries or use fewer cells."


def question(mechanism: str, domain: Domain, workload: str, definition: Definition) -> dict[str, Any]:
    """All that an optimised strategy depends on: neither data nor the size of the loss."""
    return Kind(NAME, registry.query_mechanism(mechanism).version).asks(
        mechanism=mechanism, domain=domain.to_json(), workload=workload, definition=definition.value
    )


@lru_cache(maxsize=16)
def kept(name: str) -> Optimised:
    """A stored strategy, searched for or uploaded; the same object for the same name."""
    if matrix := matrices.of_name(name):
        return Optimised({"strategy": matrix.rows.toarray()}, name=name)
    facts = Optimisation.objects.filter(arrays=name).values_list("facts", flat=True).first()
    return Optimised(arrays.kept(name), facts or {}, name)


@contextmanager
def replaced_if_unreadable(name: str) -> Iterator[None]:
    """Have a search done again whose strategy today's code cannot use, at most once a day. Raises PlanError."""
    try:
        yield
    except PlanError:
        raise
    except (OSError, EOFError, BadZipFile, LookupError, TypeError, ValueError) as error:
        log.error("strategy %s cannot be used: %s", name, type(error).__name__)
        found = Optimisation.objects.filter(arrays=name, state=JobState.DONE)
        # In a lease the sweep hints at it.
        if found.filter(finished_at__lt=ago(questions.RETRY_AFTER.total_seconds())).update(
            **from_the_beginning()
        ):
            raise PlanError(_("Its strategy for this workload is being worked out.")) from None
        raise PlanError(
            _("Its strategy cannot be used now. Choose another, or try again tomorrow.")
        ) from None


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
