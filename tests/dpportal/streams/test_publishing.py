"""Opening a stream, and publishing each period once."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from dpportal.budgets import ledger
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services as dataset_services
from dpportal.jobs.claims import Claim, JobState, LostClaimError
from dpportal.platform.keys import Keyring, UnsealError, key_id
from dpportal.streams import drafts, execution, job_execution, period_journal, services, tokens, vault
from dpportal.streams.execution import PeriodRefusedError, PublishedPeriod, RefusalReason, Update
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Period, SealedState, SealedSums, Stream, StreamJob
from dpportal.streams.period_journal import DecidedPeriod, Decision
from mechanisms import registry
from mechanisms.noise import Noise
from tests.dpportal import building as world
from tests.dpportal.streams import building
from tests.dpportal.streams.true_sums import true_sums


class CountingSource:
    """The bytes that noise is made of, counted."""

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self, size: int) -> bytes:
        self.drawn += size
        return bytes(range(256)) * (size // 256) + bytes(range(size % 256))


def publish(stream: Stream, index: int, *increments: int, noise: Noise | None = None) -> PublishedPeriod:
    [published] = execution.publish(stream.pk, [Update(index, increments, Period.Source.TYPED)], noise=noise)
    return published


def refusal(stream: Stream, index: int, *increments: int) -> PeriodRefusedError:
    """The refusal of a period, for which nothing is drawn and nothing changes."""
    source = CountingSource()
    before = (
        list(Period.objects.values()),
        list(SealedState.objects.values()),
        list(SealedSums.objects.values()),
    )
    with pytest.raises(PeriodRefusedError) as refused:
        publish(stream, index, *increments, noise=Noise(source))
    assert source.drawn == 0
    after = (
        list(Period.objects.values()),
        list(SealedState.objects.values()),
        list(SealedSums.objects.values()),
    )
    assert after == before
    return refused.value


def test_opening_reserves_then_spends_once(dataset) -> None:
    stream = building.requested_stream(dataset)
    assert LedgerEntry.objects.get(key=stream.pk).state == "reserved"
    job = stream.jobs.get()
    job_execution.STREAM_JOBS.run(job.pk)
    job_execution.STREAM_JOBS.run(job.pk)
    stream.refresh_from_db()
    assert stream.state == "open"
    assert LedgerEntry.objects.get(key=stream.pk).state == "spent"
    assert world.left(dataset) == Decimal("0.5")


def test_a_stream_is_confirmed_once(dataset) -> None:
    stream = building.requested_stream(dataset)
    assert not building.confirm(stream)
    assert LedgerEntry.objects.filter(key=stream.pk).count() == 1


def test_a_plan_that_changed_since_the_review_is_not_opened(dataset) -> None:
    stream = building.draft_stream(dataset)
    with pytest.raises(services.StreamError, match="Read the review again"):
        services.request_opening(stream, reviewed="0" * 32, by=stream.created_by)
    assert world.left(dataset) == 1


def test_a_stream_above_the_budget_is_refused_and_stays_a_draft(dataset) -> None:
    with pytest.raises(ledger.BudgetRefusedError):
        building.requested_stream(dataset, amount=Decimal("1.5"))
    assert Stream.objects.get().state == "draft"
    assert not StreamJob.objects.exists()


@pytest.mark.slow
def test_published_counts_are_the_true_ones_plus_noise_of_the_stated_width(dataset) -> None:
    """At ε = 40 the noise of a count is 0 but for a chance of 2 e^-40."""
    rich = world.granted(dataset, dataset.owner, "40")
    stream = building.open_stream(rich, amount=Decimal(40), mechanism="naive-increments")
    released = [publish(stream, i, count).period.released for i, count in enumerate([5, 3, 4], 1)]
    assert released == [[5], [8], [12]]


@pytest.mark.parametrize("content", [5, 6, 0, 10**30])
def test_whatever_is_sent_again_returns_what_was_published_and_draws_nothing(stream, content: int) -> None:
    first = publish(stream, 1, 5)
    source = CountingSource()
    again = publish(stream, 1, content, noise=Noise(source))
    assert (first.new, again.new) == (True, False)
    assert again.period.released == first.period.released
    assert source.drawn == 0
    assert SealedState.objects.get().version == 1
    assert true_sums(stream.periods.all()) == [[5]]


@pytest.mark.slow
def test_a_key_of_another_period_publishes_nothing_and_one_of_the_same_changes_nothing(stream) -> None:
    first, second = (Update(index, (5,), Period.Source.PROGRAM, "a" * 64) for index in (1, 2))
    execution.publish(stream.pk, [first])
    [again] = execution.publish(stream.pk, [first])
    assert not again.new
    source = CountingSource()
    with pytest.raises(PeriodRefusedError) as refused:
        execution.publish(stream.pk, [second], noise=Noise(source))
    assert (refused.value.why, source.drawn, stream.periods.count()) == (RefusalReason.KEY, 0, 1)
    assert publish(stream, 2, 5).new and publish(stream, 3, 5).new


def test_counts_beyond_the_declared_largest_are_published_as_that_and_only_the_curator_sees(dataset) -> None:
    """20 people and 21, of whom one is the neighbour: both are published, and neither is told from the other."""
    stream = building.open_stream(dataset, largest_increment=20, split=True)
    found = [
        publish(stream, index, *counts) for index, counts in enumerate([(20, 1, 0, 9), (21, 10**40, 0, 9)], 1)
    ]
    assert [one.clipped for one in found] == [0, 2]
    counted = vault.true_counts(stream.periods.all())
    assert counted is not None
    assert [one.sums.tolist() for one in counted] == [[20, 1, 0, 9], [40, 21, 0, 18]]
    assert [one.clipped.tolist() for one in counted] == [[False] * 4, [True, True, False, False]]


@pytest.mark.slow
def test_of_a_period_nothing_in_the_open_depends_on_its_counts_but_the_noisy_ones(dataset) -> None:
    """A digest of a small count would be one, to whoever has the dump and the keys, or can have guesses compared."""
    rows = []
    for count in (5, 6):
        stream = building.open_stream(dataset, amount=Decimal("0.25"))
        publish(stream, 1, count, noise=building.repeated_noise())
        [row] = stream.periods.values()
        rows.append(
            {name: value for name, value in row.items() if name not in ("id", "stream_id", "published_at")}
        )
    released = [row.pop("released")[0] for row in rows]
    assert released[1] - released[0] == 1 and rows[0] == rows[1]


@pytest.mark.parametrize("index", [2, 3, 12])
def test_a_period_out_of_order_is_refused(stream, index: int) -> None:
    refused = refusal(stream, index, 5)
    assert refused.why is RefusalReason.ORDER
    assert "Period 1 is due next" in str(refused)


def test_a_period_beyond_the_horizon_is_refused(dataset) -> None:
    stream = building.open_stream(dataset, horizon=2)
    assert refusal(stream, 3, 1).why is RefusalReason.HORIZON
    publish(stream, 1, 1)
    publish(stream, 2, 1)
    assert refusal(stream, 3, 1).why is RefusalReason.HORIZON


def test_after_its_last_period_a_stream_is_closed_and_keeps_no_noise(dataset) -> None:
    stream = building.open_stream(dataset, horizon=1)
    first = publish(stream, 1, 4)
    stream.refresh_from_db()
    assert stream.state == "closed"
    assert not SealedState.objects.exists()
    assert publish(stream, 1, 5).period.released == first.period.released


def test_a_period_that_has_not_begun_is_refused(dataset, monkeypatch) -> None:
    stream = building.monthly_stream(dataset)
    monkeypatch.setattr("dpportal.streams.calendar.timezone.localdate", lambda: dt.date(2020, 4, 30))
    publish(stream, 1, 5)
    publish(stream, 2, 5)
    refused = refusal(stream, 3, 5)
    assert refused.why is RefusalReason.FUTURE
    assert "1 May 2020" in str(refused)


@pytest.mark.parametrize("state", ["draft", "opening", "closed", "failed"])
def test_a_stream_that_is_not_open_takes_nothing(stream, state: str) -> None:
    Stream.objects.filter(pk=stream.pk).update(state=state)
    assert refusal(stream, 1, 5).why is RefusalReason.CLOSED


def test_several_periods_are_all_published_or_none(stream) -> None:
    updates = [Update(i, (i,), Period.Source.COUNTS) for i in (1, 2, 4)]
    with pytest.raises(PeriodRefusedError):
        execution.publish(stream.pk, updates)
    assert not Period.objects.exists()
    assert SealedState.objects.get().version == 0


@pytest.mark.slow
def test_one_by_one_and_all_at_once_publish_the_same_from_the_same_noise(dataset) -> None:
    one, all_at_once = (building.open_stream(dataset, amount=Decimal("0.25")) for _ in range(2))
    noise = building.repeated_noise()
    for index in range(1, 13):
        publish(one, index, index, noise=noise)
    updates = [Update(i, (i,), Period.Source.COUNTS) for i in range(1, 13)]
    execution.publish(all_at_once.pk, updates, noise=building.repeated_noise())
    columns = ("index", "released", "half_width")
    assert list(one.periods.values(*columns)) == list(all_at_once.periods.values(*columns))


def test_a_worker_that_lost_its_claim_publishes_nothing(stream) -> None:
    job = StreamJob.objects.create(stream=stream, kind="counts", created_by=stream.created_by)
    with pytest.raises(LostClaimError):
        execution.publish(
            stream.pk, [Update(1, (5,), Period.Source.COUNTS)], claim=Claim(StreamJob, job.pk, fence=7)
        )
    assert not Period.objects.exists()


def test_true_sums_are_kept_for_the_curator_and_nowhere_in_plain(stream) -> None:
    """The noise is the same each time, since noise of 0, as good as any other, would publish the true sum."""
    publish(stream, 1, 123457, noise=building.repeated_noise())
    publish(stream, 2, 1, noise=building.repeated_noise())
    assert true_sums(stream.periods.all()) == [[123457], [123458]]
    everything = "".join(
        str(list(model.objects.values())) for model in (Stream, Period, SealedState, SealedSums)
    )
    assert "123457" not in everything


@pytest.mark.slow
def test_a_count_for_every_cell_costs_no_more(dataset) -> None:
    """A person is in one cell: the noise is that of a single count."""
    single = building.open_stream(dataset, amount=Decimal("0.25"))
    split = building.open_stream(dataset, amount=Decimal("0.25"), split=True)
    assert split.labels == ["red", "green", "blue", "Other"]
    assert split.plan.noise == single.plan.noise
    assert len(publish(split, 1, 1, 2, 3, 4).period.released) == 4


def test_a_state_opens_for_its_own_stream_and_version_only(stream) -> None:
    sealed = bytes(SealedState.objects.get().sealed)
    publish(stream, 1, 5)
    SealedState.objects.update(sealed=sealed)  # an older state put back
    with pytest.raises(vault.VaultError, match="were changed"):
        publish(stream, 2, 5)


def test_another_key_opens_nothing_and_says_what_to_do(stream, settings) -> None:
    settings.STREAM_KEYS = Keyring("another" * 10)
    with pytest.raises(vault.VaultError, match="keys/stream_key"):
        publish(stream, 1, 5)
    assert not Period.objects.exists()


def test_a_state_that_changed_meanwhile_is_not_overwritten(stream) -> None:
    state, version = vault.read(stream)
    publish(stream, 1, 5)
    with pytest.raises(vault.StaleStateError):
        vault.replace(stream, state, version)


@pytest.mark.slow
def test_the_length_of_what_is_sealed_tells_nothing_of_a_count(dataset) -> None:
    few, many = (building.open_stream(dataset, amount=half, split=True) for half in building.HALVES)
    publish(few, 1, 0, 1, 9, 0)
    publish(many, 1, 10**12, 10, 10**11, 10**13)
    for model in (SealedState, SealedSums):
        assert len({len(row.sealed) for row in model.objects.all()}) == 1


@pytest.mark.slow
def test_the_size_of_a_remembered_file_tells_nothing_of_a_count(dataset, settings) -> None:
    few, many = (building.open_stream(dataset, amount=half, split=True) for half in building.HALVES)
    for stream, sums in ((few, [0, 1, 9, 99]), (many, [10**17] * 4)):
        period = DecidedPeriod(1, [7] * 4, 3, Period.Source.COUNTS, sums, "0" * 4, "")
        period_journal.decide(stream, Decision(0, "{}", (period,) * 50))
        decided = period_journal.pending(stream)
        assert decided is not None and decided.periods[0].sums == sums
    sizes = {(settings.MEMORY_DIR / f"streams/{s.pk}/1").stat().st_size for s in (few, many)}
    assert len(sizes) == 1


def test_sealing_hides_binds_and_differs_each_time() -> None:
    ring = Keyring("key")
    sealed = ring.seal(b"true counts", bound_to="a")
    assert ring.unseal(sealed, bound_to="a") == b"true counts"
    assert b"true counts" not in sealed
    assert ring.seal(b"true counts", bound_to="a") != sealed
    for content, name in [(sealed, "b"), (sealed[:-1], "a"), (sealed[:4], "a"), (b"", "a")]:
        with pytest.raises(UnsealError):
            ring.unseal(content, bound_to=name)


def test_a_former_key_still_opens_and_a_missing_one_is_named() -> None:
    sealed = Keyring("old").seal(b"true counts", bound_to="a")
    ring = Keyring("new", "old")
    assert ring.unseal(sealed, bound_to="a") == b"true counts"
    renewed = ring.resealed(sealed, bound_to="a")
    assert renewed is not None and ring.resealed(renewed, bound_to="a") is None
    assert Keyring("new").unseal(renewed, bound_to="a") == b"true counts"
    with pytest.raises(UnsealError) as fault:
        Keyring("new").unseal(sealed, bound_to="a")
    assert fault.value.key == key_id("old") and len(fault.value.key) == 8


def test_erasing_the_records_closes_streams_and_forgets_true_counts(stream) -> None:
    publish(stream, 1, 5)
    dataset_services.erase(stream.dataset, stream.created_by)
    stream.refresh_from_db()
    assert stream.state == "closed"
    assert not SealedState.objects.exists() and not SealedSums.objects.exists()
    assert refusal(stream, 2, 5).why is RefusalReason.CLOSED
    assert not publish(stream, 1, 4).new


def test_erasing_the_records_forgets_what_a_file_would_have_published(stream) -> None:
    job = StreamJob.objects.create(
        stream=stream,
        kind=StreamJob.Kind.COUNTS,
        state=JobState.DONE,
        file_name="patients of ward 3.csv",
        options={"preview": {"first": 1, "new": 2, "repeated": 0, "clipped": 1}},
        created_by=stream.created_by,
    )
    dataset_services.erase(stream.dataset, stream.created_by)
    job.refresh_from_db()
    assert (job.options, job.file_name, job.asks) == ({}, "", False)


@pytest.mark.parametrize("change", [{"cells": [1]}, {"column": "age", "cells": [0]}, {"horizon": 99}])
def test_what_another_window_changed_is_not_confirmed_unread(dataset, change) -> None:
    draft = building.draft_stream(dataset)
    version, plan = drafts.plan_of(draft)
    shown = services.reviewed_as(draft, version, plan)
    Stream.objects.filter(pk=draft.pk).update(**change)
    with pytest.raises((services.StreamError, StreamDraftError)):
        services.request_opening(draft, reviewed=shown, by=dataset.owner)
    assert not LedgerEntry.objects.filter(key=draft.pk).exists()


def test_a_draft_cannot_be_opened_once_the_records_are_erased(dataset) -> None:
    draft = building.draft_stream(dataset)
    dataset_services.erase(dataset, dataset.owner)
    with pytest.raises(services.StreamError, match="records of this dataset were deleted"):
        building.confirm(draft)
    draft.refresh_from_db()
    assert draft.is_draft and not LedgerEntry.objects.filter(key=draft.pk).exists()


def test_closing_ends_the_token_and_the_noise(stream) -> None:
    token = services.renew_token(stream, stream.created_by)
    stream.refresh_from_db()
    assert tokens.opens(token, stream)
    services.close(stream, stream.created_by)
    stream.refresh_from_db()
    assert not tokens.opens(token, stream)
    assert not SealedState.objects.exists()
    assert refusal(stream, 1, 5).why is RefusalReason.CLOSED


def test_half_widths_are_those_of_the_plan(stream) -> None:
    widths = registry.stream("fda").half_widths(stream.plan, np.arange(1, 4))
    published = [publish(stream, i, 1).period.half_width for i in (1, 2, 3)]
    assert published == widths.tolist()
