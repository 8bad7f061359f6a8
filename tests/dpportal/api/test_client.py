"""The README's script by the client alone, against a portal with a real worker: asked, spent, published, read."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.dpportal.portal_command.starting import ROOT, Portal, free_port

pytestmark = pytest.mark.worker
README = (ROOT / "dpportal" / "api" / "README.md").read_text()
SCRIPT = re.search(r"```python\n(.*?)```", README, re.DOTALL)
# So many that the door looks at the token before it lets them in.
ROWS = 10_000
INPUT = re.compile(r"<input[^>]*>")
NAME, VALUE = re.compile(r'\bname="([^"]*)"'), re.compile(r'\bvalue="([^"]*)"')


@pytest.fixture(scope="module")
def portal(tmp_path_factory) -> Iterator[Portal]:
    running = Portal(tmp_path_factory.mktemp("portal") / "data", free_port())
    yield running
    running.end()


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
    assert SCRIPT is not None
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "dpportal" / "api"),
        "PORTAL": f"http://127.0.0.1:{portal.port}",
        "TOKEN": token,
    }
    alone = f"{SCRIPT[1]}\nimport sys\nassert not {{'django', 'mechanisms', 'dpportal'}} & set(sys.modules)\n"
    return subprocess.run(
        [sys.executable, "-c", alone], cwd=folder, env=variables, capture_output=True, text=True, timeout=300
    )


def test_a_script_of_forty_lines_does_all_of_it_once(portal, tmp_path):
    assert SCRIPT is not None and len(SCRIPT[1].splitlines()) <= 40
    with (tmp_path / "people.csv").open("w") as file:
        rows = [(i % 90, ("female", "male")[i % 2]) for i in range(ROWS)]
        csv.writer(file).writerows([("age", "sex"), *rows])
    curator, administrator = Browser(portal, "curator"), Browser(portal, "administrator")
    page = curator.post("/account/tokens/", name="script", scope="administer", limit="1", days="7")
    token = re.search(r"dpp_[\w-]+", page)
    assert token is not None
    asked = ran(portal, token[0], tmp_path)
    assert "The budget is asked for" in asked.stderr, asked.stderr
    assert asked.stdout.startswith("ε 0.50 ± ")
    dataset = re.search(r"/office/budgets/([0-9a-f-]{36})/", administrator.http.get("/office/").text)
    assert dataset is not None
    administrator.post(dataset[0], amount="0.5", reason="For the yearbook")
    first, second = ran(portal, token[0], tmp_path), ran(portal, token[0], tmp_path)
    assert first.returncode == 0, first.stderr
    assert second.returncode == 0, second.stderr
    assert "margin" in first.stdout and first.stdout.splitlines()[1:] == second.stdout.splitlines()[1:]
    budget = curator.http.get(f"/datasets/{dataset[1]}/ledger.csv").text
    assert len(budget.splitlines()) == 3  # a head, a grant, a charge


@pytest.mark.parametrize("token", ["", "dpp_guessed"])
def test_what_a_stranger_sends_is_refused_before_it_comes(portal, token):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    files = {"file": ("people.csv", b"age\n" * 2**18)}
    address = f"http://127.0.0.1:{portal.port}/api/v1/datasets"
    refused = httpx.post(address, files=files, headers=headers, timeout=60)
    assert refused.status_code == 413
    assert refused.headers["Content-Type"] == "application/problem+json" and refused.json()["status"] == 413
