"""Webhooks by a program, and messages that the client reads: both ends of the same signature."""

from __future__ import annotations

import time

import pytest
from standardwebhooks import Webhook as Other

from dpportal.api.dpclient import verified
from dpportal.notices import signing
from dpportal.notices.models import AllowedHost, Webhook

SECRET = signing.new_secret()
BODY = b'{"type": "job.finished"}'


@pytest.fixture
def hook(program, administrator):
    AllowedHost.objects.create(host="hooks.example", by=administrator)
    said = {"address": "https://hooks.example/portal", "kinds": ["job.finished"]}
    return program.said("post", "/webhooks", said, 201)


def test_a_program_adds_changes_tests_and_deletes_a_webhook(program, stranger, hook):
    assert hook["secret"].startswith("whsec_")
    [listed] = program.said("get", "/webhooks")
    assert listed == {name: hook[name] for name in ("id", "address", "kinds", "paused")}
    path = f"/webhooks/{hook['id']}"
    assert program.said("post", f"{path}/test", {}, 202)["state"] == "queued"
    assert "on its way" in program.said("post", f"{path}/test", {}, 409)["detail"]
    assert program.said("get", f"{path}/deliveries")["items"][0]["type"] == "webhook.test"
    assert program.said("patch", path, {"paused": True, "kinds": ["period.added"]})["paused"]
    assert stranger.said("get", f"{path}/deliveries", None, 404)
    program.said("delete", path, None, 204)
    assert not Webhook.objects.exists()


def signed(body: bytes = BODY, now: float | None = None) -> dict[str, str]:
    return signing.headers(SECRET, "an id", body, int(time.time() if now is None else now))


def test_the_client_reads_what_the_portal_signed():
    assert verified(SECRET, {k.title(): v for k, v in signed().items()}, BODY) == {"type": "job.finished"}
    # Several signatures, as while a secret is exchanged.
    both = {**signed(), "webhook-signature": f"v1,AAAA {signed()['webhook-signature']}"}
    assert verified(SECRET, both, BODY)


def test_the_client_reads_what_the_library_signs():
    import datetime as dt

    at = dt.datetime.now(tz=dt.UTC)
    headers = {"webhook-id": "1", "webhook-timestamp": str(int(at.timestamp()))}
    headers["webhook-signature"] = Other(SECRET).sign("1", at, BODY.decode())
    assert verified(SECRET, headers, BODY)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"body": b"other"}, "not good"),
        ({"id": "other"}, "not good"),
        ({"later": -400}, "too long ago"),
        ({"later": 400}, "too long ago"),
        ({"headers": {}}, "has no time"),
    ],
)
def test_the_client_refuses_everything_else(change, text):
    headers = signed(change.get("body", BODY), time.time() + change.get("later", 0))
    headers = change.get("headers", {**headers, "webhook-id": change.get("id", headers["webhook-id"])})
    with pytest.raises(ValueError, match=text):
        verified(SECRET, headers, BODY)
