"""Behind a proxy that speaks HTTPS the portal wants nothing else; and it says whom to tell of a weakness."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def manage(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DPPORTAL_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={
            **kept,
            "DPPORTAL_DATA_DIR": str(folder),
            "DPPORTAL_HTTPS": "1",
            "DPPORTAL_PROXIES": "127.0.0.1",
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_the_deployment_check_finds_nothing(tmp_path):
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING")
    assert (done.returncode, done.stdout) == (0, "System check identified no issues (1 silenced).\n"), done


@pytest.mark.slow
def test_without_a_declared_proxy_it_is_refused_at_the_start(tmp_path):
    """Every page would lead to itself: nobody's word that the connection is encrypted is believed."""
    done = manage(tmp_path, "check", DPPORTAL_PROXIES="")
    assert done.returncode == 1 and "Set DPPORTAL_PROXIES, to 127.0.0.1 if" in done.stderr


@pytest.mark.slow
def test_pages_are_redirected_told_to_stay_encrypted_and_cookies_are_secure(tmp_path):
    told = """
from django.test import Client
plain, secure = Client(), Client(headers={"X-Forwarded-Proto": "https"})
print(plain.get("/account/sign-in/").headers["Location"], "Location" in plain.get("/health/").headers)
answer = secure.get("/account/sign-in/")
print(answer.status_code, answer.headers["Strict-Transport-Security"], answer.cookies["__Host-csrftoken"]["secure"])
from django.conf import settings
print(settings.SESSION_COOKIE_SECURE, settings.KNOWN_BROWSER_COOKIE_NAME)
print(settings.SESSION_COOKIE_NAME, answer.cookies["__Host-csrftoken"]["path"])
from django.contrib.messages.storage import default_storage
from django.http import HttpResponse
said = default_storage(answer.wsgi_request)
said.add(20, "Saved.")
said.update(given := HttpResponse())
chosen = secure.post("/account/language/", {"language": "en"})
cookies = [*given.cookies.values(), *chosen.cookies.values()]
print(*(f"{each.key} {each['secure']} {each['httponly']} {each['path']}" for each in cookies))
believed = settings.PROXIES
settings.PROXIES = ()
print(secure.get("/account/sign-in/").status_code)
"""
    done = manage(
        tmp_path,
        "shell",
        "-v",
        "0",
        "-c",
        told,
        DPPORTAL_HOSTS="testserver",
        DJANGO_SETTINGS_MODULE="tests.settings",
    )
    assert done.stdout.splitlines() == [
        "https://testserver/account/sign-in/ False",
        "200 max-age=31536000; includeSubDomains True",
        "True __Host-known_browser",
        "__Host-sessionid /",
        "__Host-messages True True / __Host-language True True /",
        "301",
    ], done


@pytest.mark.parametrize(
    "contact, line",
    [
        ("security@example.org", "Contact: mailto:security@example.org"),
        ("https://example.org/report", "Contact: https://example.org/report"),
    ],
)
def test_security_txt_names_the_contact_of_the_site(client, settings, contact, line):
    settings.SECURITY_CONTACT = contact
    answer = client.get("/.well-known/security.txt")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    first, expires, _languages = answer.text.splitlines()
    assert first == line
    assert expires.startswith("Expires: 20") and expires.endswith("T00:00:00Z")


def test_without_a_contact_there_is_no_security_txt(client, db):
    assert client.get("/.well-known/security.txt").status_code == 404
