"""Mail is written in the site's language, whoever acts, and read in its reader's."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.conf import settings as site
from django.core import mail
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import override

from dpportal.accounts import people
from dpportal.accounts.models import OutgoingMail, User
from dpportal.budgets import ledger, requests
from dpportal.datasets import retention
from dpportal.jobs.claims import JobState
from dpportal.notices import job_ends, services, switching_off
from dpportal.notices.models import Webhook
from dpportal.releases.models import ReleaseJob
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period
from tests.dpportal.building import deliver_mail
from tests.dpportal.chinese import foreign_lines, half_width
from tests.dpportal.notices.conftest import EVERY_KIND, ORIGIN
from tests.dpportal.streams import building as streams

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
CHINESE = re.compile("[\u4e00-\u9fff]")
NAMES = ("curator", "administrator", "example", "Because", "Town", "laptop", "webhook", "Red ones so far")


@pytest.fixture(autouse=True)
def acting_in_chinese(settings) -> Iterator[None]:
    """Whoever acts has a page in Chinese before them; everyone has an address."""
    settings.EMAIL_URL = "smtp://mail.example.org"
    with override("zh-hans"):
        yield


@pytest.fixture
def owner(dataset) -> User:
    """Of a dataset, who wants mail about everything."""
    for person in User.objects.all():
        User.objects.filter(pk=person.pk).update(email=f"{person.username}@example.org")
    type(dataset).objects.filter(pk=dataset.pk).update(name="Town")
    dataset.refresh_from_db()
    services.choose_mail(dataset.owner, EVERY_KIND, ORIGIN)
    return User.objects.get(pk=dataset.owner_id)


def grant(dataset, administrator, **terms) -> None:
    words = {"definition": "pure", "reason": "Because", "by": administrator}
    ledger.grant(dataset, Decimal("0.25"), **words, **terms)


def everything(dataset, owner, administrator) -> None:
    """Every act of which somebody gets mail."""
    grant(dataset, administrator)
    requests.ask(dataset, "Because", owner)
    answered = ledger.GrantTerms(answers=dataset.budget_requests.get())
    grant(dataset, administrator, terms=answered)
    requests.ask(dataset, "Because", owner)
    requests.decline(dataset.budget_requests.first(), "Because", administrator)
    people.note(owner, administrator, "made a token for programs", "laptop", alarming=True)
    retention.choose_day(dataset, timezone.localdate() + dt.timedelta(days=5), owner)
    hook = Webhook.objects.create(person=owner, address="https://hooks.example/", kinds=[], origin=ORIGIN)
    switching_off._tell(hook)


def periods_and_jobs(dataset, release, owner) -> None:
    stream = streams.open_stream(dataset)
    publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
    publish(stream.pk, [Update(n, (5,), Period.Source.TYPED) for n in (2, 3)])
    type(release).objects.filter(pk=release.pk).update(title="Town")
    job = ReleaseJob.objects.get(release=release)
    for state in (JobState.DONE, JobState.FAILED):
        job_ends.job_ended(ReleaseJob, job.pk, state)


def sent() -> list[str]:
    """All that is mailed, each with its subject."""
    mail.outbox.clear()
    while OutgoingMail.objects.exists():
        deliver_mail()
    return [f"{message.subject}\n{message.body}" for message in mail.outbox]


def without_addresses(text: str) -> list[str]:
    return [line for line in re.sub(r"https?://\S+", "", text).splitlines() if line.strip()]


@pytest.mark.parametrize("language", ["", "zh-hans"])
def test_each_mail_is_read_in_its_readers_language(dataset, requested, owner, administrator, language):
    User.objects.update(language=language)
    everything(dataset, owner, administrator)
    periods_and_jobs(dataset, requested, owner)
    stored = OutgoingMail.objects.filter(~Q(text=""))
    assert stored.count() >= 12
    assert not [each.text for each in stored if CHINESE.search(each.subject + each.text)]
    lines = [line for text in sent() for line in without_addresses(text)]
    if language == site.LANGUAGE_CODE or not language:
        assert not [line for line in lines if CHINESE.search(line)]
    else:
        assert foreign_lines(lines, NAMES) == [] == half_width(lines)
