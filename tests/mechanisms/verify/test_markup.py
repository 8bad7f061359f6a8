"""What a page or a drawing of a bundle may be made of: nothing shows other numbers than its text has."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mechanisms.verify.finding import State
from mechanisms.verify.markup import check, faults_of, is_plain, marks_of
from mechanisms.verify.page_text import readable

OWN_STYLE = (Path(__file__).parents[3] / "static/css/portal.css").read_text(encoding="utf-8")
PAGE = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=1">
<title>A</title><style>{OWN_STYLE}</style></head><body><main class="wrap">
<table><tbody><tr><th scope="row">red</th><td class="number">7 &lt; 8</td></tr></tbody></table>
<svg viewBox="0 0 9 9"><text x="1" y="2" transform="translate(3 4) rotate(-60)">n</text><rect x="1" width="2"/></svg>
</main></body></html>"""
ADDED = {
    "a script": ("</body>", "<script>alert(7)</script></body>", "<script>"),
    "a second style": ("</head>", "<style>td { color: red }</style></head>", "<style>"),
    "what a style fetches": ("<style>", "<style>@import 'x.css';", "a style that fetches"),
    **{
        f"a style with {css}": ("</style>", f"{css}</style>", fault)
        for css, fault in {
            'body{background-image:image-set("http://e.org/i.png" 1x)}': "a style that fetches",
            r"body{background-image:\75 rl(http://e.org/u.png)}": "a style that fetches",
            r'@\69mport "http://e.org/x.css";': "a style that fetches",
            "body{background-image:url(x.png)}": "a style that fetches",
            'h1::after{counter-reset:n 71234;content:" " counter(n)}': "a style of its own",
            "h1::after{content:attr(class)}": "a style of its own",
            'h1::after{quotes:"71234 " "x";content:open-quote}': "a style of its own",
            'h1{--c:"71234"}h1::after{content:var(--c)}': "a style of its own",
            'h1::after{content/**/:"71234"}': "a style of its own",
            "td{direction:rtl;unicode-bidi:bidi-override}": "a style of its own",
        }.items()
    },
    "a cell over two columns": ("<td ", '<td colspan="2" ', "colspan of <td>"),
    "a cell over two lines": ("<td ", '<td rowspan="2" ', "rowspan of <td>"),
    "a cell that is left open": ("<td ", "<td><td ", "<td> as it stands there"),
    "a cell that ends itself": ("<td ", "<td/><td ", "<td> as it stands there"),
    "a line that is left open": ("</th>", "</th><tr>", "<tr> as it stands there"),
    "a table in a cell": ("7 &lt;", "<table></table>7 &lt;", "<table> as it stands there"),
    "an end without a begin": ("<main", "</td></td><main", "</td> as it stands there"),
    "a hidden number": ("7 &lt;", '<span class="visually-hidden">7</span> &lt;', "hidden of <span>"),
    "a number in a picture's place": (
        '<td class="number"',
        '<td class="number mark"',
        "hidden of <td>",
    ),
    "a hidden line": ('<th scope="row"', '<th class="menu" scope="row"', "class of <th>"),
    "a counted line": ("<main class", '<main class="steps" class', "class of <main>"),
    "a style that has no end": ("</style>", "", "<style> as it stands there"),
    "other signs": ('"utf-8"', '"iso-2022-jp"', "charset of <meta>"),
    "a handler": ("<body", '<body onload="x()"', "onload of <body>"),
    "a hidden section": ("<table", "<table hidden", "hidden of <table>"),
    "a style of its own": ("<table", '<table style="display: none"', "style of <table>"),
    "a picture": ("</main>", '<img src="data:image/png;base64,AA"></main>', "<img>"),
    "a frame": ("</main>", '<iframe src="https://example.org/"></iframe></main>', "<iframe>"),
    "a drawing upside down": ("<svg", '<svg transform="scale(1 -1)"', "transform of <svg>"),
    "a comment": ("</main>", "7<!-- -->8</main>", "<!-- -- as it stands there"),
    "a sign of less": ("</main>", "In truth < 7834 ></main>", "< 7834  as it stands there"),
    "a tag in capitals": ("<td ", "<TD ", '<TD class="number" as it stands there'),
    "a value between other signs": (
        "<main",
        "<main id='7'",
        "<main id='7' class=\"w as it stands there",
    ),
    "a tag in a value": ("<main", '<main id="<style>"', '<main id="" class="wr as it stands there'),
    "a paragraph in a drawing": ("<rect", "<p>7834</p><rect", "<p>"),
    "the end of a paragraph in a drawing": ("<rect", "</p>7834<rect", "</p>"),
    "words of a drawing beside it": ("</main>", "<text>7834</text></main>", "<text>"),
    "a bar that is moved": (
        "<rect",
        '<rect transform="translate(0 9) rotate(-60)"',
        "transform of <rect>",
    ),
}


def test_what_portals_write_is_taken():
    assert faults_of(PAGE) == []


@pytest.mark.parametrize("before, after, fault", ADDED.values(), ids=ADDED)
def test_what_could_show_other_numbers_is_named(before, after, fault):
    assert before in PAGE
    assert faults_of(PAGE.replace(before, after, 1))[0] == fault


@pytest.mark.parametrize(
    "text, tag",
    [
        (r"Ages &lt;b>", ""),
        (r"x <- 3, and <10", ""),
        ("<img src=x>", "<img src=x>"),
        (r"a\\<script>", "<script>"),
        (r"http://example.org/a\<script>", "<script>"),
        ("![seen](//example.org/x.png)", "](//example.org/x.png)"),
        ("![a][b]", "][b]"),
        ("[b]: https://e.org", "]: https://e.org"),
        ("[seen&#93;(https://example.org) [b]", ""),
        (r"[seen\](x)", "](x)"),
        ("```python\na = 1\n```\n\n```r\na <- 1\n```", ""),
        ("```mermaid\nclick A", "```mermaid"),
        ("~~~math\nx", "~~~math"),
        ("---\ntitle: 7\n---", "---"),
        ("$$7$$", "$$"),
        (r"$\href{x}{y}$", r"\href"),
    ],
)
def test_a_tag_of_a_readme_is_one_whatever_stands_before(text, tag):
    assert marks_of(text)[:1] == ([tag] if tag else [])


@pytest.mark.parametrize(
    "part",
    [
        "<",
        "<p ",
        "<svg>",
        "<table>",
        "<td>",
        "<style>",
        "<!--",
        '<p a="',
        "<text>",
        "<title>",
        "<p" + " " * 99,
    ],
)
def test_parts_that_never_end_are_named_at_once(part: str) -> None:
    """A check of 36 kB took three minutes of a worker."""
    page = PAGE.replace("</main>", f"{part * 100_000}</main>")
    begun = time.process_time()
    assert faults_of(page) and not is_plain("report.html", page)
    assert time.process_time() - begun < 5


class _Bundle:
    """Of this version, with one file."""

    is_of_this_version = True

    def __init__(self, name: str, text: str) -> None:
        self.entries, self._text = {name: None}, text

    def content(self, _name: str) -> bytes:
        return self._text.encode()


@pytest.mark.parametrize(
    "name, text, fault",
    [
        ("report.html", PAGE, ""),
        ("report.html", PAGE.replace("<body", '<body onload="x()"'), "onload of <body>"),
        ("report.html", PAGE.replace('<meta charset="utf-8">', ""), "a head without its charset"),
        ("report.html", PAGE.replace("<meta", f"{' ' * 1024}<meta"), "a head without its charset"),
        ("report.html", "\ufeff" + PAGE, "a head without its charset"),
        ("chart.svg", '<svg><rect style="y: 9"/></svg>', "style of <rect>"),
        ("README.md", "# Title\n\n4 < 5\n", ""),
        ("README.md", "# Title\n\n<b>7</b>\n", "<b>"),
    ],
)
def test_the_line_names_the_file_and_what_stands_in_it(name, text, fault):
    [finding] = check(_Bundle(name, text))
    assert finding.state == (State.FAILED if fault else State.HOLDS)
    assert not fault or finding.details == f"no portal writes {fault} into {name}"


def test_words_that_a_style_shows_are_read():
    """The portal's style writes what describes a number beside it."""
    page = '<span aria-description="“120 ± 13” means">120 ± 10</span><svg aria-label="7"></svg>'
    assert "“120 ± 13” means" in readable("report.html", page)
