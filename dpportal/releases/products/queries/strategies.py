"""Optimised strategies: the wizard asks, a worker searches; the answer serves every loss of a workload and domain."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from zipfile import BadZipFile

from django.utils.translation import gettext as _

from dpportal.jobs import search_cache
from dpportal.jobs.claims import Claim, JobState
from dpportal.jobs.clock import db_ago
from dpportal.jobs.memoised import RETRY_AFTER, QuestionKind, Topic
from dpportal.jobs.runner import register
from dpportal.platform.json_types import Json
from dpportal.releases import arrays
from dpportal.releases.products.queries import matrices, workloads
from mechanisms import registry
from mechanisms.accounting import Definition
from mechanisms.domain import Domain
from mechanisms.matrix.mechanism import Optimised, QueryMechanism
from mechanisms.matrix.workload.union import Workload
from mechanisms.protocol import PlanError

log = logging.getLogger(__name__)

FOLDER = "strategies"
NAME = "strategy"


class Strategies(QuestionKind):
    """Strategies for a workload, which serve every loss.

    answer: `arrays`, the name of the stored .npz that defines it, which holds its SHA-256, and `facts` of the search.
    Releases name their strategy, so that older ones stay.
    """

    name = "Optimisation"
    too_long = "The search took longer than an hour. Ask fewer queries or use fewer cells."
    waiting = "This method is being worked out for these queries."
    refusals = (PlanError,)
    keeps_older = True

    def version_of(self, question: Mapping[str, Any]) -> int | None:
        try:
            return registry.query_mechanism(question["mechanism"]).version
        except KeyError:
            return None

    def answer(self, question: Mapping[str, Any], claim: Claim) -> Json:
        result = _optimise(question, claim)
        name, _digest = arrays.store(result.arrays, FOLDER)
        return {"arrays": name, "facts": dict(result.facts)}


STRATEGIES = register(Strategies())


def question(mechanism: str, domain: Domain, workload: str, definition: Definition) -> Json:
    """All that an optimised strategy depends on: neither data nor the size of the loss."""
    return Topic(NAME, registry.query_mechanism(mechanism).version).asks(
        mechanism=mechanism, domain=domain.to_json(), workload=workload, definition=definition.value
    )


@lru_cache(maxsize=16)
def load(name: str) -> Optimised:
    """A stored strategy, searched for or uploaded; the same object for the same name."""
    if matrix := matrices.of_name(name):
        return Optimised({"strategy": matrix.rows.toarray()}, name=name)
    answer = STRATEGIES.jobs().filter(answer__arrays=name).values_list("answer", flat=True).first()
    return Optimised(arrays.load(name), answer["facts"] if answer else {}, name)


def stored(question: Json) -> str:
    """The name of the strategy that was found. Raises PlanError while there is none."""
    return str(STRATEGIES.answer_of(STRATEGIES.look_up(question))["arrays"])


def stored_names() -> set[str]:
    """Of all files that searches have found."""
    return {name for name in STRATEGIES.jobs().values_list("answer__arrays", flat=True) if name}


@contextmanager
def replaced_if_unreadable(name: str) -> Iterator[None]:
    """Have a search done again whose strategy today's code cannot use, at most once a day. Raises PlanError."""
    try:
        yield
    except PlanError:
        raise
    except (OSError, EOFError, BadZipFile, LookupError, TypeError, ValueError) as error:
        log.error("strategy %s cannot be used: %s", name, type(error).__name__)
        before = {"state": JobState.DONE, "finished_at__lt": db_ago(RETRY_AFTER.total_seconds())}
        searches = list(STRATEGIES.jobs().filter(answer__arrays=name, **before))
        for search in searches:
            STRATEGIES.ask_again(search.question)
        if searches:
            raise PlanError(_(STRATEGIES.waiting)) from None
        raise PlanError(
            _("Its strategy cannot be used now. Choose another, or try again tomorrow.")
        ) from None


class StoredInputs:
    """Looks up by name what plans need: methods, stored strategies, uploaded workloads."""

    def method(self, name: str) -> QueryMechanism:
        return registry.query_mechanism(name)

    def strategy(self, name: str) -> Optimised:
        return load(name)

    def workload(self, text: str, domain: Domain) -> Workload:
        return workloads.read(text, domain)


def _optimise(question: Mapping[str, Any], claim: Claim) -> Optimised:
    domain = Domain.from_json(question["domain"])
    workload = workloads.read(question["workload"], domain)
    method = registry.query_mechanism(question["mechanism"])

    def advance(done: int, total: int | None) -> None:
        search_cache.work_out_waiting()
        claim.advance(done, total)

    return method.optimise(domain, workload, Definition(question["definition"]), advance)
