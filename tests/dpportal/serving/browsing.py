"""A visitor with cookies, as a browser without pictures and scripts."""

from __future__ import annotations

import json
import re
import ssl
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.client import HTTPMessage
from http.cookiejar import CookieJar
from urllib.error import HTTPError

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
BOUNDARY = "a-boundary-that-no-file-holds"


class Visitor:
    """At the portal of an address; certificates are not looked at. A redirection is followed."""

    def __init__(self, address: str) -> None:
        self.address = address
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar()), urllib.request.HTTPSHandler(context=context)
        )

    def ask(
        self, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, str, HTTPMessage]:
        """Status, text and headers of the answer."""
        headers = {"Referer": self.address, **(headers or {})}
        request = urllib.request.Request(self.address + path, data, headers)
        try:
            with self.opener.open(request, timeout=60) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except HTTPError as answer:
            return answer.code, answer.read().decode(), answer.headers

    def token(self, path: str) -> str:
        """The token of the first form of a page."""
        _, text, _ = self.ask(path)
        found = TOKEN.search(text)
        assert found is not None, text
        return found[1]

    def sign_in(self, name: str, password: str) -> None:
        path = "/account/sign-in/"
        fields = {"username": name, "password": password, "csrfmiddlewaretoken": self.token(path)}
        status, text, _ = self.ask(path, urllib.parse.urlencode(fields).encode())
        assert status == 200 and "Sign out" in text, text

    def upload(self, name: str, content: bytes, token: str = "") -> tuple[int, dict[str, object]]:
        """Upload a table as the form's script does; returns the status and what is told."""
        fields = {"csrfmiddlewaretoken": token or self.token("/datasets/new/"), "name": name}
        parts = [
            f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}' for key, value in fields.items()
        ]
        file = 'Content-Disposition: form-data; name="file"; filename="table.csv"\r\nContent-Type: text/csv\r\n\r\n'
        begin = "".join(f"--{BOUNDARY}\r\n{part}\r\n" for part in parts) + f"--{BOUNDARY}\r\n{file}"
        last = 'Content-Disposition: form-data; name="arrived"\r\n\r\nwhole'
        body = begin.encode() + content + f"\r\n--{BOUNDARY}\r\n{last}\r\n--{BOUNDARY}--\r\n".encode()
        headers = {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Accept": "application/json",
        }
        status, text, _ = self.ask("/datasets/new/", body, headers)
        return status, json.loads(text)
