"""Ranking the methods before anything is spent: asked in the wizard, worked out by a worker, kept by question."""

from __future__ import annotations

import logging
from decimal import Decimal
from fractions import Fraction

from dpportal.releases import drafts
from dpportal.releases.models import Advice, Release
from dpportal.running import questions
from dpportal.running.jobs import Claim, JobState
from dpportal.running.questions import key_of
from mechanisms import advice, registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain

log = logging.getLogger(__name__)


def question(draft: Release, amount: Decimal, purpose: str) -> dict[str, object]:
    """All that the ranking depends on: declared cells, loss, purpose, number of people, shapes. No data."""
    version, domain = drafts.domain_of(draft)
    loss = Loss(Definition(drafts.budget_of(draft).definition), Fraction(amount), version.unit)
    methods = [m.name for m in registry.HISTOGRAMS]
    return {
        "domain": domain.to_json(),
        "loss": loss.to_json(),
        "purpose": purpose,
        "people": draft.people,
        "methods": methods,
        "shapes": list(advice.SHAPES),
    }


def found(asked: dict[str, object]) -> Advice | None:
    """The advice on a question, if it was asked before, finished or not."""
    return Advice.objects.filter(key=key_of(asked)).first()


def work_out(key: str) -> None:
    """Answer one question, if no other worker does."""
    questions.work_out(Advice, key, _attempt)


def _attempt(asked: Advice, claim: Claim) -> None:
    question = asked.question
    with claim.kept_alive():
        ranking = advice.rank(
            [registry.mechanism(name) for name in question["methods"]],
            Domain.from_json(question["domain"]),
            Loss.from_json(question["loss"]),
            question["purpose"],
            int(question["people"]),
            on_progress=claim.advance,
        )
    claim.write(ranking=[ranked.to_json() for ranked in ranking])
    claim.finish(JobState.DONE)
