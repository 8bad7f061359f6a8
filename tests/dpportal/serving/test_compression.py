"""Strangers get public pages compressed; no page of a session is, and no download."""

from __future__ import annotations

import gzip

import pytest
from django.http import JsonResponse
from django.test import Client, RequestFactory

from dpportal.releases import services
from dpportal.serving.compression import CompressedPages

GZIP = {"Accept-Encoding": "gzip, br"}


@pytest.fixture
def address(ready) -> str:
    services.publish(ready, ready.created_by)
    return str(ready.get_absolute_url())


def test_a_stranger_gets_the_page_in_a_third_of_its_bytes(address: str) -> None:
    plain = Client().get(address)
    assert "Content-Encoding" not in plain.headers
    answer = Client().get(address, headers=GZIP)
    assert answer.headers["Content-Encoding"] == "gzip" and "Accept-Encoding" in answer.headers["Vary"]
    page = gzip.decompress(answer.content)
    assert b"</html>" in page and len(answer.content) < len(page) / 3
    assert int(answer.headers["Content-Length"]) == len(answer.content)


def test_whoever_does_not_accept_it_gets_the_page_as_it_is(address: str) -> None:
    for refusal in ("gzip;q=0", "identity, gzip; q=0.0", "gzip;q=0, br"):
        answer = Client().get(address, headers={"Accept-Encoding": refusal})
        assert "Content-Encoding" not in answer.headers and "Accept-Encoding" in answer.headers["Vary"]
    weighed = Client().get(address, headers={"Accept-Encoding": "gzip;q=0.5"})
    assert weighed.headers["Content-Encoding"] == "gzip"


def test_a_look_at_the_head_says_what_the_page_would_be(address: str) -> None:
    head = Client().head(address, headers=GZIP)
    assert head.headers["Content-Encoding"] == "gzip" and "Accept-Encoding" in head.headers["Vary"]


def test_the_same_page_has_another_length_each_time(address: str) -> None:
    """A random number of bytes hides the length, whatever stands in the page."""
    assert len({len(Client().get(address, headers=GZIP).content) for _time in range(12)}) > 3


def test_no_page_of_a_session_is_compressed_nor_an_answer_to_a_form(address: str, client, ready) -> None:
    assert "Content-Encoding" not in client.post("/accounts/login/", {"username": "x"}, headers=GZIP).headers
    client.force_login(ready.created_by)
    for page in (address, "/datasets/"):
        assert "Content-Encoding" not in client.get(page, headers=GZIP).headers


def test_a_download_is_sent_as_it_was_signed(address: str) -> None:
    answer = Client().get(f"{address}download/release.json", headers=GZIP)
    assert answer.status_code == 200 and "Content-Encoding" not in answer.headers


def test_an_answer_to_a_program_is_sent_as_it_is() -> None:
    """Programs that check what an operation answers read it as it is described."""
    answered = CompressedPages(lambda _request: JsonResponse({"text": "x" * 10_000}))
    answer = answered(RequestFactory().get("/api/v1/catalogue", headers=GZIP))
    assert "Content-Encoding" not in answer.headers
