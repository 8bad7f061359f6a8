"""Other people's things do not exist for a program either; and what is open to strangers does little."""

from __future__ import annotations

from functools import partial
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.api.v1 import urls
from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.models import Right, Share
from dpportal.jobs.claims import JobState
from dpportal.notices.models import Webhook
from dpportal.releases import services
from dpportal.streams.models import StreamJob
from tests.dpportal.building import requested_values
from tests.dpportal.streams import building as streams
from tests.dpportal.test_public_work import MOST_CALLS, calls

# Open to everyone, without a token.
PUBLIC = {"openapi-json", "openapi-view", "catalogue", "publication", "products"}
# Of nobody's dataset: lists of one's own, and where something begins.
GENERAL = {
    *("openapi-json", "openapi-view", "api-root", "catalogue", "products"),
    *(
        "datasets",
        "upload",
        "releases",
        "draft",
        "streams",
        "draft_stream",
        "webhooks",
        "add_webhook",
        "begin_upload",
        *("begin_counted", "offered_tables", "connect_table"),
    ),
}
# 412: of a request that names no version of tus, before anything is looked for.
CLOSED = {401, 404, 405, 412, 422}
# For whoever may see a dataset, and for whoever may release from it besides; all else is for owners.
FOR_SEERS = {
    "dataset",
    *("rename", "remove"),
    *("shares", "share", "take_back"),
    "declaration",
    "declare",
    "budgets",
    "ask",
    "file",
    "publication",
    "plan",
    "offers",
    "chosen_values",
}


@pytest.fixture
def known(ready, analyst) -> dict[str, UUID | str]:
    stream = streams.open_stream(ready.dataset)
    ids = {"dataset_id": ready.dataset_id, "release_id": ready.pk, "stream_id": stream.pk}
    webhook = Webhook.objects.create(person=ready.dataset.owner, address="https://hooks.example/")
    ids["webhook_id"] = webhook.pk
    begun = BegunUpload.objects.create(owner=ready.dataset.owner, file_name="new.csv", size=1, megabytes=1)
    ids["upload_id"] = begun.pk
    ids["share_id"] = Share.objects.create(dataset=ready.dataset, person=analyst, right=Right.SEE).pk
    ids["choice_id"] = requested_values(ready.dataset).pk
    file = StreamJob.objects.create(
        stream=stream, kind=StreamJob.Kind.COUNTS, created_by=stream.created_by, state=JobState.DONE
    )
    ids["file_id"] = file.pk
    return {**ids, "publication_id": ready.pk, "name": "release.json"}


def addresses(known) -> dict[str, str]:
    """Every address of the API that names something, by its name."""
    found = {}
    for pattern in urls[0]:
        keys = pattern.pattern.converters
        if keys:
            found[str(pattern.name)] = reverse(
                f"api:{pattern.name}", kwargs={key: known[key] for key in keys}
            )
    return found


def statuses(client: Client, address: str, **headers: str) -> set[int]:
    sent = {"data": "{}", "content_type": "application/json"}
    asked = {client.get(address, headers=headers).status_code}
    methods = (client.post, client.put, client.patch, client.delete)
    return asked | {method(address, headers=headers, **sent).status_code for method in methods}


def test_every_address_is_general_or_names_something_owned(known):
    names = {str(pattern.name) for pattern in urls[0]}
    wrong = names ^ (GENERAL | set(addresses(known)))
    assert not wrong, f"{sorted(wrong)}: in GENERAL, if the address has no part, and only then"


@pytest.mark.slow
def test_a_stranger_finds_nothing(stranger, known):
    for name, address in addresses(known).items():
        found = statuses(stranger.client, address, Authorization=f"Bearer {stranger.text}")
        assert found <= CLOSED, (name, found)


def test_without_a_token_only_what_is_public_answers(client, known):
    for name, address in addresses(known).items():
        found = statuses(client, address)
        assert found <= ({404, 405} if name in PUBLIC else {401, 405}), (name, found)


@pytest.mark.slow
def test_a_share_opens_what_its_right_says(stranger, known, ready):
    Share.objects.create(dataset=ready.dataset, person=stranger.token.by, right=Right.SEE)
    for name, address in addresses(known).items():
        answer = stranger.client.get(address, headers={"Authorization": f"Bearer {stranger.text}"})
        if name in FOR_SEERS:
            assert answer.status_code in (200, 405), (name, answer.status_code)
        else:
            assert answer.status_code in CLOSED, (name, answer.status_code)


def test_what_is_not_there_looks_like_what_is_not_theirs(stranger, known):
    theirs = stranger.send("get", f"/releases/{known['release_id']}")
    nobodys = stranger.send("get", f"/releases/{uuid4()}")
    assert theirs.content == nobodys.content and theirs.status_code == 404


@pytest.mark.slow
def test_what_is_public_does_little(known, ready):
    services.publish(ready, ready.created_by)
    visitor = Client()
    for name in PUBLIC:
        pattern = next(pattern for pattern in urls[0] if pattern.name == name)
        kwargs = {key: known[key] for key in pattern.pattern.converters}
        address = reverse(f"api:{name}", kwargs=kwargs)
        assert visitor.get(address).status_code == 200, name
        assert calls(partial(visitor.get, address)) < MOST_CALLS, name
