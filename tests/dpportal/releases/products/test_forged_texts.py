"""Whoever has the portal's key writes a number where no program would see it as one, and signs anew: it is caught."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mechanisms.verify.bundle import Bundle
from tests.dpportal.publications.forging import as_written, faults, forged, is_caught
from tests.dpportal.releases.products.test_verified import MADE, downloaded

pytestmark = [pytest.mark.slow, pytest.mark.sampled]
IN_PAGES = {
    "digits by tags": "<p>In truth <span>7</span><span>8</span><span>3</span><span>4</span>.</p>",
    "raised digits": "<p>In truth ⁷⁸³⁴.</p>",
    "circled digits": "<p>In truth ⑦⑧③④.</p>",
    "blanks without width": "<p>In truth 7&#8203;8&#8203;3&#8203;4.</p>",
    "soft hyphens": "<p>In truth 7&shy;8&shy;3&shy;4.</p>",
    "comments": "<p>In truth 7<!-- -->8<!-- -->3<!-- -->4.</p>",
    "behind a letter": "<p>In truth n7834.</p>",
    "in a drawing": '<svg viewBox="0 0 9 9"><text x="1" y="1">In truth 7834</text></svg>',
    "at a place of a drawing": '<svg viewBox="0 0 9 9"><text x="1" y="1" text-anchor="end">In truth 7834</text></svg>',
    "read out of a drawing": '<svg aria-label="In truth 7834"></svg>',
    "out of a drawing": '<svg viewBox="0 0 9 9"></p>In truth 7834</svg>',
}
IN_README = {
    "emphasis": "In truth 7**8**3**4**",
    "signs by their numbers": "In truth &#x37;&#x38;&#x33;&#x34;",
    "behind a letter": "In truth n7834",
    "a picture": "![](//example.org/x.png)",
    "a picture by its name": "![a][b]\n\n[b]: https://example.org/x.png",
    "a link": "[in truth](https://example.org)",
}
LISTS = [("datapackage.json", "resources"), ("croissant.json", "distribution")]


@pytest.fixture
def bundle(rich, tmp_path) -> Path:
    return downloaded(MADE["answers by weighted tables"](rich), tmp_path)


def test_numbers_that_no_program_reads_as_such_are_caught(bundle):
    read, known = Bundle.read(bundle), frozenset(faults(bundle))
    pages = {name: read.content(name) for name in ("report.html", "report.zh-hans.html")}
    uncaught = []
    for what, added in IN_PAGES.items():
        other = {name: page.replace(b"</main>", f"{added}</main>".encode()) for name, page in pages.items()}
        uncaught += [] if is_caught(forged(bundle, other), known) else [what]
    english, begin, chinese = read.content("README.md").decode().partition("# 中文说明")
    for what, added in IN_README.items():
        other = {"README.md": f"{english}\n{added}\n\n{begin}{chinese}\n{added}\n".encode()}
        uncaught += [] if is_caught(forged(bundle, other), known) else [what]
    assert (known, uncaught) == (frozenset(), [])


def test_a_number_beside_which_another_digit_stands_is_caught(bundle):
    """In a cell, and in the caption of a chart, whose margins are small."""
    read = Bundle.read(bundle)
    for own, other in (
        (b"</td>", b"<span>0</span></td>"),
        (b"</td>", "⁰</td>".encode()),
        (b"</strong>", b"<span>7</span></strong>"),
    ):
        pages = {
            name: read.content(name).replace(own, other, 1) for name in ("report.html", "report.zh-hans.html")
        }
        assert is_caught(forged(bundle, pages), frozenset()), other
    page = read.content("report.html").decode()
    at = page.index("Margin: ± ") + len("Margin: ± ")
    assert page[at] != "9" and is_caught(
        forged(bundle, {"report.html": f"{page[:at]}9{page[at + 1 :]}".encode()}), frozenset()
    )


@pytest.mark.parametrize(("name", "entry"), LISTS)
def test_a_file_that_is_described_twice_or_out_of_order_is_caught(bundle, name, entry):
    document = json.loads(Bundle.read(bundle).content(name))
    for described in (document[entry] + document[entry][-1:], document[entry][::-1]):
        other = as_written({**document, entry: described})
        assert any("twice, or in another order" in each for each in faults(forged(bundle, {name: other})))
