"""What a curator can do to a release: each both or neither."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import User
from dpportal.budgets import confirming, ledger
from dpportal.budgets.confirmed import require_stored
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget
from dpportal.datasets import services as datasets
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.history import watched
from dpportal.jobs.claims import JobState, reset_fields
from dpportal.jobs.clock import database_now, db_ago
from dpportal.jobs.memoised import QuestionKind, StoredQuestion
from dpportal.platform.json_types import Json
from dpportal.publications import publishing
from dpportal.publications.confirmation import digest, require_writable
from dpportal.releases import drafts, going_public
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.products import ReleasePlan, planner_of
from dpportal.releases.products.microdata.simulations import SIMULATIONS
from dpportal.releases.products.queries.strategies import STRATEGIES
from dpportal.releases.tasks import rewrite_files

# Of an empty draft, until no page is taken to have it open.
LYING_SECONDS = 24 * 3600.0


class ReleaseError(Exception):
    """Something that cannot be done now; the message says why and what to do."""


def why_not_started(dataset: Dataset) -> str:
    """Why no release of a dataset can be begun yet; empty if one can."""
    if not dataset.has_records:
        return _("This dataset holds no records, so nothing can be released from it.")
    return str(datasets.UNIT_FIRST) if dataset.asks_for_unit else ""


def start_draft(dataset: Dataset, by: User) -> Release:
    """An empty draft, saved, so that it has an address from the first step on.

    One that nobody touched since yesterday is taken; another may be open on a page whose choices are not sent yet.
    """
    people = dataset.releases.estimated_people()
    own = Release.objects.untouched().filter(dataset=dataset, created_by=by)
    lying = own.filter(changed_at__lt=db_ago(LYING_SECONDS))
    draft = lying.first()
    if draft is None or not lying.filter(pk=draft.pk).update(people=draft.people or people, changed_at=Now()):
        return Release.objects.create(dataset=dataset, created_by=by, people=people)
    lying.delete()
    draft.refresh_from_db()
    return draft


def reviewed_as(version: DomainVersion, plan: ReleasePlan) -> str:
    """The digest of what a curator reviews."""
    return digest(plan, version.declared())


@transaction.atomic
def request_release(release: Release, *, reviewed: str, by: User, publish: bool = False) -> bool:
    """Reserve the budget and queue the job; False if that was done before.

    reviewed: the digest of the plan that the curator saw. publish: whether everyone may see it as soon as it is
    finished. Raises DraftError, ReleaseError or BudgetRefusedError.
    """
    confirming.lock(release, by, ReleaseError)
    version, plan = drafts.plan_of(release)
    if reviewed_as(version, plan) != reviewed:
        raise ReleaseError(
            _("The declaration or the method changed since you reviewed it. Read the review again.")
        )
    require_writable(ReleaseError, plan, version.declared())
    datasets.require_ready(release.dataset, ReleaseError)
    taken = Release.objects.filter(pk=release.pk, state=Release.State.DRAFT)
    # Its first line in the history says what was reviewed, whatever the draft's row has by now, and no plan yet.
    begun = {"state": Release.State.REQUESTED, "requested_at": database_now(), "plan_json": None}
    if not taken.update(**watched.noted_values(release) | begun):
        return False
    datasets.freeze_parse_options(release.dataset)
    if not Dataset.objects.get(pk=release.dataset_id).has_records:
        raise ReleaseError(
            _(
                "This dataset holds no records now, so nothing can be released from it. Wait, or upload them again."
            )
        )
    title = release.title or release.proposed_title
    charge = confirming.reserve(release, plan.loss, version, reason=title, by=by)
    Release.objects.filter(pk=release.pk).update(
        title=title,
        domain_version=version,
        plan_json=plan.to_json(),
        charge=charge,
        created_by=by,
        publishes_itself=publish,
    )
    require_stored(Release, release.pk, plan.to_json(), ReleaseError)
    ReleaseJob.objects.create(release=release)
    RELEASES.hint_on_commit(release.pk)
    return True


@transaction.atomic
def cancel(release: Release, by: User | None = None) -> None:
    """Withdraw a queued job and give its reservation back; once a worker has it, it runs. by: None for who made it."""
    queued = ReleaseJob.objects.filter(
        release=release, state=JobState.QUEUED, release__state=Release.State.REQUESTED
    )
    if not queued.update(state=JobState.CANCELLED, finished_at=timezone.now()):
        raise ReleaseError(_("The job has already begun and cannot be cancelled any more."))
    try:
        measured = ledger.outcome_of(release.confirmed_charge) is not None
    except BudgetRefusedError as refusal:
        raise ReleaseError(str(refusal)) from None
    # Before the database was put back from an older copy, or by a worker that woke late.
    if measured or not ledger.void(release.confirmed_charge):
        raise ReleaseError(_("This was measured already, and its charge is spent. The job finishes it."))
    Release.objects.filter(pk=release.pk).update(state=Release.State.CANCELLED)
    audit.record(by or release.created_by, "cancelled", release)


@transaction.atomic
def resume(release: Release, by: User | None = None) -> None:
    """Do what is left after the measurement now, of a job that stopped or was put off: nothing more is spent.

    by: None for who made it.
    """
    waits = Q(state=JobState.FAILED) | Q(state=JobState.QUEUED, hinted_at__gt=Now())
    stopped = ReleaseJob.objects.filter(waits, release=release).exclude(release__measurement="")
    if not stopped.update(**reset_fields()):
        raise ReleaseError(_("There is nothing to resume: this job did not stop after its measurement."))
    audit.record(by or release.created_by, "resumed", release)
    RELEASES.hint_on_commit(release.pk)


def discard(release: Release) -> None:
    """Delete a draft; nothing was spent on it."""
    deleted, _rows = Release.objects.filter(pk=release.pk, state=Release.State.DRAFT).delete()
    if not deleted:
        raise ReleaseError(_("Only a draft can be deleted. A release can be withdrawn from the public."))


def publish(release: Release, by: User) -> None:
    """Show the release to everyone; one that is public stays as it is. Raises ReleaseError."""
    going_public.publish(release, by, ReleaseError)


def withdraw(release: Release, by: User, because: str = "") -> None:
    """Take the release off the public pages. because: the reason, which stands in place of the page."""
    if not publishing.withdraw(release, by, because):
        raise ReleaseError(_("This release is not public."))


def duplicate(release: Release, by: User, dataset: Dataset | None = None) -> Release:
    """A draft with the same choices, of the same table or of another one in which the same columns are declared.

    A proposed title follows the draft's own choices, and a cost is taken where it is counted in the same: ε is not ρ.
    One that lies there as it was made is taken again.
    """
    there = dataset or release.dataset
    own_words = release.title if release.title != release.proposed_title else ""
    priced = release if same_budget_kind(release, there) else Release()
    choices = {
        "dataset": there,
        "created_by": by,
        "title": own_words if there == release.dataset else "",
        "product": release.product,
        "columns": release.columns,
        "parameters": release.parameters,
        **{name: getattr(release, name) for name in Release.METHOD},
        **{name: getattr(priced, name) for name in Release.PRICE},
        "people": release.people,
        "purpose": release.purpose,
    }
    drafts_like_it = Release.objects.filter(state=Release.State.DRAFT, **choices).exclude(pk=release.pk)
    return drafts_like_it.first() or Release.objects.create(**choices)


def same_budget_kind(release: Release, dataset: Dataset) -> bool:
    """Whether a table's budget is counted as that of the release, both in ε or both in ρ."""
    own, there = release.account, Budget.of(dataset)
    return own is not None and there is not None and own.definition == there.definition


def changed_columns(release: Release, dataset: Dataset) -> list[tuple[str, int, int]]:
    """The released columns that another table declares otherwise, each with its cells here and there."""
    version, there = release.domain_version or release.dataset.current_domain(), dataset.current_domain()
    if version is None or there is None:
        return []
    others = {attribute.name: attribute for attribute in there.domain().attributes}
    pairs = [(own, others[own.name]) for own in version.domain().project(release.columns).attributes]
    return [(own.name, own.size, other.size) for own, other in pairs if own.to_json() != other.to_json()]


@transaction.atomic
def rename(release: Release, title: str, by: User) -> None:
    """Give a release another title; what it was called before stays in the audit log, and in its ledger line.

    Not of a draft: what the portal proposes to call it names columns, which may be values until that is corrected.
    """
    release.refresh_from_db(from_queryset=Release.objects.select_for_update())
    if not title or title == release.title:
        return
    audit.record(by, "renamed", release, _renamed(release, title))
    Release.objects.filter(pk=release.pk).update(title=title)
    rewrite_files(Release.objects.filter(pk=release.pk))


def _renamed(release: Release, title: str) -> str:
    if release.state == Release.State.DRAFT:
        return clause(gettext_noop("now called %(after)s"), after=repr(title))
    before, text = release.title or release.proposed_title, gettext_noop("from %(before)s to %(after)s")
    return clause(text, before=repr(before), after=repr(title))


def ask_strategies(draft: Release) -> list[StoredQuestion]:
    """Have the strategies found that the draft's methods need, unless that was asked before. Raises DraftError."""
    return [STRATEGIES.ask(question) for question in _of_workers(draft, STRATEGIES)]


def ask_simulation(draft: Release) -> StoredQuestion | None:
    """Have simulated what the draft's methods do on such a table, unless that was asked before. Raises DraftError."""
    simulations = [SIMULATIONS.ask(question) for question in _of_workers(draft, SIMULATIONS)]
    return next(iter(simulations), None)


def _of_workers(draft: Release, kind: QuestionKind) -> list[Json]:
    """What workers find for the draft, of one kind. Raises DraftError."""
    _version, domain = drafts.domain_of(draft)
    questions = planner_of(draft).worker_questions(draft, domain, drafts.loss_at(draft, Decimal(1)))
    return [each.question for each in questions if each.kind is kind]
