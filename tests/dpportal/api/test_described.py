"""The API does what its description says: no answer of 500 or above, and each fits, whatever is sent."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import openapi
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.codebooks.json_file import attribute
from dpportal.notices.models import Webhook
from dpportal.releases import services
from mechanisms.domain.product import KINDS
from tests.dpportal.streams import building as streams

EXAMPLES = 3
DESCRIPTION = "/api/v1/openapi.json"
# Pieces of uploads are bytes.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.fixture
def known(ready) -> dict[str, str]:
    """What addresses name: a dataset, its published release, its running count, a file."""
    services.publish(ready, ready.created_by)
    stream = streams.open_stream(ready.dataset)
    webhook = Webhook.objects.create(person=ready.dataset.owner, address="https://hooks.example/")
    begun = BegunUpload.objects.create(owner=ready.dataset.owner, file_name="new.csv", size=1, megabytes=1)
    return {
        "dataset_id": str(ready.dataset_id),
        "release_id": str(ready.pk),
        "stream_id": str(stream.pk),
        "publication_id": str(ready.pk),
        "webhook_id": str(webhook.pk),
        "upload_id": str(begun.pk),
        "name": "release.json",
    }


def tried(operation: Any, known: dict[str, str], headers: dict[str, str]) -> None:
    """One operation, with what Hypothesis makes of its description; what each request did is undone."""
    places = {parameter.name for parameter in operation.path_parameters}
    pinned = {name: value for name, value in known.items() if name in places}

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(path_parameters=pinned or None))
    def sent(case: schemathesis.Case) -> None:
        with transaction.atomic():
            answer = case.call(headers=headers)
            transaction.set_rollback(True)
        case.validate_response(answer, checks=CHECKS)

    sent()


@pytest.mark.slow
def test_every_operation_answers_as_it_is_described(program, known):
    schema = openapi.from_wsgi(DESCRIPTION, get_wsgi_application())
    operations = [found.ok() for found in schema.get_all_operations()]
    # What deletes files comes last: they do not come back.
    operations.sort(key=lambda operation: operation.method.lower() == "delete")
    headers = {"Authorization": f"Bearer {program.text}"}
    assert len(operations) > 30
    for operation in operations:
        # Whatever minute it is, a token has room for all of them.
        type(program.token).objects.update(minute=None, requests=0)
        tried(operation, known, headers)


def test_the_description_is_of_openapi_3_1_and_names_problems(client, db):
    description = client.get(DESCRIPTION).json()
    assert description["openapi"] == "3.1.0"
    told = [
        operation["responses"]["default"]["content"]
        for operations in description["paths"].values()
        for operation in operations.values()
    ]
    assert all("application/problem+json" in content for content in told)


def test_the_description_is_in_the_language_of_its_reader(client, db, curator):
    """Of a program without one in English; what has no Chinese sign in it has no translation."""

    def shown(**headers: str) -> dict[str, Any]:
        answer = client.get(DESCRIPTION, headers=headers)
        assert "Accept-Language" in answer["Vary"]
        return answer.json()

    english, chinese = shown(), shown(accept_language="zh-CN,zh;q=0.9")
    assert english["paths"]["/api/v1/catalogue"]["get"]["summary"] == "Search what is published, newest first"
    said = set(texts_of(chinese))
    assert len(said) > 100 and not {text for text in said if not re.search("[\u4e00-\u9fff]", text)}
    curator.language = "zh-hans"
    curator.save()
    client.force_login(curator)
    assert shown(accept_language="en") == chinese


def texts_of(described: Any) -> list[str]:
    """Descriptions and summaries, wherever they stand."""
    if isinstance(described, list):
        return [text for each in described for text in texts_of(each)]
    if not isinstance(described, dict):
        return []
    own = [described[name] for name in ("summary", "description") if isinstance(described.get(name), str)]
    return own + [text for each in described.values() for text in texts_of(each)]


CHINESE = {"accept_language": "zh-hans"}


@pytest.mark.parametrize(
    ("method", "path", "said", "place", "english"),
    [
        ("post", "/releases", {}, "dataset", "missing"),
        ("post", "/releases", {"dataset": "x"}, "dataset", "UUID"),
        ("post", "/releases", {"poem": 1}, "poem", "Nothing here has this name"),
        ("get", "/releases?page=0", None, "page", "at least 1"),
        ("get", "/releases?pages=2", None, "pages", "Nothing here has this name"),
        ("post", "/webhooks?address=x", {"address": "https://x/", "kinds": []}, "address", "Nothing here"),
        ("get", "/catalogue?word=x", None, "word", "Nothing here has this name"),
        ("get", "/releases?page=first", None, "page", "whole number"),
        ("post", "/webhooks", {"address": "https://x/", "kinds": 5}, "kinds", "a list"),
        ("post", "/webhooks", {"address": 5, "kinds": []}, "address", "a text"),
    ],
)
def test_what_does_not_fit_is_said_in_the_language_that_a_request_names(
    program, method, path, said, place, english
):
    """In English where it names none; the framework's own sentences are in no answer."""
    answer = program.said(method, path, said, 422)
    again = program.said(method, path, said, 422, **CHINESE)
    assert answer["errors"].keys() == again["errors"].keys()
    [text], [chinese] = answer["errors"][place], again["errors"][place]
    assert english in text and answer["detail"] and answer["title"] == "Unprocessable Entity"
    assert re.search("[\u4e00-\u9fff]", again["title"])
    assert re.search("[\u4e00-\u9fff]", chinese) and re.search("[\u4e00-\u9fff]", again["detail"])


def test_refusals_and_strangers_are_told_in_the_language_that_they_name(program, draft):
    there = program.said("post", f"/releases/{draft.pk}/cancel", {}, 409, **CHINESE)
    lost = program.said("get", f"/releases/{uuid4()}", None, 404, **CHINESE)
    nowhere = program.said("get", "/poems", None, 404, **CHINESE)
    stranger = program.client.get("/api/v1/releases", headers={"Accept-Language": "zh-CN"}).json()
    for told in (there, lost, nowhere, stranger):
        assert re.search("[\u4e00-\u9fff]", told["detail"]), told
    # What programs read besides is in English.
    assert program.said("get", f"/releases/{draft.pk}", **CHINESE) == program.said(
        "get", f"/releases/{draft.pk}"
    )


def test_a_column_of_every_kind_stands_in_the_description_and_can_be_declared(client, db):
    schemas = client.get(DESCRIPTION).json()["components"]["schemas"]
    [example] = schemas["DeclarationInput"]["properties"]["columns"]["examples"]
    declared = [attribute(name, entry) for name, entry in example.items()]
    assert {each.kind for each in declared} == set(KINDS)
