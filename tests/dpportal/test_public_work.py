"""Nothing public is computed while a visitor waits: at every address, with the largest things, little is done.

What is done is counted, not timed: the calls of functions, of which a processor makes some five million a second. No
file is written, nothing is planned, measured or reconstructed, and of a series few numbers are read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db.models import JSONField
from django.test import Client
from django.urls import get_resolver, reverse

from dpportal.catalogue.models import BundleCheck
from dpportal.jobs.claims import JobState
from dpportal.platform import storage
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.streams import downloads, execution, series, services as stream_services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from tests.dpportal.accounts.test_doors import named
from tests.dpportal.streams import building

PERIODS, COUNTS = 7000, 101
# Other publications in the lists.
OTHERS = 200
# A tenth of a second: three charts of 4,096 points, each drawn for desktops and for phones, take most of it.
MOST_CALLS = 550_000
MOST_NUMBERS = 2 * 40_000
# Characters of JSON that a page reads from the database; and those of a large plan.
MOST_JSON, LARGE = 90_000, 100_000
# Where visitors find something: all else asks them to sign in, or is not there.
PUBLIC = {
    "home", "catalogue", "public_dataset", "sitemap", "robots", "feed", "dcat", "oembed", "signing_keys",
    "health", "guide", "guide_choice", "guide_queries", "guide_microdata", "guide_streams",
    "guide_protection", "admin_sign_in", "check", "checked", "check_progress",
    "guide_risk", "guide_risk_figure",
    "accounts:sign_in", "accounts:choose", "accounts:replace", "accounts:replaced",
    "releases:list", "releases:public", "releases:download", "releases:explore", "releases:cite",
    "releases:croissant", "releases:chart", "releases:embed",
    "streams:list", "streams:public", "streams:download", "streams:cite", "streams:periods",
    "streams:croissant", "streams:chart", "streams:embed",
    "api:catalogue", "api:publication", "api:openapi-json", "api:openapi-view",
}  # fmt: skip
OF_ONE_STREAM = {"oembed"} | {name for name in PUBLIC if name.startswith("streams:")} - {"streams:list"}
# What the addresses of charts name.
CHARTS = {
    f"{kind}:{page}": {"chart": chart, "form": "svg"}
    for kind, chart in (("releases", "main"), ("streams", "series"))
    for page in ("chart", "embed")
}
QUERIES = {
    "catalogue": ["words=colour&kind=histogram", "column=age&page=9"],
    "streams:periods": ["from=6000"],
    "api:catalogue": ["words=colour&kind=histogram", "page=2"],
    "guide_risk": ["definition=zcdp&amount=0.7"],
    "streams:list": ["page=2"],
    "releases:list": ["page=9"],
    "releases:explore": ["colour=0&age=2"],
    "streams:public": [
        "count=3",
        "view=apart&" + "&".join(f"count={place}" for place in range(12)),
        "view=together&" + "&".join(f"count={place}" for place in range(95, 101)),
    ],
}  # fmt: skip


def calls(work: Callable[[], Any]) -> int:
    """How many functions are called, those of C too."""
    number = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return number


@pytest.fixture
def stream(dataset) -> Stream:
    return building.open_stream(dataset)


@pytest.fixture
def long(dataset, monkeypatch) -> Stream:
    """7,000 periods of 101 running counts, with the files of three of them."""
    stream = building.long_stream(dataset, PERIODS, COUNTS)
    with monkeypatch.context() as few:
        few.setattr(downloads, "published", lambda stream: series.newest(stream, 3))
        building.with_files(stream)
    return stream


@pytest.fixture
def published(ready) -> Release:
    """A release among many."""
    services.publish(ready, ready.created_by)
    release = Release.objects.get(pk=ready.pk)
    own = {"id", "charge_id"}
    fields = [f.attname for f in Release._meta.concrete_fields if f.attname not in own]
    Release.objects.bulk_create(
        Release(**{name: getattr(release, name) for name in fields}) for _ in range(OTHERS)
    )
    return release


def addresses(release: Release, stream: Stream) -> Iterator[tuple[str, str]]:
    """Every address of the portal without its admin, by name; downloads for each file, others with some queries."""
    known: dict[str, Any] = {
        "dataset_id": release.dataset_id,
        "release_id": release.pk,
        "stream_id": stream.pk,
    }
    known |= {"position": 0, "ending": "json", "form": "bib", "upload_id": UUID(int=1), "share_id": 1}
    known |= {"token_id": UUID(int=1), "request_id": 1, "uidb64": "MQ", "token": "a-b", "approval_id": 1}
    known |= {"webhook_id": UUID(int=1), "host_id": 1, "choice_id": UUID(int=1)}
    known["check_id"] = BundleCheck.objects.create(state=JobState.DONE, findings=[]).pk
    files = {
        "releases:download": [a.name for a in release.artifacts.all()],
        "streams:download": [f.name for f in downloads.offered(stream).files],
    }
    for publication in (release, stream):
        yield "oembed", f"{reverse('oembed')}?url=http://testserver{publication.get_absolute_url()}"
    for name in sorted(each for each in PUBLIC if each.startswith("api:")):
        of_one = {"publication_id": release.pk} if name == "api:publication" else {}
        yield from ((name, f"{reverse(name, kwargs=of_one)}{query}") for query in _queries(name))
    for name, pattern in named(get_resolver()):
        for file in files.get(name, ["release.json"]):
            keys = pattern.pattern.converters
            address = reverse(
                name, kwargs={key: {**known, **CHARTS.get(name, {}), "name": file}[key] for key in keys}
            )
            yield from ((name, f"{address}{query}") for query in _queries(name))


def _queries(name: str) -> list[str]:
    return ["", *(f"?{query}" for query in QUERIES.get(name, []))]


@pytest.mark.slow
def test_every_public_address_does_little(published, long, monkeypatch) -> None:
    todo = list(addresses(published, long))
    visitor, read = Client(), 0
    # What every page needs once is loaded before anything is counted.
    opened = [(name, address) for name, address in todo if visitor.get(address).status_code == 200]
    found = {name for name, _address in opened}
    assert found == PUBLIC, (
        f"open to strangers and not in PUBLIC, or the other way round: {sorted(found ^ PUBLIC)}"
    )
    made = series._series

    def reading(*arguments: Any) -> series.Series | None:
        nonlocal read
        found = made(*arguments)
        read += found.released.size if found else 0
        return found

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a file was written while a visitor waits")

    monkeypatch.setattr(series, "_series", reading)
    monkeypatch.setattr(storage, "_new_folder", refuse)
    monkeypatch.setattr(storage, "keep_all", refuse)
    for name, address in opened:
        read = 0
        work = calls(partial(visitor.get, address))
        assert work < MOST_CALLS and read <= MOST_NUMBERS, (name, address, work, read)


@pytest.fixture
def large(published, stream) -> tuple[Release, Stream]:
    """Beside others with large plans, as those of many cells are; of the stream the own one is large."""
    execution.publish(stream.pk, [Update(1, (4,), Period.Source.TYPED)])
    stream_services.publish(stream, stream.created_by)
    building.with_files(stream)
    others = Release.objects.exclude(pk=published.pk)
    others.update(plan_json={**published.plan_json, "explanation": "x" * LARGE})
    older, newer = others.values_list("pk", flat=True)[:2]
    Release.objects.filter(pk=published.pk).update(supersedes=older)
    Release.objects.filter(pk=newer).update(supersedes=published)
    Stream.objects.filter(pk=stream.pk).update(plan_json={**stream.plan_json, "explanation": "x" * LARGE})
    return published, stream


@pytest.mark.every_day
@pytest.mark.slow
def test_no_public_address_reads_the_plan_of_another_publication(large, monkeypatch) -> None:
    """The parsing of JSON is one call, so that the number of calls says nothing of it."""
    read, parsed = 0, JSONField.from_db_value

    def reading(field: JSONField, value: Any, *arguments: Any) -> Any:
        nonlocal read
        read += len(value) if isinstance(value, str | bytes) else 0
        return parsed(field, value, *arguments)

    monkeypatch.setattr(JSONField, "from_db_value", reading)
    visitor, too_much = Client(), {}
    for name, address in addresses(*large):
        if name in PUBLIC - {"health"}:  # which reads some newest rows, once in a while
            read = 0
            visitor.get(address)
            if read > MOST_JSON + LARGE * (name in OF_ONE_STREAM):
                too_much[address] = read
    assert not too_much


@pytest.mark.slow
def test_every_public_address_answers_head_as_get_without_a_body(published, stream) -> None:
    execution.publish(stream.pk, [Update(1, (4,), Period.Source.TYPED)])
    stream_services.publish(stream, stream.created_by)
    building.with_files(stream)
    visitor, answered = Client(), set()
    for name, address in addresses(published, stream):
        if name in PUBLIC:
            told, head = visitor.get(address), visitor.head(address)
            body = b"".join(head.streaming_content) if head.streaming else head.content
            assert (head.status_code, body) == (told.status_code, b""), (
                f"{address}: is its view `require_safe`?"
            )
            assert head["Content-Type"] == told["Content-Type"]
            assert head["Permissions-Policy"].startswith("accelerometer=(), ")
            answered.add(name)
    assert answered == PUBLIC, sorted(answered ^ PUBLIC)
