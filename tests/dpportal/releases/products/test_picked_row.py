"""Where one row of each person counts, drawn at random, all that is published says so, and the wizard asks first."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.releases.products.shared.differing_rows import of_periods
from mechanisms.domain import Categorical, Date, Domain, Integer
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.test_verified import downloaded

PICKED = "Each person counts by one of their rows, drawn at random"


@pytest.fixture
def drawn(rich) -> Dataset:
    """Whoever is of one age is one person, of whom one row counts."""
    dataset_services.declare_unit(rich, neighbours="add-remove", unit_column="age", max_rows=1)
    return rich


@pytest.fixture
def release(drawn) -> Release:
    made = finished(drawn, "histogram", ["colour", "age"], "9", "laplace-histogram")
    services.publish(made, made.dataset.owner)
    return made


def test_a_drafts_declaration_says_whether_one_row_counts(dataset):
    draft = Release(dataset=dataset)
    assert not draft.picks_row
    dataset_services.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=3)
    assert not draft.picks_row
    dataset_services.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=1)
    assert draft.picks_row


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [{}, {"axis": "colour"}, {"scale": "share"}])
def test_a_chart_says_so_wherever_it_is_taken(release, client, chosen):
    picture = reverse("releases:chart", args=[release.pk, "main", "svg"])
    frame = reverse("releases:embed", args=[release.pk, "main"])
    for answer in (client.get(picture, chosen), client.get(frame, chosen)):
        assert answer.status_code == 200 and PICKED in answer.text


@pytest.mark.slow
def test_finding_table_and_report_say_so(release, client):
    for text in (page_of(client, release), files(release)["report.html"].decode()):
        words = " ".join(text.split())
        finding, _outline, numbers = words.partition('class="statement"')
        assert PICKED in finding[finding.index('class="finding"') :]
        assert PICKED in numbers[numbers.index("Counts</h2>") :]
        assert words.count(PICKED) >= 3  # and the chart's caption


@pytest.mark.slow
def test_no_group_of_drawn_rows_is_called_the_largest(drawn, client, tmp_path):
    """Of drawn rows most are of one colour; of people as many may have a row of another. Drawn alike, none is."""
    made = finished(drawn, "histogram", ["colour"], "50", "laplace-histogram")
    services.publish(made, made.dataset.owner)
    page = " ".join(page_of(client, made).split())
    assert "The largest group, " not in page and "he largest group is " not in page
    assert "he largest group of drawn rows" in page or "No group is certainly the largest" in page
    path = downloaded(made, tmp_path)
    assert [str(found) for found in verify(Bundle.read(path)) if found.state is State.FAILED] == []


@pytest.mark.slow
def test_where_a_row_is_a_person_none_of_it_is_said(rich, client):
    made = finished(rich, "histogram", ["colour"], "9", "laplace-histogram")
    services.publish(made, made.dataset.owner)
    page = page_of(client, made)
    assert PICKED not in page and "drawn rows" not in page


def test_no_column_is_ticked_before_the_curator_said_which_agree(drawn, client):
    client.force_login(drawn.owner)
    said = {"product": "histogram", "people": "300"}
    page = client.post(reverse("releases:start", args=[drawn.pk]), said, follow=True)
    assert page.redirect_chain[-1][0].endswith("/columns/")
    assert page.context["form"]["columns"].value() == [] and not drawn.releases.get().columns
    words = " ".join(page.text.split())
    assert PICKED in words and "where all rows of a person say the same" in words
    unit = reverse("datasets:unit", args=[drawn.pk])
    assert f'<a href="{unit}">let several rows of each person count</a>: numbers are then of rows' in words
    assert "not of people" in words and "To count a person in every group" not in words


def test_where_a_row_is_a_person_columns_are_ticked(rich, client):
    client.force_login(rich.owner)
    page = client.post(reverse("releases:start", args=[rich.pk]), {"product": "histogram"}, follow=True)
    assert page.context["form"]["columns"].value() and PICKED not in page.text


def test_a_time_that_is_ticked_is_warned_of_while_choosing_and_at_the_review(drawn, client):
    dataset_services.declare(drawn, "colour", Categorical("colour", values=("2019/20", "2020/21")))
    draft = building.complete_draft(drawn)
    client.force_login(drawn.owner)
    live = client.post(reverse("releases:cells", args=[draft.pk]), {"columns": ["colour"]}).text
    review = client.get(reverse("releases:review", args=[draft.pk])).text
    for text in (live, review):
        assert "A person with rows in several values of colour counts in one of them" in " ".join(
            text.split()
        )


def test_what_says_when_is_told_by_the_declaration():
    domain = Domain(
        (
            Categorical("school", values=("2019/20", "2020/21")),
            Categorical("Schuljahr", values=("a", "b")),
            Date("seen"),
            Date("date_of_birth"),
            Integer("Geburtsjahr", lower=1950, upper=2020),
            Integer("year", lower=2000, upper=2020),
            Categorical("sex", values=("f", "m")),
            Categorical("size", values=("10-14", "15-19")),
        )
    )
    assert of_periods(domain, domain.names) == ["school", "Schuljahr", "seen", "year"]
    assert of_periods(domain, ["sex", "year"]) == ["year"]
