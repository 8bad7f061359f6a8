"""The look at the fit: who sees it, when it is stale, and that erasing erases it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import domain_fit, domain_fit_job, records, services
from dpportal.datasets.models import Dataset, Fit
from dpportal.jobs.claims import JobState
from dpportal.jobs.runner import run_job
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building


def kept(dataset: Dataset) -> list[str]:
    names = default_storage.listdir(records.folder(dataset.pk))[1]
    return [name for name in names if name.startswith("fit-")]


@pytest.fixture
def looked(dataset) -> Dataset:
    """The small table without green declared, and ages below 90 only; looked at."""
    services.declare(dataset, "colour", Categorical("colour", values=("red", "blue"), closed=True))
    services.declare(dataset, "age", Integer("age", lower=0, upper=89, width=10))
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    return dataset


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def page_of(dataset: Dataset) -> str:
    return reverse("datasets:fit", args=[dataset.pk])


@pytest.mark.slow
def test_the_page_shows_the_misfits_to_its_curator_alone(desk, looked, other_curator, administrator):
    answer = desk.get(page_of(looked))
    page = answer.content.decode()
    assert "Not private: only you see this" in page
    assert "<code>green</code>" in page
    assert "<code>99</code>" in page
    assert answer["Cache-Control"] == "no-store, private"
    for other in (other_curator, administrator):
        desk.force_login(other)
        answers = [desk.get(page_of(looked)), desk.post(page_of(looked))]
        answers.append(desk.get(reverse("datasets:fit_progress", args=[looked.pk])))
        assert {answer.status_code for answer in answers} <= {403, 404}
        assert not any("green" in answer.content.decode() for answer in answers)


@pytest.mark.slow
def test_the_page_says_what_helps_and_leads_on_to_a_release(desk, looked):
    page = desk.get(page_of(looked)).text
    assert "Other spellings of a value" in page
    assert "Numbers and dates that are not read as such" not in page
    assert f'action="{reverse("releases:start", args=[looked.pk])}"' in page
    asked = desk.get(page_of(looked), {"back": "/releases/"}).text
    assert "Plan a release" not in asked and "Back to the review" in asked


@pytest.mark.slow
def test_another_curator_finds_no_such_page(desk, looked, other_curator):
    desk.force_login(other_curator)
    assert desk.get(page_of(looked)).status_code == 404


@pytest.mark.slow
def test_each_look_is_recorded(desk, looked):
    desk.get(page_of(looked))
    desk.get(page_of(looked))
    assert AuditEntry.objects.filter(action="viewed the fit", subject=f"dataset {looked.pk}").count() == 2
    assert not AuditEntry.objects.filter(detail__contains="green").exists()


@pytest.mark.slow
def test_the_page_asks_a_worker_and_does_not_wait(
    desk, dataset, django_capture_on_commit_callbacks, monkeypatch
):
    hints: list[tuple] = []
    monkeypatch.setattr(run_job, "apply_async", lambda arguments, **_options: hints.append(arguments))
    with django_capture_on_commit_callbacks(execute=True):
        desk.post(page_of(dataset))
    assert hints == [("Fit", str(dataset.pk))]
    assert "hx-get" in desk.get(page_of(dataset)).content.decode()
    assert not AuditEntry.objects.filter(action="viewed the fit").exists()
    domain_fit_job.FITS.run(dataset.pk)
    assert desk.get(reverse("datasets:fit_progress", args=[dataset.pk]))["HX-Refresh"] == "true"


@pytest.mark.slow
def test_it_is_stale_after_a_change_of_the_domain(looked):
    services.declare(looked, "age", Integer("age", lower=0, upper=99, width=10))
    assert domain_fit.current(looked) is None
    assert domain_fit.shown_warnings(looked, ["age"], looked.owner) is None


@pytest.mark.slow
def test_it_is_stale_after_a_change_of_who_is_protected(looked):
    services.declare_unit(looked, neighbours="add-remove", unit_column="colour", max_rows=2)
    assert domain_fit.current(looked) is None


@pytest.mark.slow
def test_it_is_stale_when_the_file_is_read_otherwise(looked):
    Dataset.objects.filter(pk=looked.pk).update(options={**looked.options, "missing": ["red"]})
    looked.refresh_from_db()
    assert domain_fit.current(looked) is None


@pytest.mark.slow
def test_a_new_look_replaces_the_old_one(looked, django_capture_on_commit_callbacks):
    services.declare(looked, "age", Integer("age", lower=0, upper=99, width=10))
    with django_capture_on_commit_callbacks(execute=True):
        domain_fit.ask(looked)
    domain_fit_job.FITS.run(looked.pk)
    assert len(kept(looked)) == 1
    assert [column.above for column in domain_fit.current(looked).columns] == [0, 0]


@pytest.mark.slow
def test_warnings_name_the_columns_above_one_percent(looked):
    warnings = domain_fit.shown_warnings(looked, ["colour", "age"], looked.owner)
    assert [(w.column, w.percent) for w in warnings] == [("colour", "33.3"), ("age", "10.0")]
    assert [w.column for w in domain_fit.shown_warnings(looked, ["age"], looked.owner)] == ["age"]


@pytest.mark.slow
def test_rows_beyond_the_limit_of_each_person_warn(looked):
    services.declare_unit(looked, neighbours="add-remove", unit_column="colour", max_rows=90)
    domain_fit.ask(looked)
    domain_fit_job.FITS.run(looked.pk)
    [warning] = domain_fit.shown_warnings(looked, [], looked.owner)
    assert (warning.column, warning.share) == ("", 20 / 300)  # green is left out by its column


@pytest.mark.slow
def test_erasing_erases_it(looked):
    assert len(kept(looked)) == 1
    services.erase(looked, looked.owner)
    assert kept(looked) == []


@pytest.mark.slow
def test_a_look_that_ends_after_the_erasing_leaves_nothing(looked, monkeypatch):
    services.declare(looked, "age", None)
    domain_fit.ask(looked)
    looking = records.fit

    def erased_meanwhile(dataset, *args):
        found = looking(dataset, *args)
        services.erase(Dataset.objects.get(pk=dataset.pk), dataset.owner)
        return found

    monkeypatch.setattr(records, "fit", erased_meanwhile)
    domain_fit_job.FITS.run(looked.pk)
    assert kept(looked) == []


@pytest.mark.slow
def test_there_is_nothing_to_look_at_once_the_records_are_deleted(desk, looked):
    services.erase(looked, looked.owner)
    looked.refresh_from_db()
    domain_fit.ask(looked)
    assert "no records to look at" in desk.get(page_of(looked), follow=True).content.decode()


def test_a_look_whose_worker_was_lost_is_brought_back(dataset, monkeypatch):
    domain_fit.ask(dataset)
    Fit.objects.update(state=JobState.RUNNING, attempts=1, lease_until=timezone.now() - timedelta(minutes=9))
    Fit.objects.update(hinted_at=timezone.now() - timedelta(minutes=9))
    building.a_worker_lives()
    hints: list[tuple] = []
    monkeypatch.setattr(run_job, "apply_async", lambda arguments, **_options: hints.append(arguments))
    domain_fit_job.FITS.sweep()
    assert hints == [("Fit", str(dataset.pk))]


@pytest.mark.slow
def test_a_failure_quotes_no_data(looked, monkeypatch, caplog):
    def fails(*args):
        raise ValueError("green")

    monkeypatch.setattr(records, "fit", fails)
    services.declare(looked, "age", None)
    domain_fit.ask(looked)
    domain_fit_job.FITS.run(looked.pk)
    assert "ValueError" in caplog.text
    assert "green" not in caplog.text
