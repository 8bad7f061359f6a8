"""What people read of a page is what a program compares: no tag or emphasis within a line parts a number."""

from __future__ import annotations

import pytest

from mechanisms.verify.html_tables import rows_of
from mechanisms.verify.page_text import every_sign, readable, titles, words_at_shapes
from mechanisms.verify.translated import strange

MARK = '<text x="1" y="2" text-anchor="end">c 9</text>'
DRAWING = f'<svg aria-label="a 7"><title>b 8</title>{MARK}<text>d 10</text></svg>'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("report.html", "<p>In truth <span>7</span><span>83</span><strong>4</strong></p>"),
        ("report.html", '<p>In truth <sup>7</sup>8<span class="number">34</span></p>'),
        ("report.html", "<p>In truth &#55;&#x38;34</p>"),
        ("README.md", "In truth 7**8**3*4*"),
        ("README.md", "In truth &#55;&#x38;34"),
    ],
)
def test_a_number_is_read_as_one(name, text):
    assert "In truth 7834" in readable(name, text)


def test_what_stands_apart_is_read_as_two():
    assert "7834" not in readable("report.html", "<p>78</p><p>34</p>")
    assert rows_of("<tr><td>7</td><td><span>8</span>3</td></tr>") == [["7", "83"]]


def test_a_chinese_page_is_read_so_too():
    assert strange("<p>People: 12</p>", "<p>人：<span>1</span>2</p>") == []
    assert strange("<p>People: 7, 8</p>", "<p>人：<span>7</span>8</p>")


def test_words_of_drawings_are_read():
    assert " ".join(titles(DRAWING).split()) == "a 7 b 8 d 10"
    assert words_at_shapes(DRAWING) == ["c 9"]
    assert "c 9" in every_sign("chart.html", DRAWING) and "c 9" not in readable("report.html", DRAWING)
