"""The demonstration dataset is there in the end, however slow or unlucky the first start was."""

from __future__ import annotations

import csv
import gzip
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from dpportal.budgets.ledger import BudgetOnHoldError
from dpportal.datasets import demo_marker, import_job
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState
from dpportal.operations import demonstration, examples, sweeping
from dpportal.releases import services
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release, ReleaseJob
from dpportal.streams.job_execution import STREAM_JOBS
from dpportal.streams.models import Stream, StreamJob
from tests.dpportal import building

pytestmark = pytest.mark.django_db
WHOLE = demonstration.FOLDER / "adult.csv.gz"
SENTENCE = "The demonstration dataset is being loaded"


@pytest.fixture(autouse=True)
def _portal(monkeypatch, tmp_path, curator, administrator):
    """A portal of which nothing is left afterwards, with the first 50 rows of the table."""
    monkeypatch.setattr(demo_marker, "_path", lambda: tmp_path / "pending")
    folder = tmp_path / "files"
    folder.mkdir()
    with gzip.open(demonstration.FOLDER / "adult.csv.gz") as whole:
        (folder / "adult.csv.gz").write_bytes(gzip.compress(b"".join(whole.readline() for _ in range(51))))
    (folder / "codebook.json").write_bytes((demonstration.FOLDER / "codebook.json").read_bytes())
    monkeypatch.setattr(demonstration, "FOLDER", folder)


@pytest.fixture
def _no_examples(monkeypatch):
    """Only the dataset: what is made of it is another test's."""
    monkeypatch.setattr(demonstration.examples, "go_on", lambda _dataset: True)


def granted() -> Decimal:
    dataset = Dataset.objects.get(name=demonstration.NAME)
    return building.left(dataset) if dataset.current_domain() else Decimal(0)


def work() -> None:
    """What a worker does with all that waits, and then the sweep."""
    for kind in (import_job.CONVERSIONS, RELEASES, STREAM_JOBS):
        for pk in kind.model.objects.filter(state=JobState.QUEUED).values_list("pk", flat=True):
            kind.run(pk)
    sweeping.sweep_jobs()


@pytest.mark.slow
def test_a_release_and_a_running_count_are_published(client, curator):
    """By a start that is interrupted after each step, and never twice; withdrawn, they stay so."""
    assert demonstration.load(patience=0.1) is None
    while demo_marker.is_pending():
        work()
    release, stream = Release.objects.get(), Stream.objects.get()
    assert (
        not ReleaseJob.objects.filter(seen=False).exists()
        and not StreamJob.objects.filter(seen=False).exists()
    )
    assert release.is_public and stream.is_public and stream.periods.count() == 24
    assert granted() == demonstration.GRANT - 2 * examples.COST
    page = " ".join(client.get(release.get_absolute_url()).text.split())
    for said in ("Data of 1994", "UCI Machine Learning Repository", "Creative Commons Attribution 4.0"):
        assert said in page
    picture = client.get(f"{release.get_absolute_url()}chart/main.svg").text
    words = " ".join(strip_tags(picture).split())  # its lines break where the release's address ends
    assert "Licence: Creative Commons Attribution 4.0" in words
    assert client.get(stream.get_absolute_url()).status_code == 200
    services.withdraw(release, curator)
    assert demonstration.load() == release.dataset
    work()
    release.refresh_from_db()
    assert not release.is_public and Release.objects.count() == 1


@pytest.mark.slow
def test_the_batches_are_counts_of_the_shipped_table():
    with gzip.open(WHOLE, "rt") as table:
        incomes = [row["income"] for row in csv.DictReader(table)]
    counted = [incomes[at : at + 1000].count(">50K") for at in range(0, 24_000, 1000)]
    with examples.BATCHES.open() as shipped:
        assert [int(row["count"]) for row in csv.DictReader(shipped)] == counted


@pytest.mark.slow
@pytest.mark.usefixtures("_no_examples")
def test_a_start_that_was_too_slow_is_gone_on_with(client, curator):
    client.force_login(curator)
    assert demonstration.load(patience=0.3) is None
    assert SENTENCE in client.get("/datasets/").text
    import_job.CONVERSIONS.run(Dataset.objects.get().pk)
    sweeping.sweep_jobs()
    assert granted() == demonstration.GRANT
    assert SENTENCE not in client.get("/datasets/").text
    sweeping.sweep_jobs()
    assert demonstration.load() == Dataset.objects.get()
    assert granted() == demonstration.GRANT


@pytest.mark.slow
@pytest.mark.usefixtures("_no_examples")
def test_what_failed_is_tried_again_after_a_pause():
    demonstration.load(patience=0.1)
    job = Conversion.objects.get()
    assert claims.claim(Conversion, job.pk) is not None
    Conversion.objects.update(attempts=3, lease_until=timezone.now() - timedelta(seconds=1))
    import_job.CONVERSIONS.give_up(job.pk, "Interrupted.")
    sweeping.sweep_jobs()
    assert Dataset.objects.get().state == Dataset.State.REFUSED
    Conversion.objects.update(finished_at=timezone.now() - timedelta(minutes=2))
    sweeping.sweep_jobs()
    import_job.CONVERSIONS.run(job.pk)
    sweeping.sweep_jobs()
    assert granted() == demonstration.GRANT


@pytest.mark.slow
@pytest.mark.usefixtures("_no_examples")
def test_an_upload_that_failed_is_made_again(monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(demonstration.services, "create_dataset", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            demonstration.load()
    sweeping.sweep_jobs()
    import_job.CONVERSIONS.run(Dataset.objects.get().pk)
    sweeping.sweep_jobs()
    assert granted() == demonstration.GRANT


def test_nobody_is_granted_a_budget_for_giving_their_table_that_name(curator):
    own = building.stored_dataset(curator, name=demonstration.NAME)
    sweeping.sweep_jobs()
    assert demonstration.load() == own
    sweeping.sweep_jobs()
    assert not Dataset.objects.get().budgets.exists()


@pytest.mark.slow
def test_people_who_have_a_budget_in_another_dataset_are_not_granted_a_second(
    client, other_curator, administrator
):
    """And the sweep does not break over it each time."""
    client.force_login(other_curator)
    table = gzip.decompress((demonstration.FOLDER / "adult.csv.gz").read_bytes())
    own = building.granted(building.uploaded(client, table), administrator)
    demonstration.load(patience=0.1)
    loaded = Dataset.objects.exclude(pk=own.pk).get()
    import_job.CONVERSIONS.run(loaded.pk)
    sweeping.sweep_jobs()
    loaded.refresh_from_db()
    assert loaded.has_records and not loaded.budgets.exists() and not demo_marker.is_pending()


@pytest.mark.slow
@pytest.mark.usefixtures("_no_examples")
def test_what_keeps_it_waiting_keeps_nothing_else_waiting(settings):
    demonstration.load(patience=0.1)
    import_job.CONVERSIONS.run(Dataset.objects.get().pk)
    here = settings.MEMORY_DIR
    settings.MEMORY_DIR = here / "unmounted"
    sweeping.sweep_jobs()
    settings.MEMORY_DIR = here
    sweeping.sweep_jobs()
    assert granted() == demonstration.GRANT


def test_what_an_administrator_has_to_see_to_is_logged_once_and_ends_no_start(monkeypatch, caplog):
    """As after a restore that lacks charges of it."""
    waits = ["The ledger lacks charges."]

    def on_hold() -> None:
        raise BudgetOnHoldError(waits[0])

    monkeypatch.setattr(demonstration, "_next_step", on_hold)
    monkeypatch.setattr(demonstration, "_announced", set())
    assert demonstration.load(patience=5) is None and demo_marker.is_pending()
    for reason in ("The ledger lacks charges.", "The memory is lost.", "The memory is lost."):
        waits[0] = reason
        sweeping.sweep_jobs()
    said = [line for line in caplog.messages if "demonstration dataset waits" in line]
    assert [line.rpartition(": ")[2] for line in said] == ["The ledger lacks charges.", "The memory is lost."]
