"""The script of the API's README, run by the client alone against a portal, and the people who make it possible."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import httpx

from tests.dpportal.portal_command.starting import ROOT, Portal

README = (ROOT / "dpportal" / "api" / "README.md").read_text()
_FOUND = re.search(r"```python\n(.*?)```", README, re.DOTALL)
assert _FOUND is not None
SCRIPT = _FOUND[1]
# So many that the door looks at the token before it lets them in.
ROWS = 10_000
INPUT = re.compile(r"<input[^>]*>")
NAME, VALUE = re.compile(r'\bname="([^"]*)"'), re.compile(r'\bvalue="([^"]*)"')


class Browser:
    """A person who signs in, and fills in forms."""

    def __init__(self, portal: Portal, name: str) -> None:
        address = f"http://127.0.0.1:{portal.port}"
        self.http = httpx.Client(base_url=address, follow_redirects=True, headers={"Referer": address})
        self.post("/account/sign-in/", username=name, password=portal.password(name))

    def post(self, path: str, **filled: str) -> str:
        """Open a page, and send its form with what was filled in."""
        fields = [unescape(found) for found in INPUT.findall(self.http.get(path).text)]
        hidden = {
            NAME.search(f)[1]: VALUE.search(f)[1] for f in fields if 'type="hidden"' in f and VALUE.search(f)
        }
        answer = self.http.post(path, data={**hidden, **filled})
        assert answer.status_code == 200, answer.text
        return answer.text


def ran(portal: Portal, token: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The script in a process that finds the client, and neither the portal nor its mechanisms."""
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "dpportal" / "api"),
        "PORTAL": f"http://127.0.0.1:{portal.port}",
        "TOKEN": token,
    }
    alone = f"{SCRIPT}\nimport sys\nassert not {{'django', 'mechanisms', 'dpportal'}} & set(sys.modules)\n"
    return subprocess.run(
        [sys.executable, "-c", alone], cwd=folder, env=variables, capture_output=True, text=True, timeout=300
    )


def people(folder: Path) -> None:
    """The table that the script uploads."""
    with (folder / "people.csv").open("w") as file:
        rows = [(i % 90, ("female", "male")[i % 2]) for i in range(ROWS)]
        csv.writer(file).writerows([("age", "sex"), *rows])
