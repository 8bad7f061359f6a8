"""The last question before everyone may see a publication, and what its page says besides the numbers."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import datetime, timedelta

from django import forms
from django.db import transaction
from django.db.models import Manager, Model, QuerySet
from django.dispatch import Signal
from django.http import QueryDict
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import User
from dpportal.jobs.clock import database_now
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.paragraphs import ParagraphsField
from dpportal.platform.stored_texts import translated
from dpportal.platform.visible_text import VisibleTexts
from dpportal.publications import withdrawal_journal
from dpportal.publications.draft import Publication
from dpportal.publications.verdict import Verdict, is_doubted
from dpportal.publications.withdrawal_journal import Withdrawal
from mechanisms import registry
from mechanisms.number_text import with_two_decimals

log = logging.getLogger(__name__)

# What the portal does by itself after a restore, as the audit record has it.
WITHDRAWN_AGAIN = gettext_noop("withdrew after a restore")
# Everyone may see a publication from now on; sent with `publication`, which was fetched before.
published = Signal()

_BEFORE_A_DOI = re.compile(r"^(https?://(dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
# By the handbook of the DOI system; no mark that could end an address or a field.
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}]+")


class EarlierField(forms.ModelChoiceField[Publication]):
    """One of those published earlier, told apart from others of the same title."""

    def label_from_instance(self, obj: Publication) -> str:
        account, method = obj.account, translated(registry.title(obj.mechanism))
        cost = (
            f"{account.symbol} = {with_two_decimals(f'{obj.amount.normalize():f}')}"
            if account and obj.amount
            else ""
        )
        assert obj.published_at is not None
        at = _("published %(time)s UTC") % {"time": date_format(obj.published_at, "DATETIME_FORMAT")}
        return " · ".join(filter(None, (str(obj), method, cost, at)))


class DetailsForm(forms.Form):
    """Where a publication stands among others: its DOI, and which older one it is read instead of."""

    doi = forms.CharField(
        label=_("DOI"),
        required=False,
        max_length=200,
        help_text=_("If an archive gave it one, such as 10.5281/zenodo.1234."),
    )
    supersedes = EarlierField(
        label=_("Replaces"),
        queryset=None,
        required=False,
        empty_label=_("None published earlier"),
        help_text=_("Both pages then point to each other."),
    )

    def __init__(
        self, data: QueryDict | None, *, publication: Publication, datasets: QuerySet[Model]
    ) -> None:
        super().__init__(data)
        self.initial = {"doi": publication.doi, "supersedes": publication.supersedes}
        field = self.fields["supersedes"]
        assert isinstance(field, EarlierField)
        field.queryset = publication.earlier(datasets)

    def clean_doi(self) -> str:
        doi = _BEFORE_A_DOI.sub("", self.cleaned_data["doi"].strip())
        if doi and not _DOI.fullmatch(doi):
            raise forms.ValidationError(
                _("A DOI begins with 10. and has a slash, such as 10.5281/zenodo.1234.")
            )
        return doi

    def changes(self, publication: Publication) -> bool:
        """Whether a valid form says something else than what the publication has."""
        details = (self.cleaned_data["doi"], self.cleaned_data["supersedes"])
        return details != (publication.doi, publication.supersedes)


class PublishForm(DetailsForm):
    """The last question, which is asked in as many words where there is little of use."""

    def __init__(
        self,
        data: QueryDict | None,
        *,
        publication: Publication,
        datasets: QuerySet[Model],
        verdict: Verdict | None,
    ) -> None:
        super().__init__(data, publication=publication, datasets=datasets)
        if verdict is not None and is_doubted(verdict):
            # A program sees no verdict beside the box.
            unsaid = _("%(verdict)s Tick the box to publish it all the same; a program sends “all_the_same”.")
            self.fields["all_the_same"] = forms.BooleanField(
                label=_("I have read this, and publish it all the same."),
                error_messages={"required": unsaid % {"verdict": verdict.text}},
            )


class WithdrawalForm(VisibleTexts, forms.Form):
    """Why a publication is taken back."""

    because = ParagraphsField(
        required=False,
        max_length=500,
        error_messages={"max_length": _("Give a reason of at most 500 characters.")},
    )


def publication_of(
    posted: QueryDict | None,
    publication: Publication,
    datasets: QuerySet[Model],
    verdict: Verdict | None,
    by: User,
    publish: Callable[[User], object],
) -> PublishForm | None:
    """The form under the last question; None once it was answered and `publish` has been called.

    posted: the answer that was sent. datasets: whose publications it may replace. verdict: what is shown beside it,
    which has to be agreed to where it is a bad one.
    """
    form = PublishForm(posted, publication=publication, datasets=datasets, verdict=verdict)
    if not form.is_valid():
        return form
    with transaction.atomic():
        _keep(publication, form, by)
        publish(by)
    return None


@transaction.atomic
def publish(publication: Publication, by: User, require: Callable[[], None]) -> bool:
    """Show it to everyone; False for one that is public, which stays as it is, with the time of its publication.

    require: called once nobody else changes it; raises why it cannot be published, or not by this person. Raises
    MemoryFaultError where it was withdrawn, and the memory cannot be read, which is to have it as public again.
    """
    rows = _rows_of(publication)
    publication.refresh_from_db(from_queryset=rows.select_for_update())
    require()
    if publication.is_public:
        return False
    known = withdrawal_journal.withdrawal_of(publication.pk)
    published_at = _now_after(known.at if known else None)
    public = {"published_at": published_at, "withdrawn_at": None, "withdrawn_because": ""}
    rows.filter(pk=publication.pk).update(**public)
    audit.record(by, "published", publication, after_comparison(publication))
    transaction.on_commit(lambda: published.send(type(publication), publication=publication), robust=True)
    if known:
        transaction.on_commit(lambda: _remember_soon(publication))
    return True


@transaction.atomic
def withdraw(publication: Publication, by: User, because: str) -> bool:
    """Take it off the public pages; False if it is not public. The budget stays spent: what was seen was seen.

    because: the reason, which stands in place of the page. Where the memory cannot be reached it is taken off all the
    same: the next look remembers it.
    """
    rows = _rows_of(publication)
    publication.refresh_from_db(from_queryset=rows.select_for_update())
    if not publication.is_public:
        return False
    rows.filter(pk=publication.pk).update(
        withdrawn_at=_now_after(publication.published_at), withdrawn_because=because
    )
    audit.record(by, "withdrew", publication, after_comparison(publication))
    transaction.on_commit(lambda: _remember_soon(publication))
    return True


def _now_after(earlier: datetime | None) -> datetime:
    """Now, and after an earlier act on the publication, though the clock was set back since."""
    now = database_now()
    return now if earlier is None else max(now, earlier + timedelta(microseconds=1))


def _remember_soon(publication: Publication) -> None:
    """At once; where the memory cannot be reached, at the next look."""
    try:
        remember(publication)
    except MemoryFaultError as fault:
        log.warning("what was withdrawn or published again is remembered later: %s", fault)


@transaction.atomic
def remember(publication: Publication) -> None:
    """Remember outside the database that it is withdrawn, and why, or public again, unless that is remembered.

    Of two who come out of turn both remember what the database says. Raises MemoryFaultError.
    """
    publication.refresh_from_db(from_queryset=_rows_of(publication).select_for_update())
    known = withdrawal_journal.withdrawal_of(publication.pk)
    if publication.withdrawn_at is not None:
        withdrawal = Withdrawal.of(publication)
        if known is None or withdrawal.is_newer(known.at):
            withdrawal_journal.remember(publication.pk, withdrawal)
    elif known and publication.published_at and not known.is_newer(publication.published_at):
        withdrawal_journal.remember(publication.pk, None)


@transaction.atomic
def withdraw_again(publication: Publication) -> bool:
    """Take off what was withdrawn since the copy that the database was put back from; False if nothing was to be done.

    What was published after the withdrawal that is remembered was published again, and stays. What was withdrawn before
    it, as in a copy between two withdrawals, has the newer reason. Raises MemoryFaultError.
    """
    publication.refresh_from_db(from_queryset=_rows_of(publication).select_for_update())
    withdrawal = withdrawal_journal.withdrawal_of(publication.pk)
    if not withdrawal or not withdrawal.is_newer(publication.withdrawn_at or publication.published_at):
        return False
    _rows_of(publication).filter(pk=publication.pk).update(**withdrawal.fields)
    audit.record_own(WITHDRAWN_AGAIN, publication)
    return True


def record_comparison(publication: Publication, by: User) -> None:
    """Before true counts are shown beside it: who looks, and when that was first."""
    audit.record(by, "viewed true counts", publication)
    unseen = _rows_of(publication).filter(pk=publication.pk, compared_at=None)
    unseen.update(compared_at=database_now())


def after_comparison(publication: Publication) -> str:
    """For the audit record: whether true counts were seen before what is recorded; empty if they were not."""
    seen = _rows_of(publication).filter(pk=publication.pk).values_list("compared_at", flat=True).get()
    text = gettext_noop("after its comparison was seen at %(time)s")
    return clause(text, time=seen.isoformat(timespec="seconds")) if seen else ""


def details_of(
    posted: QueryDict | None, publication: Publication, datasets: QuerySet[Model], by: User
) -> DetailsForm | None:
    """The form of what its page says besides the numbers; None once it was sent and kept."""
    form = DetailsForm(posted, publication=publication, datasets=datasets)
    if not form.is_valid():
        return form
    _keep(publication, form, by)
    return None


@transaction.atomic
def set_details(publication: Publication, *, doi: str, supersedes: Publication | None, by: User) -> None:
    """Say where it stands among others; what its page said before stays in the audit log."""
    rows = _rows_of(publication)
    publication.refresh_from_db(from_queryset=rows.select_for_update())
    if (doi, supersedes) == (publication.doi, publication.supersedes):
        return
    replaced = publication.supersedes.pk if publication.supersedes else None
    text = gettext_noop("from DOI %(quoted)s, replacing %(id)s")
    before = clause(text, quoted=repr(publication.doi), id=replaced)
    audit.record(by, "changed details of", publication, before)
    rows.filter(pk=publication.pk).update(doi=doi, supersedes=supersedes)
    if supersedes != publication.supersedes:
        rows.filter(pk=publication.pk).update(supersedes_since=database_now() if supersedes else None)
        if supersedes and (seen := after_comparison(supersedes)):
            audit.record(by, "replaced", supersedes, seen)


def _keep(publication: Publication, form: DetailsForm, by: User) -> None:
    set_details(publication, doi=form.cleaned_data["doi"], supersedes=form.cleaned_data["supersedes"], by=by)


def _rows_of(publication: Publication) -> Manager[Publication]:
    """All of its kind."""
    return type(publication)._default_manager
