"""A curator's way from the dataset to a published running count, page by page."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from dpportal.accounts.models import AuditEntry
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import domain_fit, domain_fit_job, services as dataset_services
from dpportal.streams import execution, job_execution, services, tokens
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, SealedState, SealedSums, Stream, StreamJob
from mechanisms import registry
from mechanisms.domain import Categorical
from tests.dpportal.streams import building
from tests.dpportal.streams.true_sums import true_sums


def text(response: Any) -> str:
    return response.content.decode()


COUNTED = {"name": "Red ones", "mode": "chosen", "column": "colour"}
TIMING = {"step": "month", "first_day": "2020-03-15", "horizon": "24", "cells": ["0", "2"]}


@pytest.mark.slow
def test_the_whole_way_in_the_browser(curious, dataset) -> None:
    step = curious.post(f"/streams/new/{dataset.pk}/", COUNTED, follow=True)
    draft = Stream.objects.get()
    assert step.redirect_chain == [(f"/streams/{draft.pk}/timing/", 302)]
    step = curious.post(f"/streams/{draft.pk}/timing/", TIMING, follow=True)
    assert "Fenwick" in text(step)
    step = curious.post(f"/streams/{draft.pk}/strategy/", {"amount": "0.25", "mechanism": "fda"}, follow=True)
    assert "Spend ε 0.25 and open the running count" in text(step)
    reviewed = step.context["form"]["reviewed"].value()
    step = curious.post(f"/streams/{draft.pk}/review/", {"reviewed": reviewed, "agreed": "on"}, follow=True)
    assert "Waiting for a worker" in text(step)
    job_execution.STREAM_JOBS.run(draft.jobs.get().pk)
    draft.refresh_from_db()
    assert (draft.state, draft.cells, draft.horizon) == ("open", [0, 2], 24)

    home = curious.get(f"/streams/{draft.pk}/home/")
    assert "Next period due: March 2020." in text(home)
    typed = curious.post(f"/streams/{draft.pk}/add/", {"index": "1", "count-0": "12"}, follow=True)
    assert "Period March 2020 was added." in text(typed)
    assert "Next period due: April 2020." in text(typed)
    again = curious.post(f"/streams/{draft.pk}/add/", {"index": "1", "count-0": "12"}, follow=True)
    other = curious.post(f"/streams/{draft.pk}/add/", {"index": "1", "count-0": "13"}, follow=True)
    for page in (again, other):
        assert "Period March 2020 is published already and stays as it is." in text(page)
        assert (
            "A late record goes into the next period, April 2020. Overcounts cannot be corrected later"
            in text(page)
        )
        assert "To correct what was counted too much" not in text(page)
    assert Period.objects.count() == 1


def test_the_most_accurate_strategy_is_suggested_and_taken_unless_another_is_picked(curious, dataset) -> None:
    draft = building.draft_stream(dataset, mechanism="", amount=None)
    page = curious.get(f"/streams/{draft.pk}/strategy/")
    offers = page.context["offers"]
    errors = [offer.standard_error for offer in offers if offer.plan]
    assert errors == sorted(errors)
    suggested = page.context["suggested"].mechanism
    assert not suggested.reference
    curious.post(f"/streams/{draft.pk}/strategy/", {"amount": "0.5"})
    draft.refresh_from_db()
    assert draft.mechanism == suggested.name


def test_the_table_follows_the_cost_without_a_reload(curious, dataset) -> None:
    draft = building.draft_stream(dataset)
    headers = {"HX-Request": "true"}
    small, large = (
        curious.post(
            f"/streams/{draft.pk}/strategy/", {"amount": amount, "mechanism": "fda"}, headers=headers
        )
        for amount in ("0.1", "0.9")
    )
    assert "<html" not in text(small) and 'id="offers"' in text(small)
    error = [r.context["offers"][0].standard_error for r in (small, large)]
    assert error[0] > 8 * error[1]
    assert curious.post(f"/streams/{draft.pk}/strategy/", {"amount": "x"}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"horizon": "0"}, "at least 1 period"),
        ({"horizon": "-5"}, "at least 1 period"),
        ({"horizon": "10000000"}, "at most 1048576 periods"),
        ({"horizon": "1.5"}, "whole number"),
        ({"first_day": ""}, "a day in the first period"),
        ({"first_day": "2020-02-30"}, "valid date"),
        ({"first_day": "9999-12-01"}, "after the year 9999"),
        ({"step": "year"}, "valid choice"),
        ({"cells": []}, "at least one value"),
        ({"cells": ["99"]}, "99"),
    ],
)
def test_periods_that_cannot_be_are_refused_in_the_form(
    curious, dataset, wrong: dict[str, Any], told: str
) -> None:
    draft = building.draft_stream(dataset, horizon=7)
    page = curious.post(f"/streams/{draft.pk}/timing/", {**TIMING, **wrong})
    assert page.status_code == 422
    assert told in text(page)
    draft.refresh_from_db()
    assert draft.horizon == 7


@pytest.mark.slow
@pytest.mark.parametrize("horizon", ["1", "", "1048576"])
def test_one_period_none_and_a_million_are_possible(curious, dataset, horizon: str) -> None:
    draft = building.draft_stream(dataset)
    curious.post(f"/streams/{draft.pk}/timing/", {"step": "next", "cells": ["0"], "horizon": horizon})
    page = curious.get(f"/streams/{draft.pk}/strategy/")
    assert page.status_code == 200
    draft.refresh_from_db()
    assert draft.horizon == (int(horizon) if horizon else None)


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"name": ""}, "name"),
        ({"mode": ""}, "Choose which rows count"),
        ({"column": ""}, "Choose the column"),
        ({"column": "nothing"}, "valid choice"),
        ({"summed": "colour"}, "valid choice"),
        ({"largest_increment": "0"}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_the_form(
    curious, dataset, wrong: dict[str, Any], told: str
) -> None:
    page = curious.post(f"/streams/new/{dataset.pk}/", {**COUNTED, **wrong})
    assert page.status_code == 422
    assert told in text(page)
    assert not Stream.objects.exists()


def test_a_column_that_is_summed_cannot_choose_the_rows_too(curious, dataset) -> None:
    draft = building.draft_stream(dataset, column="age", summed="age")
    page = curious.get(f"/streams/{draft.pk}/strategy/")
    assert "cannot both be added up and choose the rows" in text(page)


def test_a_cost_above_what_is_left_is_told_and_nothing_is_reserved(curious, dataset) -> None:
    draft = building.draft_stream(dataset, amount=2)
    page = curious.get(f"/streams/{draft.pk}/review/")
    assert "ε = 1.00 left" in text(page) and "Ask for this" in text(page)
    reviewed = page.context["form"]["reviewed"].value()
    page = curious.post(f"/streams/{draft.pk}/review/", {"reviewed": reviewed, "agreed": "on"})
    assert page.status_code == 422
    assert not LedgerEntry.objects.filter(key=draft.pk).exists()


def test_a_typed_count_above_the_declared_largest_is_taken_as_that_and_who_typed_it_is_told(
    curious, dataset
) -> None:
    stream = building.open_stream(dataset, largest_increment=20)
    page = curious.post(f"/streams/{stream.pk}/add/", {"index": "1", "count-0": "9" * 30}, follow=True)
    assert "Period 1 was added. 1 count was larger than 20, the largest that was declared" in text(page)
    assert true_sums(stream.periods.all()) == [[20]]
    address = f"/streams/{stream.pk}/"
    assert "at most 20 in a period" in text(curious.get(address))
    building.with_files(stream)
    files = (("README.md", "At most 20 count in a period"), ("report.html", "at most 20 in a period"))
    for name, said in files:
        assert said in b"".join(curious.get(f"{address}download/{name}").streaming_content).decode()


@pytest.mark.parametrize("count", ["-1", "1.5", "", "many"])
def test_a_typed_count_that_is_none_is_refused_in_the_form(curious, stream, count: str) -> None:
    page = curious.post(f"/streams/{stream.pk}/add/", {"index": "1", "count-0": count})
    assert page.status_code == 422
    assert not Period.objects.exists()


@pytest.mark.parametrize("index", ["0", "2", "13", "x", "", "9" * 12])
def test_a_typed_period_that_is_not_due_is_refused(curious, stream, index: str) -> None:
    page = curious.post(f"/streams/{stream.pk}/add/", {"index": index, "count-0": "1"}, follow=True)
    assert page.status_code in (200, 422)
    assert not Period.objects.exists()


def test_pasted_periods_appear_without_a_reload(curious, stream) -> None:
    curious.post(
        f"/streams/{stream.pk}/add/many/", {"pasted": "period,count\n1,5\n2,3\n", "dates": "%Y-%m-%d"}
    )
    live = f"/streams/{stream.pk}/live/"
    before = curious.get(live)
    assert "Waiting for a worker" in text(before)
    seen = {"seen": before.context["mark"], "state": "open"}
    assert curious.get(live, seen).status_code == 204
    job_execution.STREAM_JOBS.run(StreamJob.objects.get(kind="counts").pk)
    asked = curious.get(live, seen)
    assert "Add 2 periods?" in text(asked) and not Period.objects.exists()
    seen["seen"] = asked.context["mark"]
    curious.post(f"/streams/{stream.pk}/add/file/confirm/")
    job_execution.STREAM_JOBS.run(StreamJob.objects.get(kind="counts").pk)
    after = curious.get(live, seen)
    assert after.status_code == 200
    assert "everything in it was added" in text(after)
    assert "HX-Refresh" not in after


def test_an_open_page_says_when_the_period_of_its_forms_is_published(curious, stream) -> None:
    overtaken = "forms below are still for the period before"
    home = curious.get(f"/streams/{stream.pk}/home/")
    assert "forms_due=1" in text(home) and overtaken not in text(home)
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.PROGRAM)])
    live = curious.get(f"/streams/{stream.pk}/live/", {"forms_due": "1", "state": "open"})
    assert overtaken in text(live) and "Go on with period 2" in text(live)
    assert "forms_due=1" in text(live)
    assert overtaken not in text(curious.get(f"/streams/{stream.pk}/home/"))
    assert curious.get(f"/streams/{stream.pk}/live/", {"forms_due": "x"}).status_code == 200


def test_the_bell_rings_for_a_stream_that_was_opened_until_someone_looked(curious, dataset) -> None:
    bell = 'aria-label="1 piece of news"'
    stream = building.requested_stream(dataset)
    assert bell not in text(curious.get("/streams/"))
    job_execution.STREAM_JOBS.run(stream.jobs.get().pk)
    assert bell in text(curious.get("/streams/"))
    finished = text(curious.get("/releases/finished/"))
    assert f'<a href="/streams/{stream.pk}/home/">Red ones so far: Opening</a>' in finished
    assert bell not in text(curious.get("/streams/"))


def test_a_job_whose_end_the_stream_page_showed_does_not_ring(curious, dataset) -> None:
    stream = building.open_stream(dataset)
    curious.get(f"/streams/{stream.pk}/live/")
    assert stream.jobs.get().seen


def test_the_page_reloads_when_the_stream_is_opened(curious, dataset) -> None:
    stream = building.requested_stream(dataset)
    job_execution.STREAM_JOBS.run(stream.jobs.get().pk)
    live = curious.get(f"/streams/{stream.pk}/live/", {"state": "opening"})
    assert live["HX-Refresh"] == "true"


@pytest.mark.slow
def test_a_file_of_records_in_the_browser(curious, stream) -> None:
    file = SimpleUploadedFile("march.csv", b"colour,age\nred,3\nred,4\nblue,5\n")
    page = curious.post(f"/streams/{stream.pk}/add/records/", {"index": "1", "file": file}, follow=True)
    assert "being counted" in text(page)
    job_execution.STREAM_JOBS.run(StreamJob.objects.get(kind="records").pk)
    assert "march.csv: everything in it was added" in text(curious.get(f"/streams/{stream.pk}/live/"))


def test_a_file_for_a_period_that_is_not_due_is_refused_at_once(curious, stream) -> None:
    file = SimpleUploadedFile("march.csv", b"colour,age\nred,3\n")
    page = curious.post(f"/streams/{stream.pk}/add/records/", {"index": "2", "file": file}, follow=True)
    assert "Period 1 is due next" in text(page)
    assert not StreamJob.objects.filter(kind="records").exists()


def test_the_token_is_shown_once(curious, stream) -> None:
    page = curious.post(f"/streams/{stream.pk}/token/")
    token = page.context["token"]
    assert page["Cache-Control"] == "no-store, private"
    assert f"Authorization: Bearer {token}" in text(page)
    stream.refresh_from_db()
    assert tokens.opens(token, stream)
    assert token not in text(curious.get(f"/streams/{stream.pk}/home/"))


def test_the_page_offers_no_true_counts_that_were_erased(curious, stream) -> None:
    link = f'href="/streams/{stream.pk}/compare/"'
    assert link in text(curious.get(f"/streams/{stream.pk}/home/"))
    dataset_services.erase(stream.dataset, stream.created_by)
    assert link not in text(curious.get(f"/streams/{stream.pk}/home/"))


def test_the_compare_page_shows_true_counts_and_is_recorded(curious, stream) -> None:
    for index, count in enumerate((70001, 3, 4), 1):
        curious.post(f"/streams/{stream.pk}/add/", {"index": index, "count-0": count})
    page = curious.get(f"/streams/{stream.pk}/compare/")
    assert [row["true"] for row in page.context["rows"]] == [70008, 70004, 70001]
    for choice in ("publish", "withdraw"):  # chosen on a page without true counts
        assert f"/streams/{stream.pk}/{choice}/" not in page.text
    assert page["Cache-Control"] == "no-store, private"
    assert AuditEntry.objects.filter(action="viewed true counts", subject=f"stream {stream.pk}").count() == 1


def test_a_failed_opening_gives_the_budget_back_and_says_so(curious, dataset) -> None:
    stream = building.requested_stream(dataset)
    StreamJob.objects.update(state="running", attempts=3, lease_until=dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
    job_execution.STREAM_JOBS.give_up(stream.jobs.get().pk, "It was interrupted.")
    stream.refresh_from_db()
    assert (stream.state, LedgerEntry.objects.get(key=stream.pk).state) == ("failed", "void")
    assert "budget is free again" in text(curious.get(f"/streams/{stream.pk}/home/"))
    curious.post(f"/streams/{stream.pk}/again/")
    again = Stream.objects.get(state="draft")
    assert all(getattr(again, name) == getattr(stream, name) for name in services.CHOICES)


def test_a_draft_that_was_confirmed_in_another_window_stays_as_it_was_confirmed(dataset) -> None:
    stale = building.draft_stream(dataset)
    building.confirm(stale)
    stale.horizon = 99
    assert not stale.keep(["horizon"])
    kept = Stream.objects.get()
    assert (kept.horizon, kept.state) == (12, "opening")


def test_the_review_warns_of_rows_that_nothing_declared_has_a_place_for(curious, dataset) -> None:
    draft = building.draft_stream(dataset)
    assert "Nobody has looked yet" in text(curious.get(f"/streams/{draft.pk}/review/"))
    dataset_services.declare(dataset, "colour", Categorical("colour", values=("red",)))
    Stream.objects.filter(pk=draft.pk).update(cells=[0])
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    answer = curious.get(f"/streams/{draft.pk}/review/")
    assert "of the rows do not fit what was declared for colour" in text(answer)
    assert "no-store" in answer["Cache-Control"]
    assert AuditEntry.objects.filter(action="viewed the fit").count() == 1


PAGES = ["home", "live", "counted", "timing", "strategy", "review", "compare"]
ACTS = [
    "add",
    "add/records",
    "add/file/confirm",
    "add/file/drop",
    "add/many",
    "token",
    "close",
    "publish",
    "withdraw",
    "details",
    "again",
    "discard",
]


def test_another_curator_finds_nothing(client, other_curator, stream) -> None:
    client.force_login(other_curator)
    asks = [*((client.get, page) for page in PAGES), *((client.post, page) for page in ACTS)]
    answers = {page: ask(f"/streams/{stream.pk}/{page}/").status_code for ask, page in asks}
    assert answers == dict.fromkeys([*PAGES, *ACTS], 404)
    assert Stream.objects.get().state == "open"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_every_state_is_answered(curious, dataset, page: str) -> None:
    draft = building.draft_stream(dataset)
    opening = building.requested_stream(dataset, amount=building.HALVES[0])
    opened = building.open_stream(dataset, amount=building.HALVES[1], horizon=None, mechanism=endless())
    for one in (draft, opening, opened):
        assert curious.get(f"/streams/{one.pk}/{page}/").status_code in (200, 302)


def endless() -> str:
    return next(m.name for m in registry.STREAMS if getattr(m, "endless", False))


def test_dataset_and_ledger_lead_to_the_stream(curious, stream) -> None:
    link = f'href="/streams/{stream.pk}/home/"'
    assert link in text(curious.get(f"/datasets/{stream.dataset_id}/"))
    assert link in text(curious.get(f"/datasets/{stream.dataset_id}/ledger/"))


def test_lists_show_own_and_published(curious, client, stream) -> None:
    assert "Red ones so far" in text(curious.get("/streams/"))
    assert "Red ones so far" not in text(curious.get("/streams/?show=published"))
    curious.post(f"/streams/{stream.pk}/publish/", {"all_the_same": "on"})
    assert "Red ones so far" in text(Client().get("/streams/"))
    curious.post(f"/streams/{stream.pk}/withdraw/")
    assert "Red ones so far" not in text(Client().get("/streams/"))


def test_the_admin_shows_no_count_no_token_and_no_secret(client, administrator, stream) -> None:
    token = services.renew_token(stream, stream.created_by)
    stream.refresh_from_db()
    client.force_login(administrator)
    job = stream.jobs.get()
    pages = ["streams/stream/", f"streams/stream/{stream.pk}/change/", "streams/streamjob/"]
    pages.append(f"streams/streamjob/{job.pk}/change/")
    shown = "".join(text(client.get(f"/admin/{page}")) for page in pages)
    assert "Red ones so far" in shown
    sealed = bytes(SealedState.objects.get().sealed).hex()[:20]
    for secret in (token, stream.token_sha256, sealed, "&quot;noise&quot;"):
        assert secret not in shown
    for model in (SealedState, SealedSums, Period):
        assert client.get(f"/admin/streams/{model._meta.model_name}/").status_code == 404
    assert client.post(f"/admin/streams/stream/{stream.pk}/delete/").status_code == 403
