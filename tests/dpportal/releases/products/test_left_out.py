"""Bundles that say more than a portal does, say it otherwise, or leave something out; signed anew."""

from __future__ import annotations

import pytest

from mechanisms.verify.bundle import Bundle, BundleError
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.releases.products.test_verified import altered, bundle, failed, resigned

__all__ = ["bundle"]

FORGED_WORDS = {
    "a loss that goes on": lambda facts: facts.update(loss=f"{facts['loss']}5"),
    "a loss with a remark": lambda facts: facts.update(loss=f"{facts['loss']} (proved harmless)"),
    "no number of rows": lambda facts: facts.pop("synthetic_rows"),
    "no time": lambda facts: facts.pop("measured_at"),
}


@pytest.mark.parametrize("forge", FORGED_WORDS.values(), ids=FORGED_WORDS)
def test_what_no_portal_says_or_leaves_out_fails(bundle, forge):
    assert [each for each in failed(resigned(bundle, forge)) if "release.json" in each]


def test_a_bundle_that_discloses_nothing_does_not_hold(bundle):
    path = resigned(bundle, lambda facts: facts.pop("disclosure"))
    [found] = [each for each in verify(Bundle.read(path)) if each.what == "disclosure"]
    assert found.state is State.NOT_CHECKED


@pytest.mark.parametrize("name", ["README.md", "report.html", "notebook.py"])
def test_a_file_that_is_left_out_of_the_list_too_is_missed(bundle, name):
    path = resigned(bundle, lambda facts: facts["files"].pop(name)).rename(bundle.with_name("less.zip"))
    assert any(f"{name} is missing" in each for each in failed(altered(path, **{name: None})))


def test_a_name_that_stands_twice_is_read_by_nobody(bundle):
    content = Bundle.read(bundle).content("release.json")
    path = altered(bundle, release_json=b'{"loss": "0.01",' + content.removeprefix(b"{"))
    with pytest.raises(BundleError, match="a name twice"):
        failed(path)


def test_a_blank_line_more_is_found(bundle):
    content = Bundle.read(bundle).content("release.json")
    found = failed(altered(bundle, release_json=content + b"\n"))
    assert any("otherwise than a portal writes it" in each for each in found)
