"""Which version a bundle says to be of is its own word: what differs is said, and what no version writes fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.publications.forging import digest_of, forged
from tests.dpportal.releases.products.test_verified import downloaded

pytestmark = pytest.mark.slow
EARLIER = Path(__file__).parents[3] / "data/histogram_1.0.zip"


@pytest.fixture
def bundle(ready, tmp_path) -> Path:
    return downloaded(ready, tmp_path)


def test_a_bundle_of_an_earlier_version_holds(tmp_path):
    """Without disclosure, croissant.json and notebooks, as version 1.0 wrote it; each is said to be not checked."""
    found = list(verify(Bundle.read(EARLIER)))
    assert len([finding for finding in found if finding.state is State.HOLDS]) == 18
    stated = {finding.what for finding in found if finding.state is State.STATED}
    assert stated == {"stated", "README.md", "report.html", "statement", "descriptions"}
    aside = {finding.what for finding in found if finding.state is State.NOT_CHECKED}
    assert aside == {"files", "plan", "release.json", "disclosure", "croissant.json"}


SCRIPT = b"<script>alert(7)</script></body>"
OF_ANOTHER_VERSION = {
    "a script": ({"report.html": lambda page: page.replace(b"</body>", SCRIPT)}, "markup", State.FAILED),
    "a frame": (
        {"report.zh-hans.html": lambda page: page.replace(b"</body>", b'<iframe src="https://x"></iframe>')},
        "markup",
        State.FAILED,
    ),
    "a cover": (
        {"report.html": lambda page: page.replace(b"</body>", b'<p style="position: fixed">7</p></body>')},
        "markup",
        State.FAILED,
    ),
    "a script in README.md": ({"README.md": lambda text: text + SCRIPT}, "markup", State.FAILED),
    "a program": ({"extra.js": lambda _none: b"alert(7)"}, "files", State.FAILED),
    "another tag": (
        {"report.html": lambda page: page.replace(b"</body>", b"<article></article></body>")},
        "markup",
        State.NOT_CHECKED,
    ),
    "another table": ({"margins.csv": lambda _none: b"n\n7\n"}, "files", State.NOT_CHECKED),
    "another notebook": ({"notebook.py": lambda text: text + b"\n"}, "notebook.py", State.NOT_CHECKED),
    "another loss text": ({}, "release.json", State.NOT_CHECKED),
    "another explanation": ({}, "plan", State.NOT_CHECKED),
}


@pytest.mark.parametrize("files, what, state", OF_ANOTHER_VERSION.values(), ids=OF_ANOTHER_VERSION)
def test_which_version_a_bundle_says_to_be_of_passes_nothing_over(bundle, files, what, state):
    read = Bundle.read(bundle)
    contents = {name: read.content(name) if name in read.entries else b"" for name in files}
    changed = {name: change(contents[name]) for name, change in files.items()}
    facts = read.release
    facts["disclosure"]["software"]["version"] = "0.9.0"
    if what == "release.json":
        facts["loss"] = "ε = 0.01"
    if what == "plan":
        facts["plan"]["explanation"] = "It costs nothing."
    facts["files"] |= {name: {"bytes": len(own), "sha256": digest_of(own)} for name, own in changed.items()}
    found = list(verify(Bundle.read(forged(bundle, changed, facts))))
    assert state in {finding.state for finding in found if finding.what == what}
