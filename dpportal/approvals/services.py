"""Asking for a second person, and answering. Who asked never answers; the database refuses it, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import CharField, F, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit, mailing, people
from dpportal.accounts.audit_words import clause, clauses
from dpportal.accounts.models import AuditEntry, User
from dpportal.approvals import acts
from dpportal.approvals.acts import OutdatedError
from dpportal.approvals.models import Approval
from dpportal.platform.json_types import Json
from dpportal.platform.stored_texts import in_site_language

# Whoever made or changed an account could sign in with it. So long its own person has time to notice.
IN_HAND_DAYS = 30

ApprovalState = Approval.State


class ApprovalError(Exception):
    """A request that cannot be answered so; the message says why."""


@dataclass(frozen=True)
class ApprovalQuestion:
    """An act as it is asked for; the fields are those of `Approval`. recorded: empty where it is the summary."""

    kind: str
    subject: object
    summary: str
    address: str
    arguments: Json = field(default_factory=dict)
    recorded: str = ""


def ask(question: ApprovalQuestion, by: User) -> Approval:
    """Have an act wait for a second person. One that waits for the same with other arguments is replaced."""
    try:
        return _ask(question, by)
    except IntegrityError:  # of two at the same moment one waits
        return Approval.objects.get(
            kind=question.kind, subject=str(question.subject), state=ApprovalState.WAITING
        )


@in_site_language
@transaction.atomic
def _ask(question: ApprovalQuestion, by: User) -> Approval:
    waiting = Approval.objects.select_for_update().filter(
        kind=question.kind, subject=str(question.subject), state=ApprovalState.WAITING
    )
    for same in waiting:
        if same.is_waiting and (same.by_id, same.arguments) == (by.pk, question.arguments):
            return same
    waiting.update(state=ApprovalState.REPLACED, answered_at=timezone.now())
    approval = _stored(question, by)
    audit.record(by, "asked for a second person", approval, approval.recorded)
    mailing.write(_addresses(_other_administrators(by)), _("A second person is asked for"), question.summary)
    return approval


def _stored(question: ApprovalQuestion, by: User) -> Approval:
    return Approval.objects.create(
        kind=question.kind,
        subject=str(question.subject),
        arguments=question.arguments,
        summary=question.summary,
        recorded=question.recorded or question.summary,
        address=question.address,
        by=by,
        expires_at=timezone.now() + timedelta(days=settings.TWO_PEOPLE.days),
    )


def forget(approvals: QuerySet[Approval]) -> None:
    """Have requests say no more than the record does. One that waits ends, for it is of something that is gone."""
    waiting_ones = approvals.filter(state=ApprovalState.WAITING)
    waiting_ones.order_by().update(state=ApprovalState.EXPIRED, answered_at=timezone.now())
    approvals.order_by().update(summary=F("recorded"), arguments={}, address="")
    approvals.filter(state=ApprovalState.OUTDATED).order_by().update(answer="")


def rehearse(approval: Approval) -> None:
    """Work out what waits to be approved, and keep nothing: what has to be searched for is asked of workers."""
    act = acts.act_of(approval)
    if act.rehearse is not None and approval.is_waiting:
        act.rehearse(approval)


def approve(approval: Approval, by: User) -> Approval:
    """Do what was asked for, in the name of who asked: both or neither. Raises ApprovalError.

    If it is not possible any more, nothing is done, and the request says why.
    """
    try:
        with transaction.atomic():
            answered = _answer(approval, by, ApprovalState.APPROVED)
            audit.record(by, "approved as second person", answered, _named(answered))
            with acts.performing(answered):
                acts.act_of(answered).perform(answered)
    except OutdatedError as fault:
        return _outdated(approval, by, str(fault))
    _tell(answered, _("It was approved, and is done."))
    return answered


@in_site_language
@transaction.atomic
def _outdated(approval: Approval, by: User, why: str) -> Approval:
    answered = _answer(approval, by, ApprovalState.OUTDATED, why)
    audit.record(by, "approved, but nothing was done", answered, _named(answered))
    _tell(answered, _("It was approved, but is not possible any more, so nothing was done: %s") % why)
    return answered


@in_site_language
@transaction.atomic
def refuse(approval: Approval, by: User, reason: str) -> Approval:
    """Say no, with a reason. Raises ApprovalError."""
    answered = _answer(approval, by, ApprovalState.REFUSED, reason)
    audit.record(by, "refused as second person", answered, clauses(_named(answered), reason))
    _tell(answered, _("It was refused: %s") % reason)
    return answered


def expire() -> None:
    """Close what nobody answered in time, and tell who asked."""
    for approval in Approval.objects.filter(state=ApprovalState.WAITING, expires_at__lte=timezone.now()):
        with transaction.atomic():
            still = Approval.objects.filter(pk=approval.pk, state=ApprovalState.WAITING)
            if still.update(state=ApprovalState.EXPIRED, answered_at=timezone.now()):
                _tell(approval, _("Nobody answered in time. Ask again if it is still wanted."))


def waiting() -> QuerySet[Approval]:
    """What can be answered, the oldest first."""
    open_ones = Approval.objects.filter(state=ApprovalState.WAITING, expires_at__gt=timezone.now())
    return open_ones.select_related("by").order_by("at")


def latest(kind: str, subject: object) -> Approval | None:
    """The last request for this act, whatever became of it."""
    of_it = Approval.objects.filter(kind=kind, subject=str(subject))
    return of_it.select_related("by", "answered_by").first()


def latest_with(kind: str, **arguments: str) -> Approval | None:
    """The last request that was asked with these arguments, where its subject is not known."""
    named = {f"arguments__{name}": value for name, value in arguments.items()}
    of_it = Approval.objects.filter(kind=kind, **named)
    return of_it.select_related("by", "answered_by").first()


def news(user: User) -> int:
    """How many requests wait for this person."""
    return waiting().exclude(by=user).count() if user.is_administrator else 0


def _answer(approval: Approval, by: User, state: ApprovalState, text: str = "") -> Approval:
    """One conditional UPDATE, whose row count decides which of several answers counts."""
    person = User.objects.get(pk=by.pk)
    if not (person.is_active and person.is_administrator):
        raise ApprovalError(_("Only an administrator answers this."))
    if approval.by_id == person.pk:
        raise ApprovalError(_("You asked for this yourself. Another administrator has to answer."))
    _require_own_hand(approval, person)
    unanswered = waiting().filter(pk=approval.pk).exclude(by=person)
    values = {"state": state, "answered_by": person, "answer": text[:500], "answered_at": timezone.now()}
    if not unanswered.order_by().update(**values):
        raise ApprovalError(_("This was answered meanwhile, or has expired."))
    return Approval.objects.select_related("by", "answered_by").get(pk=approval.pk)


def _require_own_hand(approval: Approval, person: User) -> None:
    """Raises ApprovalError where one hand could have both accounts: that of who asked, and that of who answers.

    Whoever changed the answering account makes no difference: an administrator can have others made by a made one.
    """
    if _changes_by_others().filter(subject=_label(person.pk)).exists():
        text = _(
            "Somebody else made this account, or changed it, its role, its password link or its second factors, or it "
            "arrived or got its role by your institution’s sign-in, less than %(days)d days ago. Until then it answers "
            "nothing: another administrator has to."
        )
        raise ApprovalError(text % {"days": IN_HAND_DAYS})
    if _label(approval.by_id) in _in_hand_of(person):
        text = _(
            "You, or somebody whose account you changed, made or changed the account that asked less than %(days)d "
            "days ago. Another administrator has to answer."
        )
        raise ApprovalError(text % {"days": IN_HAND_DAYS})


def _in_hand_of(person: User) -> set[str]:
    """The subjects that the person made or changed lately, and those that these made or changed, and so on."""
    changes = list(_changes_by_others().values_list("by_id", "subject"))
    held, size = {_label(person.pk)}, 0
    while len(held) > size:
        size = len(held)
        held |= {subject for by, subject in changes if _label(by) in held}
    return held


def _changes_by_others() -> QuerySet[AuditEntry]:
    """Lines of what lately let somebody else than its person into an account. Nobody takes a line away.

    One that arrived by the institution's sign-in can be the second account of a person who has one already, and one
    that got its role there can have lain unnoticed until then.
    """
    lately = AuditEntry.objects.filter(at__gte=timezone.now() - timedelta(days=IN_HAND_DAYS))
    by_others = ~Q(subject=Concat(Value("user "), Cast("by_id", CharField())))
    return lately.filter(
        Q(action__in=people.IN_HAND) & by_others | Q(action__in=(people.ARRIVED, people.TOOK_ROLE))
    )


def _label(key: int) -> str:
    """How the record names a person."""
    return f"user {key}"


def _named(approval: Approval) -> str:
    text = gettext_noop("%(kind)s, asked for by %(by)s: %(summary)s")
    by = approval.by.get_username()
    return clause(text, kind=approval.kind, by=by, summary=approval.recorded or approval.summary)


def _tell(approval: Approval, text: str) -> None:
    subject = _("The answer to your request for a second person")
    mailing.write([approval.by.email], subject, f"{approval.summary}\n\n{text}")


def _other_administrators(by: User) -> QuerySet[User]:
    return User.objects.administrators().exclude(pk=by.pk)


def _addresses(people: QuerySet[User]) -> Iterable[str]:
    return people.values_list("email", flat=True)
