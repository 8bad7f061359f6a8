"""The examples for nginx and Caddy before the portal do what they say, with the programs themselves."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import urllib.parse
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.dpportal.portal_command.starting import ROOT, Portal, free_port, wait_until
from tests.dpportal.serving.browsing import Visitor
from tests.dpportal.serving.visitors import PART_OF_A_BODY, connect, crowd, is_ended, push_until_answered

pytestmark = pytest.mark.worker

EXAMPLES = ROOT / "dpportal" / "serving" / "proxies"


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None and os.environ.get("CI"):
        pytest.fail(f"{name} is not installed")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return str(found)


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    """On which each proxy speaks HTTPS."""
    return {"nginx": free_port(), "caddy": free_port()}


@pytest.fixture(scope="module")
def portal(tmp_path_factory, ports) -> Iterator[Portal]:
    data = tmp_path_factory.mktemp("portal") / "data"
    origins = ",".join(f"https://localhost:{port}" for port in ports.values())
    running = Portal(
        data, free_port(), DPPORTAL_HTTPS="1", DPPORTAL_PROXIES="127.0.0.1", DPPORTAL_ORIGINS=origins
    )
    yield running
    running.end()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[Path, Path]:
    """A certificate for this machine and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    return files


def adapted(example: str, changes: dict[str, str]) -> str:
    """The example with what a site changes."""
    text = (EXAMPLES / example).read_text()
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(request, portal, ports, certificate, tmp_path_factory) -> Iterator[int]:
    """The port on which the proxy speaks HTTPS."""
    folder, port = tmp_path_factory.mktemp(request.param), ports[request.param]
    start = {"nginx": nginx, "caddy": caddy}[request.param]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            start(folder, port, portal.port, certificate), stdout=log, stderr=log, env=home(folder)
        )
    try:
        visitor = Visitor(f"https://localhost:{port}")
        wait_until(lambda: answers(visitor), "the proxy answers", (folder / "log").read_text)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def home(folder: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}


def answers(visitor: Visitor) -> bool:
    try:
        return visitor.ask("/health/")[0] == 200
    except OSError:
        return False


def nginx(folder: Path, port: int, behind: int, certificate: tuple[Path, Path]) -> list[str]:
    written, key = map(str, certificate)
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen 80": f"listen 127.0.0.1:{free_port()}",
        "/etc/ssl/portal/certificate.pem": written,
        "/etc/ssl/portal/key.pem": key,
        "127.0.0.1:8000": f"127.0.0.1:{behind}",
        "limit_conn visitors 100": "limit_conn visitors 1000",  # here all come from one address
        "portal.example": "localhost",
        "access_log off;": f"access_log off; client_body_temp_path {folder}/bodies;",
    }
    (folder / "nginx.conf").write_text(adapted("nginx.conf", changes))
    main = f"daemon off; pid {folder}/pid; error_log {folder}/errors;"
    return [program("nginx"), "-c", str(folder / "nginx.conf"), "-g", main]


def caddy(folder: Path, port: int, behind: int, certificate: tuple[Path, Path]) -> list[str]:
    written, key = map(str, certificate)
    changes = {
        "{\n\tservers": "{\n\tadmin off\n\tauto_https disable_redirects\n\tservers",
        "portal.example {": f"https://localhost:{port} {{\n\ttls {written} {key}",
        "127.0.0.1:8000": f"127.0.0.1:{behind}",
    }
    (folder / "Caddyfile").write_text(adapted("Caddyfile", changes))
    return [program("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def encrypted(port: int) -> ssl.SSLSocket:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connect(port), server_hostname="localhost")


def test_a_curator_signs_in_and_uploads(proxy, portal):
    visitor = Visitor(f"https://localhost:{proxy}")
    visitor.sign_in("curator", portal.password("curator"))
    rows = "".join(f"{n},{n % 7}\n" for n in range(400_000))
    status, told = visitor.upload(f"Table by {proxy}", f"id,value\n{rows}".encode())
    assert status == 201 and str(told["location"]).startswith("/datasets/"), told


def test_the_portal_knows_that_it_is_encrypted(proxy):
    status, _, headers = Visitor(f"https://localhost:{proxy}").ask("/account/sign-in/")
    assert status == 200 and headers["Strict-Transport-Security"].startswith("max-age=31536000")
    assert "Secure" in headers["Set-Cookie"]


def test_a_visitor_chooses_neither_address_nor_name_of_a_request(proxy, portal):
    """The proxy writes over what the visitor claims, and the portal believes the proxy."""
    claimed = {
        "X-Request-ID": "chosen-by-a-visitor",
        "X-Forwarded-For": "192.0.2.66",
        "Forwarded": "for=192.0.2.66",
    }
    visitor = Visitor(f"https://localhost:{proxy}")
    status, _, headers = visitor.ask("/account/sign-in/", headers=claimed)
    assert status == 200 and headers["X-Request-ID"] != "chosen-by-a-visitor"
    fields = {
        "username": "curator",
        "password": "wrong",
        "csrfmiddlewaretoken": visitor.token("/account/sign-in/"),
    }
    visitor.ask("/account/sign-in/", urllib.parse.urlencode(fields).encode(), claimed)
    line = [line for line in portal.said().splitlines() if "sign-in failed" in line][-1]
    assert "'curator' from 127.0.0.1" in line and " request=" in line


def test_a_stranger_s_large_file_is_refused_before_it_comes(proxy, portal):
    with encrypted(proxy) as visitor:
        visitor.sendall(
            b"POST /datasets/new/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000000\r\n\r\n"
        )
        answer, sent = push_until_answered(visitor, bytes(2**16), 4000)
        # Caddy may end the connection before it has passed the answer on.
        assert sent < 50 * 2**20 and answer.partition(" ")[2][:3] in ("413", "502", "")
    # A job of the portal's own may have files there for a moment.
    wait_until(lambda: portal.scratch_bytes() < 2**20, "nothing of the file is there", portal.said)


def test_hundreds_of_silent_visitors_keep_nobody_waiting(proxy, portal):
    with crowd(proxy, 300, b""), crowd(portal.port, 100, PART_OF_A_BODY):
        assert answers(Visitor(f"https://localhost:{proxy}"))


def test_a_head_that_does_not_end_is_not_waited_for(proxy):
    with encrypted(proxy) as visitor:
        visitor.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert is_ended(visitor, 25)
