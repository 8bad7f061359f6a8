"""A link that a stranger has sent to somebody leads to the portal, whatever port or host the stranger named."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from django.core import mail
from django.urls import reverse

from dpportal.accounts.origins import origin_of, settled_origin
from tests.dpportal.building import deliver_mail

DIRECT = {"SERVER_PORT": "8000"}


def settled(rf, host: str, **of_request: str) -> str:
    return settled_origin(rf.get("/", headers={"host": host}, **{**DIRECT, **of_request}))


def test_a_forgotten_password_is_mailed_a_link_without_the_port_that_a_stranger_named(
    client, settings, curator
):
    settings.EMAIL_URL = "smtp://localhost"
    curator.email = "curator@example.org"
    curator.save()
    asked = client.post(
        reverse("accounts:forgotten"), {"email": curator.email}, headers={"host": "testserver:9999"}
    )
    assert asked.status_code == 302
    deliver_mail()
    assert "http://testserver/account/password/" in mail.outbox[0].body


def test_a_visitor_is_shown_the_address_that_was_visited(rf):
    assert origin_of(rf.get("/", headers={"host": "localhost:9999"})) == "http://localhost:9999"


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "localhost:9999"])
def test_without_a_proxy_the_port_is_the_servers_own(rf, host):
    assert settled(rf, host) == "http://localhost:8000"


@pytest.mark.parametrize("port", ["None", "0", ""])
def test_at_a_socket_of_the_file_system_there_is_no_port(rf, port):
    assert settled(rf, "localhost:9999", SERVER_PORT=port) == "http://localhost"


@pytest.mark.parametrize("host", ["[::1]", "[::1]:9999"])
def test_an_address_of_ipv6_keeps_its_brackets(rf, settings, host):
    settings.ALLOWED_HOSTS = ["[::1]"]
    assert settled(rf, host, SERVER_PORT="80") == "http://[::1]"
    settings.CSRF_TRUSTED_ORIGINS = ["http://[::1]:8080"]
    assert settled(rf, host) == "http://[::1]:8080"


@pytest.mark.parametrize("host", ["portal.example", "portal.example:9999"])
def test_behind_a_proxy_that_speaks_https_there_is_no_port(rf, settings, host):
    settings.ALLOWED_HOSTS, settings.PROXIES = ["portal.example"], [ip_network("127.0.0.1")]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert settled(rf, host, HTTP_X_FORWARDED_PROTO="https") == "https://portal.example"


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("portal.example:8443", "https://portal.example:8443"),
        ("portal.example:9999", "https://portal.example:8443"),
        ("intern.example", "https://intern.example"),
        ("forged.example", "https://portal.example:8443"),
    ],
)
def test_where_origins_are_declared_it_is_one_of_them(rf, settings, host, origin):
    """Also where every host of a domain is let in."""
    settings.ALLOWED_HOSTS = [".example"]
    settings.CSRF_TRUSTED_ORIGINS = [
        *("https://*.example", "https://portal.example:8443", "https://intern.example"),
    ]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert settled(rf, host, HTTP_X_FORWARDED_PROTO="https") == origin
