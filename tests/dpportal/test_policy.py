"""What browsers are told of the portal's pages: nothing in their markup brings styles or scripts of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpportal.serving.response_headers import PERMISSIONS, policy

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


def test_no_style_attribute_is_allowed_but_those_that_plotly_writes() -> None:
    assert "unsafe-inline" not in policy() and "unsafe-eval" not in policy()
    directives = dict(part.split(" ", 1) for part in policy().split("; "))
    allowed = directives["style-src-attr"].split()
    assert allowed[0] == "'unsafe-hashes'" and len(allowed) == 4
    assert all(re.fullmatch(r"'sha256-[\w+/]{43}='", one) for one in allowed[1:])


def test_no_page_has_a_style_attribute() -> None:
    styled = {path.name for path in TEMPLATES.rglob("*.html") if re.search(r"\sstyle=", path.read_text())}
    assert styled == set()


@pytest.mark.parametrize("address", ["/", "/guide/", "/account/sign-in/", "/nowhere/", "/health/"])
def test_every_answer_carries_them(client, db, address: str) -> None:
    answer = client.get(address)
    assert answer["Content-Security-Policy"] == policy()
    assert answer["Permissions-Policy"] == PERMISSIONS and "camera=()" in PERMISSIONS


def test_the_typeface_is_local_small_and_credited() -> None:
    """No font is asked of another site, and a page in English loads less than 50 kB of it."""
    fonts = TEMPLATES.parent / "static" / "fonts"
    named = re.findall(r'url\("\.\./fonts/([^"]+)"\)', (fonts.parent / "css" / "fonts.css").read_text())
    sizes = {name: (fonts / name).stat().st_size for name in named}
    assert set(named) == {path.name for path in fonts.glob("*.woff2")}
    assert max(sizes.values()) < 100_000
    assert sizes["source-sans-3-latin.woff2"] + sizes["source-sans-3-greek.woff2"] < 50_000
    assert "SIL OPEN FONT LICENSE" in (fonts / "OFL.txt").read_text()
