"""Where records, budget and noise come together for a choice of values: count, choose once, commit, declare.

The chosen values are remembered with their charge, outside the database, just before the transaction commits that
stores them and spends. So whenever a worker dies, either nothing was chosen that anybody could see, or the next attempt
finds what was chosen: nothing is drawn twice, and nothing is paid for twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _, gettext_noop

from dpportal.budgets import ledger, refusals
from dpportal.budgets.confirmed import require_paid
from dpportal.budgets.ledger import BudgetOnHoldError, BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import records, services as datasets
from dpportal.datasets.access import require_declarer
from dpportal.datasets.declared import titled_as_before
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from dpportal.history import watched
from dpportal.history.imprints import ForgedRowError
from dpportal.jobs.claims import Claim, JobState, reset_fields, resume_on_hold as resume
from dpportal.jobs.clock import database_now
from dpportal.jobs.runner import JobKind, register
from dpportal.tables.faults import SourceFault
from dpportal.value_choices import keeping
from dpportal.value_choices.models import ValueChoice
from mechanisms.domain import DomainError
from mechanisms.noise.secret import secret_noise
from mechanisms.partition_selection import choosing

_CHOICES = ValueChoice.objects.select_related("dataset", "domain_version", "charge__budget")
VALUES = "values"
# Until a choice that is paid for is looked at again after its workers died.
REOPENING_SECONDS = 60.0
RECORDS_GONE = gettext_noop("The records of this dataset were deleted before the job began.")
LOST = gettext_noop(
    "These values were chosen before the portal's database was put back from an older copy, and they are lost. The "
    "charge stays spent. Choose anew."
)


class ChoiceFailedError(Exception):
    """The job cannot succeed however often it is tried; the message is for the curator."""


class ValueChoices(JobKind[ValueChoice]):
    """Choices of values: drawn once, and declared however often that takes."""

    name = "ValueChoice"
    model = ValueChoice
    related = ("dataset", "domain_version", "charge__budget", "charge__dataset", "created_by")
    to_owner = "dataset__owner_id"
    too_long = "The job took longer than an hour. The budget set aside for it is free again."
    refusals = (ChoiceFailedError, BudgetRefusedError, SourceFault, ForgedRowError)
    on_hold = (BudgetOnHoldError,)

    def work(self, job: ValueChoice, claim: Claim) -> None:
        if job.kept is None:
            remembered = ledger.outcome_of(job.charge)
            if remembered is None:
                _check_right(job)
                _commit(job, claim, _outcome(_chosen(job, claim)), is_new=True)
            else:
                _commit(job, claim, remembered)
        _declare(job.pk, claim)

    def close(self, job: ValueChoice, claim: Claim, reason: str) -> None:
        """The reservation is void unless something was chosen; a choice that is paid for is taken up again."""
        try:
            with transaction.atomic():
                claim.renew()
                if job.kept is not None:
                    claim.finish(JobState.DONE, undeclared=reason)
                elif ledger.void(job.charge) or VALUES not in (ledger.outcome_of(job.charge) or {}):
                    claim.finish(JobState.FAILED, reason)
                else:
                    claim.postpone(REOPENING_SECONDS)
        except BudgetOnHoldError:
            claim.put_on_hold()


CHOICES = register(ValueChoices())


def _check_right(choice: ValueChoice) -> None:
    """Whoever confirmed it may still declare; inside a transaction, nobody takes that right until it ends."""
    with transaction.atomic():
        require_declarer(choice.dataset, choice.created_by_id, ChoiceFailedError)


def _chosen(choice: ValueChoice, claim: Claim) -> list[str]:
    """Count people and throw the coins; returns the kept values. Raises ForgedRowError."""
    choice = watched.written(_CHOICES, choice.pk)
    require_paid(choice.charge, choice.pk, choice.domain_version, choice.dataset, choice.plan.loss)
    dataset = choice.dataset
    ledger.require_complete(dataset)
    if not ledger.is_granted_table(dataset):
        raise BudgetOnHoldError(refusals.read_again_text())
    if not dataset.has_rows:
        raise ChoiceFailedError(_(RECORDS_GONE))
    claim.step("counting")
    noise, plan, chosen = secret_noise(), choice.plan, []
    counted = records.people_by_value(
        dataset, choice.domain_version, choice.column, keeping.VALUES, noise.key()
    )
    for some in counted:
        chosen += some.of(choosing.measure(plan, some.people, noise))
    return keeping.declarable(chosen)


def _outcome(values: list[str]) -> Mapping[str, str]:
    """What the memory has of these values."""
    return {VALUES: json.dumps(values, ensure_ascii=False)}


def outcomes_of(dataset: Dataset) -> dict[str, Mapping[str, str]]:
    """What a memory that has lost it is to remember of the dataset's choices, by the key of each charge."""
    rows = ValueChoice.objects.filter(dataset=dataset).values_list("pk", "kept")
    return {pk.hex: _outcome(values) for pk, values in rows if values is not None}


def _commit(choice: ValueChoice, claim: Claim, outcome: Mapping[str, str], *, is_new: bool = False) -> None:
    """Spend, and store what was chosen; where an earlier attempt's choice is remembered, that one.

    is_new: whether it was chosen just now, which nobody knows before this.
    """
    with transaction.atomic():
        claim.write(step="declaring")
        if is_new:
            _check_right(choice)
        settled = ledger.spend(choice.charge, outcome)
        if VALUES in settled:
            values = json.loads(settled[VALUES])
            ValueChoice.objects.filter(pk=choice.pk).update(kept=values, measured_at=database_now())
            return
    raise ChoiceFailedError(_(LOST))


def _declare(choice_id: UUID, claim: Claim) -> None:
    """Declare what was chosen; where the column cannot be declared so any more, the values are there all the same.

    A worker that wakes late declares nothing: another one has, and the curator perhaps anew since then.
    """
    choice = ValueChoice.objects.select_related("dataset").get(pk=choice_id)
    with transaction.atomic():
        claim.renew()
        claim.finish(JobState.DONE, undeclared=_undeclared(choice))


def _undeclared(choice: ValueChoice) -> str:
    """Why nothing can be declared; empty where it is declared now."""
    if not choice.kept:
        return _no_value_text(choice)
    try:
        with transaction.atomic():
            chosen = keeping.attribute_of(choice.column, choice.kept)
            (attribute,) = titled_as_before(choice.dataset, [chosen])
            datasets.declare(choice.dataset, choice.column, attribute)
    except (DomainError, DatasetError) as refusal:
        return str(refusal)
    return ""


def _no_value_text(choice: ValueChoice) -> str:
    """Why, and what to do; by the cost alone."""
    text = _(
        "No value was kept, so nothing is declared. At this cost a value needs %(people)s people to be kept half of "
        "the time. Choose again at a larger cost, or from a table of more people; or declare values that are publicly "
        "known."
    )
    return text % {"people": f"{choice.plan.people_for(Fraction(1, 2)):,}"}


def end_waiting(sender: object, dataset: Dataset, **_kwargs: object) -> None:
    """When a dataset's records are erased: end its choices that no worker has, with nothing spent.

    Why earlier ones failed goes with the records.
    """
    ValueChoice.forget_failures(dataset)
    waiting = ValueChoice.objects.filter(dataset=dataset, state=JobState.QUEUED, kept__isnull=True)
    ended = {"state": JobState.FAILED, "step": "", "failure": RECORDS_GONE, "finished_at": Now()}
    if waiting.update(**ended):
        transaction.on_commit(void_left, robust=True)


def void_left() -> None:
    """Void reservations of choices that failed while the memory could not be reached.

    One that a worker which slept had paid for meanwhile is taken up again.
    """
    failed = ValueChoice.objects.filter(state=JobState.FAILED, charge__state=LedgerEntry.State.RESERVED)
    for choice in failed.select_related("charge__dataset"):
        with transaction.atomic():
            if not ledger.void(choice.charge):
                ValueChoice.objects.filter(pk=choice.pk, state=JobState.FAILED).update(**reset_fields())
                CHOICES.hint_on_commit(choice.pk)


def resume_on_hold(dataset_id: UUID) -> None:
    """Go on with the choices of a dataset that waited for an administrator."""
    resume(ValueChoice.objects.filter(dataset=dataset_id), CHOICES.hint_on_commit)
