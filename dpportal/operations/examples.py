"""What the demonstration shows before anybody did anything: a published release and a running count that goes on.

Both are made as a curator makes them, by the portal's own jobs, and paid from the budget that the demonstration was
granted. What they cost is declared here: it depends on no record.
"""

from __future__ import annotations

import logging
from decimal import Decimal
from pathlib import Path

from django.core.files.base import ContentFile
from django.db import transaction

from dpportal.budgets.models import Budget
from dpportal.datasets import demo_marker
from dpportal.datasets.models import Dataset
from dpportal.publications.draft import Publication
from dpportal.releases import drafts, services as releases
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.products import DraftError
from dpportal.releases.services import ReleaseError
from dpportal.streams import drafts as stream_drafts, services as streams
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Stream, StreamJob
from dpportal.streams.services import StreamError

log = logging.getLogger(__name__)

BATCHES = Path(__file__).resolve().parents[1] / "datasets" / "demonstration" / "batches.csv"
# Of each of the two, in ε; what a curator expects of them is known of this table, which is public.
COST = Decimal("0.5")
PAID = {"amount": COST, "priced_in": Budget.Kind.PURE}
RELEASE = {
    "title": "Adults by age and sex, 1994",
    "columns": ["age", "sex"],
    "mechanism": "laplace-histogram",
    "parameters": {"within_bins": "smooth"},
    "people": 32_000,
}
STREAM = {
    "name": "Adults with more than $50,000 a year, so far",
    "description": "Of the census extract, in batches of 1,000 people in the order of the file.",
    "column": "income",
    "cells": [1],
    "step": Stream.Step.NEXT,
    "horizon": 33,
    "expected": 8000,
    "mechanism": "fda",
}


def go_on(dataset: Dataset) -> bool:
    """Do what is next for both; True once nothing is left. Raises BudgetRefusedError where there is no budget."""
    try:
        are_done = all([_next_of_release(dataset), _next_of_stream(dataset)])
    except (DraftError, ReleaseError, StreamDraftError, StreamError) as refusal:
        log.warning("the demonstration has not all its examples: %s", refusal)
        are_done = True
    if are_done:  # news to nobody
        ReleaseJob.objects.filter(release__dataset=dataset).update(seen=True)
        StreamJob.objects.filter(stream__dataset=dataset).update(seen=True)
    return are_done


def _next_of_release(dataset: Dataset) -> bool:
    release = Release.objects.filter(pk=demo_marker.named("release")).first()
    if release is None:
        _request_release(dataset)
    elif release.is_ready and not _was_published(release):
        releases.publish(release, dataset.owner)
    else:
        return not release.job.active
    return False


@transaction.atomic
def _request_release(dataset: Dataset) -> None:
    own = {"pk": demo_marker.named("release"), "dataset": dataset, "created_by": dataset.owner}
    draft = Release(**own, **PAID, **RELEASE)
    draft.save(force_insert=True)
    version, plan = drafts.plan_of(draft)
    releases.request_release(draft, reviewed=releases.reviewed_as(version, plan), by=dataset.owner)


def _next_of_stream(dataset: Dataset) -> bool:
    stream = Stream.objects.filter(pk=demo_marker.named("stream")).first()
    if stream is None:
        _request_stream(dataset)
    elif _is_in_work(stream):
        return False
    elif stream.is_open and not stream.jobs.filter(kind=StreamJob.Kind.COUNTS).exists():
        file = ContentFile(BATCHES.read_bytes(), name=BATCHES.name)
        streams.queue_counts(stream, file, {}, dataset.owner, confirmed=True)
    elif stream.is_open and not _was_published(stream):
        streams.publish(stream, dataset.owner)
    else:
        return True
    return False


@transaction.atomic
def _request_stream(dataset: Dataset) -> None:
    own = {"pk": demo_marker.named("stream"), "dataset": dataset, "created_by": dataset.owner}
    draft = Stream(**own, **PAID, **STREAM)
    draft.save(force_insert=True)
    version, plan = stream_drafts.plan_of(draft)
    streams.request_opening(draft, reviewed=streams.reviewed_as(draft, version, plan), by=dataset.owner)


def _is_in_work(stream: Stream) -> bool:
    return any(job.active for job in stream.jobs.all())


def _was_published(publication: Publication) -> bool:
    """Whether it was once; its curator may have withdrawn it since."""
    return publication.published_at is not None
