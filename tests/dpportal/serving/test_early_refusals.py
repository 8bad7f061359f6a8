"""Requests that the web server cannot read are refused in words: problem details for programs, a page for people."""

from __future__ import annotations

import json

import pytest

from dpportal.serving import early_refusals
from tests.dpportal.portal_command.starting import Portal, free_port
from tests.dpportal.serving.visitors import connect

LONG = "x" * 9000
SECRET = "who-is-asked-for"


@pytest.fixture(scope="module")
def portal(tmp_path_factory):
    running = Portal(tmp_path_factory.mktemp("portal") / "data", free_port())
    yield running
    running.end()


def answered(portal: Portal, sent: str) -> tuple[int, str, str]:
    """Status, media type and body."""
    with connect(portal.port) as visitor:
        visitor.sendall(sent.encode())
        received = b"".join(iter(lambda: visitor.recv(65536), b""))
    head, _blank, body = received.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value for name, _colon, value in (line.partition(": ") for line in lines)}
    assert int(headers["content-length"]) == len(body.encode())
    return int(first.split()[1]), headers["content-type"], body


REFUSED = {
    414: f"/{SECRET}?q={LONG} HTTP/1.1\r\nHost: localhost\r\n\r\n",
    431: f"/{SECRET} HTTP/1.1\r\nHost: localhost\r\nX-Long: {LONG}\r\n\r\n",
    400: f"/{SECRET} HTTP/1.1\r\nHost: localhost\r\nno header at all\r\n\r\n",
}


@pytest.mark.worker
@pytest.mark.parametrize("status", REFUSED)
def test_programs_get_problem_details_and_people_a_page(portal, status):
    said, kind, body = answered(portal, f"GET /api/v1{REFUSED[status]}")
    problem = json.loads(body)
    assert (said, kind, problem["status"]) == (status, "application/problem+json", status)
    assert problem["title"] and problem["detail"].count(". ") >= 1
    said, kind, page = answered(portal, f"GET /catalogue{REFUSED[status]}")
    assert (said, kind) == (status, "text/html; charset=utf-8")
    assert page.count("<h1>") == 2 and 'lang="zh-hans"' in page
    assert SECRET not in body + page


def too_large(path: str, *headers: str) -> str:
    """More than a stranger may send."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {2**15}", *headers]
    return "\r\n".join([*lines, "", ""])


@pytest.mark.worker
def test_what_is_too_large_is_refused_in_the_language_that_is_named_and_to_people_in_each(portal):
    chinese = "Accept-Language: zh-CN,zh;q=0.9"
    english = "This is larger than the 16 KB that can be sent here."
    _status, kind, body = answered(portal, too_large("/api/v1/datasets", chinese))
    problem = json.loads(body)
    assert (kind, problem["status"]) == ("application/problem+json", 413)
    assert problem["detail"] == "这大于此处可以发送的 16 KB。" and problem["title"].isalpha()
    assert json.loads(answered(portal, too_large("/api/v1/datasets"))[2])["detail"] == english
    script = (chinese, "Accept: application/json")
    _status, _kind, body = answered(portal, too_large("/datasets/new/", *script))
    assert json.loads(body) == {"errors": {"file": [problem["detail"]]}}
    status, kind, page = answered(portal, too_large("/account/sign-in/", chinese))
    assert (status, kind) == (413, "text/html; charset=utf-8")
    assert english in page and problem["detail"] in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"GET /api/v1/datasets HTTP/1.1", "/api/v1/datasets"),
        (b"\x16\x03\x01", None),
        (b"get /api", None),
        (b"", None),
    ],
)
def test_the_path_is_read_of_what_begins_as_a_request(data, path):
    assert early_refusals.path_of(data) == path
