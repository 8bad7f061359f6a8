"""Running counts of people of whom the portal has no table: who is protected, the budget, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from dpportal.accounts.models import AuditEntry
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services as datasets
from dpportal.datasets.models import Dataset
from dpportal.streams import job_execution, services
from dpportal.streams.models import SealedState, SealedSums, Stream
from dpportal.streams.services import StreamError
from tests.dpportal import building as around
from tests.dpportal.streams import building

SAID = {"name": "Admissions", "description": "", "neighbours": "add-remove", "max_rows": "1", "person": ""}
BY_REGION = {"column": "region", "values": "north\nsouth\n\n east "}
WHOLE = {"column": "", "cells": [], "mechanism": "fda"}


@pytest.fixture
def begun(curious, administrator):
    """Admissions by region, with a budget of ε = 1."""

    def begin(**said: str) -> Dataset:
        answer = curious.post("/datasets/tableless/", {**SAID, **said})
        assert answer.status_code == 302, answer.context["form"].errors
        dataset = Dataset.objects.get()
        return around.granted(dataset, administrator)

    return begin


@pytest.mark.slow
def test_the_whole_way_from_a_name_to_a_published_period(curious, begun) -> None:
    dataset = begun(**BY_REGION)
    home = curious.get(f"/datasets/{dataset.pk}/")
    assert "New running count" in home.text and "New release" not in home.text
    assert "for each person, added or removed" in home.text and "each row" not in home.text
    offered = curious.get(f"/streams/new/{dataset.pk}/")
    assert offered.context["form"].initial["mode"] == "each" and "Add up" not in offered.text
    counted = {"name": "Admitted", "mode": "each", "column": "region"}
    curious.post(f"/streams/new/{dataset.pk}/", counted)
    draft = Stream.objects.get()
    curious.post(f"/streams/{draft.pk}/timing/", {"step": "next", "horizon": "12"})
    curious.post(f"/streams/{draft.pk}/strategy/", {"amount": "0.25", "mechanism": "fda"})
    review = curious.get(f"/streams/{draft.pk}/review/")
    assert "Look at the fit" not in review.text
    assert "A person is counted once" in review.text and "in the table" not in review.text
    reviewed = review.context["form"]["reviewed"].value()
    curious.post(f"/streams/{draft.pk}/review/", {"reviewed": reviewed, "agreed": "on", "useless": "on"})
    job_execution.STREAM_JOBS.run(draft.jobs.get().pk)
    page = curious.get(f"/streams/{draft.pk}/home/")
    assert "File of records" not in page.text
    typed = {"index": "1", "count-0": "12", "count-1": "3", "count-2": "0"}
    answer = curious.post(f"/streams/{draft.pk}/add/", typed, follow=True)
    assert "Period 1 was added." in answer.text
    compare = curious.get(f"/streams/{draft.pk}/compare/")
    assert f"/streams/{draft.pk}/publish/" in answer.text, "its next step"
    assert f"/streams/{draft.pk}/compare/" in answer.text and compare.context["rows"][0]["true"] == 12
    draft.refresh_from_db()
    assert (draft.labels, len(draft.periods.get().released)) == (["north", "south", "east"], 3)
    assert LedgerEntry.objects.get(key=draft.pk).state == "spent"
    assert Dataset.objects.get().budgets.get().left == Decimal("0.75")


@pytest.mark.slow
def test_without_categories_there_is_one_number_and_nothing_to_choose(curious, begun) -> None:
    dataset = begun()
    page = curious.get(f"/streams/new/{dataset.pk}/")
    assert "Count rows" not in page.text
    curious.post(f"/streams/new/{dataset.pk}/", {"name": "Admitted", "mode": "every"})
    assert Stream.objects.get().split is False
    stream = building.open_stream(dataset, **WHOLE)
    assert stream.labels == [""]


@pytest.mark.slow
def test_a_program_feeds_it(client, begun) -> None:
    stream = building.open_stream(begun(**BY_REGION), **{**WHOLE, "column": "region", "split": True})
    token = services.renew_token(stream, stream.created_by)
    body = {"period": 1, "counts": {"north": 5, "south": 1, "east": 2}}
    answer = client.post(
        f"/streams/{stream.pk}/periods",
        body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 201
    assert stream.periods.count() == 1


def test_whoever_is_counted_three_times_is_protected_as_such(begun) -> None:
    dataset = begun(max_rows="3", person="patient number")
    thrice = building.requested_stream(dataset, **WHOLE, amount=Decimal("0.3")).plan
    assert thrice.loss.unit.max_rows == 3
    datasets.declare_unit(dataset, neighbours="add-remove", unit_column="patient number", max_rows=1)
    once = building.requested_stream(dataset, **WHOLE, amount=Decimal("0.3")).plan
    assert thrice.sensitivity.l1 == 3 * once.sensitivity.l1
    assert dataset.budgets.get().reserved == Decimal("0.6")


@pytest.mark.slow
def test_its_budget_is_not_overspent(begun) -> None:
    dataset = begun()
    building.open_stream(dataset, **WHOLE, amount=Decimal("0.7"))
    with pytest.raises(BudgetRefusedError):
        building.requested_stream(dataset, **WHOLE, amount=Decimal("0.4"))
    assert dataset.budgets.get().spent == Decimal("0.7")


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"name": ""}, "Give it a name."),
        ({"max_rows": "2"}, "Say by what you know a person again."),
        ({"max_rows": "0"}, "greater than or equal to 1"),
        ({"column": "region"}, "Give both a name and categories"),
        ({"values": "north"}, "Give both a name and categories"),
        ({"column": "region", "values": "north\nnorth"}, "declared twice"),
        ({"column": "region", "values": "\n".join(map(str, range(1001)))}, "coarser categories"),
        ({"neighbours": "nobody"}, "valid choice"),
    ],
)
def test_what_cannot_be_is_refused_in_the_form(curious, wrong: dict[str, str], told: str) -> None:
    answer = curious.post("/datasets/tableless/", {**SAID, **wrong})
    assert answer.status_code == 422
    assert told in answer.text
    assert not Dataset.objects.exists()


@pytest.mark.slow
def test_nothing_that_needs_a_table_can_be_done(curious, begun) -> None:
    dataset = begun(**BY_REGION)
    curious.post(f"/releases/new/{dataset.pk}/")
    assert not dataset.releases.exists()
    stream = building.open_stream(dataset, **WHOLE)
    with pytest.raises(StreamError, match="no table"):
        services.queue_records(stream, 1, SimpleUploadedFile("a.csv", b"region\nnorth\n"), stream.created_by)
    for page in (
        "",
        "rows/",
        "fit/",
        "domain/",
        "domain/unit/",
        "domain/0/",
        "edit/",
        "description/",
        "reading/",
    ):
        assert curious.get(f"/datasets/{dataset.pk}/{page}").status_code in (200, 302), page
    assert curious.get("/datasets/").status_code == 200


def test_who_tells_persons_apart_stays_when_the_unit_page_is_saved(curious, begun) -> None:
    dataset = begun(max_rows="3", person="patient number")
    said = {"neighbours": "add-remove", "unit_column": "patient number", "max_rows": "2"}
    assert curious.post(f"/datasets/{dataset.pk}/domain/unit/", said).status_code == 302
    assert (dataset.current_domain().max_rows, dataset.current_domain().unit_column) == (2, "patient number")


@pytest.mark.slow
def test_closed_for_ever_its_streams_are_closed_and_true_counts_gone(curious, begun) -> None:
    dataset = begun()
    stream = building.open_stream(dataset, **WHOLE)
    curious.post(f"/streams/{stream.pk}/add/", {"index": "1", "count-0": "12"})
    curious.post(f"/datasets/{dataset.pk}/erase/")
    stream.refresh_from_db()
    dataset.refresh_from_db()
    assert (stream.state, dataset.state) == ("closed", "erased")
    assert not SealedState.objects.exists() and not SealedSums.objects.exists()
    assert curious.get(f"/streams/new/{dataset.pk}/").status_code == 302
    assert AuditEntry.objects.filter(action="opened without a table").count() == 1


def test_they_count_among_a_days_uploads(curious, settings) -> None:
    settings.UPLOADS_PER_DAY = 1
    assert curious.post("/datasets/tableless/", SAID).status_code == 302
    assert curious.post("/datasets/tableless/", {**SAID, "name": "Again"}).status_code == 422
