"""What proxies say of a visitor is believed from the site's declared proxies, and from nobody else."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from dpportal.accounts.addresses import client_address
from dpportal.platform.environment import networks
from dpportal.serving import gunicorn_conf
from dpportal.serving.forwarding import FORWARDED, DeclaredProxies

SECURE = ("HTTP_X_FORWARDED_PROTO", "https")
CLAIMED = {
    "X-Forwarded-For": "203.0.113.5", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Port": "1", "X-Real-IP": "203.0.113.5", "Forwarded": "for=203.0.113.5", "X-Request-ID": "theirs",
}  # fmt: skip


def received(peer: str, headers: dict[str, str]) -> HttpRequest:
    """The request as views get it."""
    seen: list[HttpRequest] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return HttpResponse()

    DeclaredProxies(view)(RequestFactory().get("/", headers=headers, REMOTE_ADDR=peer))
    return seen[0]


@pytest.mark.parametrize("peer", ["127.0.0.1", "198.51.100.7", "", "unix:"])
def test_without_a_declared_proxy_nothing_is_believed(settings, peer: str) -> None:
    settings.SECURE_PROXY_SSL_HEADER = SECURE
    request = received(peer, CLAIMED)
    assert not request.is_secure() and not set(FORWARDED) & request.META.keys()
    assert client_address(request) == (peer if peer[:1].isdigit() else None)


@pytest.mark.parametrize(
    ("peer", "said", "address"),
    [
        ("127.0.0.1", "203.0.113.5", "203.0.113.5"),
        ("::ffff:127.0.0.1", "203.0.113.5", "203.0.113.5"),
        # Who stands before what a declared proxy wrote may have been written by the visitor.
        ("127.0.0.1", "192.0.2.1, 203.0.113.5", "203.0.113.5"),
        ("127.0.0.1", "192.0.2.1, 203.0.113.5, 10.0.0.9", "203.0.113.5"),
        ("127.0.0.1", "10.0.0.9", "10.0.0.9"),
        ("127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.1, unknown", "127.0.0.1"),
        ("198.51.100.7", "203.0.113.5", "198.51.100.7"),
    ],
)
def test_the_visitor_is_whom_the_outermost_declared_proxy_saw(settings, peer, said, address) -> None:
    settings.PROXIES = (ip_network("127.0.0.1"), ip_network("10.0.0.0/24"))
    settings.SECURE_PROXY_SSL_HEADER = SECURE
    request = received(peer, {"X-Forwarded-For": said, "X-Forwarded-Proto": "https"})
    assert client_address(request) == address
    assert request.is_secure() == (peer != "198.51.100.7")


def test_gunicorn_itself_believes_nobody() -> None:
    assert gunicorn_conf.forwarded_allow_ips == ""


def test_a_list_of_networks_is_read_and_a_wrong_one_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPPORTAL_PROXIES", "10.0.0.0/24, 2001:db8::/32 127.0.0.1")
    assert [str(one) for one in networks("DPPORTAL_PROXIES")] == [
        "10.0.0.0/24", "2001:db8::/32", "127.0.0.1/32",
    ]  # fmt: skip
    monkeypatch.setenv("DPPORTAL_PROXIES", "proxy.example")
    with pytest.raises(Exception, match="must list addresses or networks"):
        networks("DPPORTAL_PROXIES")
