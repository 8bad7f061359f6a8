"""An identifier in capitals is answered as the one in small letters: pages lead to it, programs get the answer."""

from __future__ import annotations

import pytest

from dpportal.releases import services
from dpportal.serving.small_ids import with_small_ids
from tests.dpportal.api.calling import Program


def test_pages_lead_to_their_own_address(client, ready):
    services.publish(ready, ready.created_by)
    address = ready.get_absolute_url()
    asked = address.replace(str(ready.pk), str(ready.pk).upper())
    for page in (asked, f"{asked}?column=age", f"{asked}download/release.json"):
        answer = client.get(page)
        assert (answer.status_code, answer["Location"]) == (301, page.replace(asked, address))
        assert client.get(page, follow=True).status_code == 200


def test_forms_and_programs_are_answered_at_once(client, ready):
    capitals = str(ready.pk).upper()
    shown = Program(ready.created_by).send("get", f"/releases/{capitals}")
    assert shown.status_code == 200 and shown.json()["id"] == str(ready.pk)
    client.force_login(ready.created_by)
    sent = client.post(f"/releases/{capitals}/publish/", {})
    assert sent.status_code == client.post(f"/releases/{ready.pk}/publish/", {}).status_code != 404


@pytest.mark.parametrize("path", ["/static/ABC.css", "/check/", "/x/AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE0/"])
def test_other_capitals_stay(path):
    assert with_small_ids(path) == path
