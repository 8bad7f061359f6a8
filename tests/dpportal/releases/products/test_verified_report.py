"""Numbers that somebody who can sign writes into a report, where people see them and no table has them, are seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpportal.releases.models import Release
from mechanisms.verify import wording
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import State
from mechanisms.verify.markup import faults_of
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.test_verified import altered, downloaded

pytestmark = pytest.mark.slow
SAID = "71234"


def digits(form: str, step: float = 6.6) -> str:
    return "".join(form.format(at=20 + step * place, text=text) for place, text in enumerate(SAID))


# Texts within a drawing of the page.
IN_DRAWINGS = {
    "digits without an anchor": digits('<text x="{at}" y="20">{text}</text>'),
    "a number without an anchor": f'<text x="20" y="20">{SAID}</text>',
    "digits that begin": digits('<text x="{at}" y="20" text-anchor="start">{text}</text>'),
    "digits that end": digits('<text x="{at}" y="20" text-anchor="end">{text}</text>'),
    "digits in the middle": digits('<text x="{at}" y="20" text-anchor="middle">{text}</text>'),
    "digits a little apart": digits('<text x="{at}" y="20" text-anchor="middle">{text}</text>', 9),
    "digits at several heights": digits('<text x="{at}" y="2{text}" text-anchor="middle">{text}</text>'),
    "a turned number": f'<text transform="translate(20 20) rotate(-60)" text-anchor="end">{SAID}</text>',
    "a number without a place": f'<text text-anchor="end">{SAID}</text>',
    "a number at a place of another form": f'<text x="2e1" y="20" text-anchor="end">{SAID}</text>',
    "digits in an order of their own": f'<text x="50 40 30 20 10" y="20" text-anchor="end">{SAID[::-1]}</text>',
    "parts of a text": digits('<text x="20" y="20" text-anchor="end"><tspan x="{at}">{text}</tspan></text>'),
    "a digit as a series": '<polyline points="20,20 30,20 24,40" fill="none" stroke="var(--series-1)" />',
    "a digit as a margin": '<polyline points="20,20 30,20 24,40" fill="none" stroke="var(--text)" />',
    "a digit of lines": '<line x1="20" y1="20" x2="30" y2="20" stroke="red" />',
    "a large number": f'<text x="20" y="20" font-size="40" text-anchor="start">{SAID}</text>',
}
CELLS = "".join(map("<td>{}</td>".format, SAID))
# Tables and other parts of the page.
IN_PAGE = {
    "a hidden table": f'<table aria-hidden="true"><tr><td>{SAID}</td></tr></table>',
    "a hidden table of digits": f'<table aria-hidden="true"><tr>{CELLS}</tr></table>',
    "a table without headings": f"<table><tbody><tr>{CELLS}</tr></tbody></table>",
    "a table of headings": f"<table><tr>{''.join(map('<th>{}</th>'.format, SAID))}</tr></table>",
    "digits side by side": f"<p>{''.join(map('<span>{}</span>'.format, SAID))}</p>",
    "digits with blanks": f"<p>{' '.join(SAID)}</p>",
    "a digit an item": f"<ol>{''.join(map('<li>{}</li>'.format, SAID))}</ol>",
    "a digit a paragraph": "".join(map("<p>{}</p>".format, SAID)),
    "a digit a part": "".join(map("<div>{}.</div>".format, SAID)),
    "a digit a fact": f"<dl><dt>In truth</dt>{''.join(map('<dd>{}</dd>'.format, SAID))}</dl>",
    "a digit between two fields": '<input type="checkbox">'.join(SAID),
    "a hidden number": f'<p aria-hidden="true">{SAID}</p>',
    "a field": f'<input type="checkbox" aria-label="{SAID}">',
}


def seen(path: Path, page: str) -> Iterator[str]:
    """What the verifier says of this page, without looking at any other text."""
    texts = (".md", ".tex", ".svg", ".html")
    others = {name: None for name in Bundle.read(path).entries if name.endswith(texts)}
    bundle = Bundle.read(altered(path, **{**others, "report.html": page.encode()}))
    about = (each for each in wording.check(bundle) if each.what == "report.html")
    yield from (each.details for each in about if each.state is not State.STATED)
    yield from faults_of(page)


def check(release: Release, tmp_path: Path) -> None:
    path = downloaded(release, tmp_path)
    page = Bundle.read(path).content("report.html").decode()
    assert not list(seen(path, page))
    drawn = [match.end() for match in re.finditer(r"<svg\b[^>]*>", page)]
    unseen = [
        f"{name} in drawing {place}"
        for name, more in IN_DRAWINGS.items()
        for place, at in enumerate(drawn[:2])
        if not list(seen(path, page[:at] + more + page[at:]))
    ]
    end = page.rindex("</main>")
    unseen += [name for name, more in IN_PAGE.items() if not list(seen(path, page[:end] + more + page[end:]))]
    assert unseen == []


def test_in_a_report_of_counts(ready, tmp_path):
    check(ready, tmp_path)


def test_in_a_summary(rich, tmp_path):
    columns = ["colour", "age"]
    check(finished(rich, "summary", columns, "20", "column-tables", group="colour", twice=[]), tmp_path)


def test_in_rows_of_many_columns(rich, tmp_path):
    columns = ["colour", "age"]
    check(finished(rich, "microdata", columns, "9", "latent-classes", wishes={}, rows=None), tmp_path)
