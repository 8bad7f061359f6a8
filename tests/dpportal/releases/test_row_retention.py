"""What the curator and a reader are told of rows that a release does not count; and the warning before it."""

from __future__ import annotations

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import domain_fit, domain_fit_job, records, services
from dpportal.releases import execution
from dpportal.releases.models import Release
from mechanisms.domain import Boolean, Categorical, Integer
from tests.dpportal import building


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


@pytest.fixture
def closed(dataset) -> Release:
    """A finished release of the small table, whose 100 green rows no declared value takes."""
    services.declare(dataset, "colour", Categorical("colour", values=("red", "blue"), closed=True))
    return finished(building.requested_release(dataset))


def finished(release: Release) -> Release:
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    return release


def compared(desk, release: Release) -> str:
    return " ".join(desk.get(reverse("releases:compare", args=[release.pk])).content.decode().split())


def readme(release: Release) -> str:
    with default_storage.open(release.artifacts.get(name="README.md").stored) as file:
        return " ".join(file.read().decode().split())


@pytest.mark.slow
def test_a_whole_table_is_said_to_be_counted(desk, ready):
    assert "The table has 300 rows. All of them were counted." in compared(desk, ready)
    assert "left out" not in readme(ready)


@pytest.mark.slow
def test_the_page_reads_no_counts_to_say_so(desk, ready, monkeypatch):
    monkeypatch.setattr(records, "stored_counts", lambda _name: pytest.fail("all counts were read"))
    assert "All of them were counted." in compared(desk, ready)


@pytest.mark.slow
def test_closed_columns_leave_rows_out_and_the_pages_say_so(desk, closed):
    page = compared(desk, closed)
    assert "The table has 300 rows. 200 of them were counted." in page
    assert "Rows without a declared value in colour are left out." in page
    assert "Rows that have no declared value in colour are left out" in readme(closed)
    assert "200" not in readme(closed).partition("## How to read them")[2]


@pytest.mark.slow
def test_the_limit_of_each_person_is_in_what_a_count_means(desk, dataset):
    """Three persons called by their colour, of whom 7 rows each are kept."""
    services.declare_unit(dataset, neighbours="add-remove", unit_column="colour", max_rows=7)
    release = finished(building.requested_release(dataset))
    assert "300 rows. 21 of them were counted. True counts are of at most 7 rows kept" in compared(
        desk, release
    )
    assert 'is of at most 7 rows kept of each person in "colour"' in readme(release)


@pytest.mark.slow
def test_a_closed_yes_or_no_has_no_other_cell(dataset):
    """Ages 0 and 1 read as yes and no, three rows each; 294 rows fit neither and are in no count."""
    services.declare(dataset, "age", Boolean("age", closed=True))
    release = finished(building.requested_release(dataset))
    true = records.stored_counts(release.true_counts)
    assert true.reshape(-1, 2).sum(axis=0).tolist() == [3, 3]


def test_the_review_says_that_nobody_looked_and_one_click_looks(desk, draft):
    review, fit = (
        reverse("releases:review", args=[draft.pk]),
        reverse("datasets:fit", args=[draft.dataset_id]),
    )
    page = desk.get(review).content.decode()
    assert "<strong>Nobody has looked yet whether your table fits the declaration.</strong>" in page
    assert f'<form method="post" action="{fit}">' in page and f'name="back" value="{review}"' in page
    answer = desk.post(fit, {"back": review})
    domain_fit_job.FITS.run(draft.dataset_id)
    assert f'href="{review}">Back to the review' in desk.get(answer.url).content.decode()
    assert "Nobody has looked yet" not in desk.get(review).content.decode()
    elsewhere = desk.post(fit, {"back": "//elsewhere.example/"})
    assert "Back to the review" not in desk.get(elsewhere.url).content.decode()


@pytest.mark.slow
def test_where_most_rows_fit_nothing_declared_spending_needs_a_tick(desk, draft):
    dataset, review = draft.dataset, reverse("releases:review", args=[draft.pk])
    services.declare(dataset, "colour", Categorical("colour", values=("rot", "blau"), closed=True))
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    page = desk.get(review)
    markup = page.content.decode()
    assert page.context["form"].fields["nevertheless"].required
    assert (
        '<button class="button" name="then"' in markup and 'class="button primary" name="then"' not in markup
    )
    assert f'class="button primary" href="{reverse("datasets:domain", args=[dataset.pk])}"' in markup
    said = {
        "reviewed": page.context["form"]["reviewed"].value(),
        "agreed": "on",
        "useless": "on",
        "then": "publish",
    }
    refused = desk.post(review, said)
    assert "confirm that you publish nevertheless" in refused.content.decode()
    draft.refresh_from_db()
    assert draft.charge is None
    desk.post(review, {**said, "nevertheless": "on"})
    draft.refresh_from_db()
    assert draft.charge is not None


@pytest.mark.slow
def test_the_review_warns_of_misfits_and_never_blocks(desk, draft):
    dataset = draft.dataset
    services.declare(dataset, "age", Integer("age", lower=0, upper=89, width=10))
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    answer = desk.get(reverse("releases:review", args=[draft.pk]))
    assert "10.0 % of the rows do not fit what was declared for age." in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert AuditEntry.objects.filter(action="viewed the fit").count() == 1
    assert building.confirm(draft)


@pytest.mark.slow
def test_the_review_is_silent_where_all_fits(desk, draft):
    domain_fit.ask(draft.dataset)
    domain_fit_job.FITS.run(draft.dataset_id)
    page = desk.get(reverse("releases:review", args=[draft.pk])).content.decode()
    assert "fit" not in page.lower().replace("benefit", "")
