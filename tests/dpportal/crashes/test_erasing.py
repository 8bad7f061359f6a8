"""Records that are erased while a job dies: refused while the job is in work, and afterwards nothing of them is left.

A worker that dies is an exception that nobody catches, here; tests beside this one kill processes at the same points.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from dpportal.budgets import ledger
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets import (
    domain_fit,
    domain_fit_job,
    import_job,
    records,
    services as datasets,
    stored_fits,
)
from dpportal.datasets.models import Conversion, Dataset, Fit
from dpportal.jobs import claims
from dpportal.releases import bundle, execution
from dpportal.releases.models import Release, ReleaseJob
from dpportal.streams import execution as stream_execution, job_execution, period_journal, services, vault
from dpportal.streams.models import Stream, StreamJob
from dpportal.tables import counting
from dpportal.value_choices import execution as choosing
from dpportal.value_choices.models import ValueChoice
from tests.dpportal import building
from tests.dpportal.crashes import points
from tests.dpportal.streams.building import open_stream, requested_stream
from tests.dpportal.streams.true_sums import true_sums

pytestmark = pytest.mark.django_db

IN_RELEASES: dict[str, tuple[ModuleType, str]] = {
    points.AFTER_CLAIM: (claims, "claim"),
    points.COUNTING: (counting, "counted_rows"),
    points.COUNTED: (records, "keep_counts"),
    points.BEFORE_COMMIT: (ledger, "spend"),
    points.AFTER_COMMIT: (execution, "commit"),
    points.BUNDLING: (bundle, "write"),
}
IN_OPENINGS = {
    "claimed": (claims, "claim"),
    "drawn": (vault, "keep_first"),
    "remembered": (period_journal, "begin"),
}
IN_CHOICES = {
    "claimed": (claims, "claim"),
    "counted": (records, "people_by_value"),
    "spent": (ledger, "spend"),
}
IN_PERIODS = {
    "claimed": (claims, "claim"),
    "counted": (records, "count_upload"),
    "stored": (vault, "replace"),
    "decided": (period_journal, "decide"),
    "published": (stream_execution, "publish"),
}


class DiedError(BaseException):
    """The worker is gone: nothing cleans up."""


@pytest.fixture
def dies(monkeypatch) -> Callable[..., None]:
    """Does something, and dies after a function of a module has returned; what follows is undisturbed."""

    def run(place: tuple[ModuleType, str], work: Callable[[], Any]) -> None:
        module, name = place
        function = getattr(module, name)

        def dying(*args: Any, **kwargs: Any) -> Any:
            function(*args, **kwargs)
            raise DiedError

        with monkeypatch.context() as at_this_point:
            at_this_point.setattr(module, name, dying)
            with pytest.raises(DiedError):
                work()

    return run


def expire(model: Any) -> None:
    """As if the lease of whoever died had run out."""
    model.objects.filter(state="running").update(lease_until=timezone.now() - timedelta(minutes=1))
    model.objects.filter(state="running").update(state="queued")


def files(dataset: Dataset) -> list[str]:
    try:
        return default_storage.listdir(records.folder(dataset.pk))[1]
    except FileNotFoundError:
        return []


def erase_at_last(dataset: Dataset) -> None:
    """Nothing of the records is left, and what was spent is what the memory says."""
    datasets.erase(Dataset.objects.get(pk=dataset.pk), dataset.owner)
    assert files(dataset) == []
    ledger.require_complete(dataset)
    spent = sum(LedgerEntry.objects.filter(state="spent").values_list("amount", flat=True))
    budget = Budget.objects.get(dataset=dataset)
    assert (budget.spent, budget.reserved) == (spent, 0)


@pytest.mark.slow
@pytest.mark.parametrize("point", IN_RELEASES)
def test_a_release_that_died(requested, dies, point):
    dies(IN_RELEASES[point], lambda: execution.RELEASES.run(requested.pk))
    with pytest.raises(datasets.DatasetError, match="in work"):
        datasets.erase(requested.dataset, requested.created_by)
    expire(ReleaseJob)
    execution.RELEASES.run(requested.pk)
    requested.refresh_from_db()
    assert requested.state == Release.State.READY
    erase_at_last(requested.dataset)
    assert Budget.objects.get().spent == Decimal("0.1")
    assert default_storage.exists(requested.measurement)


@pytest.mark.parametrize("point", IN_OPENINGS)
def test_the_opening_of_a_stream_that_died(dataset, dies, point):
    stream = requested_stream(dataset)
    job = stream.jobs.get()
    dies(IN_OPENINGS[point], lambda: job_execution.STREAM_JOBS.run(job.pk))
    with pytest.raises(datasets.DatasetError, match="in work"):
        datasets.erase(dataset, dataset.owner)
    expire(StreamJob)
    job_execution.STREAM_JOBS.run(job.pk)
    stream.refresh_from_db()
    assert stream.state == Stream.State.OPEN
    erase_at_last(dataset)
    assert not period_journal.is_ahead(stream.pk)


@pytest.mark.slow
@pytest.mark.parametrize("point", IN_PERIODS)
def test_a_period_that_died(dataset, dies, point):
    stream = open_stream(dataset)
    file = ContentFile(b"colour,age\nred,1\nred,2\nblue,3\n", "rows.csv")
    job = services.queue_records(stream, 1, file, dataset.owner)
    dies(IN_PERIODS[point], lambda: job_execution.STREAM_JOBS.run(job.pk))
    with pytest.raises(datasets.DatasetError, match="in work"):
        datasets.erase(dataset, dataset.owner)
    expire(StreamJob)
    job_execution.STREAM_JOBS.run(job.pk)
    assert stream.periods.count() == 1
    erase_at_last(dataset)
    stream.refresh_from_db()
    assert stream.state == Stream.State.CLOSED
    assert not true_sums(list(stream.periods.all()))


@pytest.mark.slow
@pytest.mark.parametrize("point", IN_CHOICES)
def test_a_choice_of_values_that_died(dataset, dies, point):
    """What is drawn of records that are erased meanwhile would be published after the receipt that they are gone."""
    choice = building.requested_values(dataset)
    dies(IN_CHOICES[point], lambda: choosing.CHOICES.run(choice.pk))
    with pytest.raises(datasets.DatasetError, match="are being chosen"):
        datasets.erase(dataset, dataset.owner)
    expire(ValueChoice)
    choosing.CHOICES.run(choice.pk)
    assert ValueChoice.objects.get().kept
    erase_at_last(dataset)


def test_a_choice_of_values_that_no_worker_has_ends_with_the_records(
    dataset, django_capture_on_commit_callbacks
):
    choice = building.requested_values(dataset)
    with django_capture_on_commit_callbacks(execute=True):
        datasets.erase(dataset, dataset.owner)
    assert files(dataset) == [] and Budget.objects.get().reserved == 0
    assert not choosing.CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert (choice.state, choice.kept) == ("failed", None) and "deleted" in choice.failure
    assert LedgerEntry.objects.get(pk=choice.charge_id).state == "void"


@pytest.mark.slow
def test_a_reading_that_died(client, curator, dies):
    client.force_login(curator)
    dataset = building.sent(client, b"colour,age\nred,1\nblue,2\n")
    dies((records, "convert"), lambda: import_job.CONVERSIONS.run(dataset.pk))
    with pytest.raises(datasets.DatasetError, match="still being read"):
        datasets.erase(dataset, curator)
    expire(Conversion)
    import_job.CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    datasets.erase(dataset, curator)
    assert files(dataset) == []
    assert not default_storage.exists(dataset.upload)


@pytest.mark.slow
def test_a_look_at_the_fit_whose_records_were_erased_meanwhile_keeps_nothing(dataset, monkeypatch):
    """An erased dataset gets no key again, so that nothing can be sealed late; the next attempt ends."""
    domain_fit.ask(dataset)
    keep = stored_fits.keep

    def keep_late(*args: Any) -> None:
        datasets.erase(dataset, dataset.owner)
        keep(*args)

    with monkeypatch.context() as late:
        late.setattr(stored_fits, "keep", keep_late)
        domain_fit_job.FITS.run(dataset.pk)
    assert files(dataset) == []
    building.run_when_due(domain_fit_job.FITS, dataset.pk)
    assert files(dataset) == []
    assert Fit.objects.get().state == "cancelled"


def test_no_file_is_taken_for_a_stream_whose_records_were_erased_while_it_came(dataset):
    """The page had looked at the stream before the records were erased in another browser."""
    stream = open_stream(dataset)
    datasets.erase(dataset, dataset.owner)
    for queue in (
        lambda: services.queue_counts(
            stream, ContentFile(b"period,count\n1,5\n", "c.csv"), {}, dataset.owner, confirmed=True
        ),
        lambda: services.queue_records(stream, 1, ContentFile(b"colour\nred\n", "r.csv"), dataset.owner),
    ):
        with pytest.raises(services.StreamError, match="deleted meanwhile"):
            queue()
    assert files(dataset) == []
    assert not stream.jobs.exclude(kind=StreamJob.Kind.OPEN).exists()
