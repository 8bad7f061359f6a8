"""Whoever has the portal's key calls columns and lines of a page's tables otherwise, and signs anew: it is caught."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from django.utils.translation import gettext, override

from dpportal.datasets import services as dataset_services
from mechanisms.domain import Categorical
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.headings import CHINESE
from tests.dpportal.publications.forging import faults, forged
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.test_verified import MADE, MISSING, downloaded

pytestmark = [pytest.mark.slow, pytest.mark.sampled]
PAGES = ("report.html", "report.zh-hans.html")
_CELL = re.compile(r"<(t[hd])\b[^>]*>(.*?)</\1>", re.DOTALL)
# A release whose noisy and adjusted counts differ, and the products whose pages have tables.
OF_TABLES = {
    **{name: MADE[name] for name in ("totals and means", "a summary", "answers by weighted tables")},
    "rows of many columns": MADE["rows of many columns"],
    "a noisy histogram": lambda rich: finished(
        rich, "histogram", ["colour", "age"], "0.3", "laplace-histogram"
    ),
}


def swapped(page: str, first: re.Match[str], second: re.Match[str]) -> str:
    """The page with what stands in two cells exchanged; the first one is before the second."""
    (a, b), (c, d) = first.span(2), second.span(2)
    return page[:a] + page[c:d] + page[b:c] + page[a:b] + page[d:]


def exchanges(page: str) -> Iterator[tuple[str, str]]:
    """Of each table: two headings beside each other, and the labels of two lines below each other, exchanged."""
    for table in re.finditer(r"<table\b.*?</table>", page, re.DOTALL):
        rows = re.finditer(r"<tr\b.*?</tr>", page[table.start() : table.end()], re.DOTALL)
        lines = [
            list(_CELL.finditer(page, table.start() + row.start(), table.start() + row.end())) for row in rows
        ]
        pairs = [*pairwise(lines[0])]
        if lines[0][0][2] in ("Method", "方法"):  # whose numbers are looked for among all
            lines = lines[:1]
        labels = [line[0] for line in lines[1:] if line[0][1] == "th" or not re.search(r"\d", line[0][2])]
        pairs += [*pairwise(labels)][:2]
        for first, second in pairs:
            if first[2].split() != second[2].split() and "<svg" not in first[2] + second[2]:
                words = (re.sub(r"<[^>]+>|\s+", " ", each[2]).strip() for each in (first, second))
                yield " and ".join(words), swapped(page, first, second)


@pytest.mark.parametrize("product", OF_TABLES)
def test_headings_and_labels_that_are_exchanged_are_caught(rich, tmp_path, product):
    path = downloaded(OF_TABLES[product](rich), tmp_path)
    assert list(faults(path)) == []
    read, unseen, count = Bundle.read(path), [], 0
    for name in [*PAGES, *({"table1.html"} & read.entries.keys())]:
        for words, page in exchanges(read.content(name).decode()):
            count += 1
            fault = next((each for each in faults(forged(path, {name: page.encode()})) if name in each), "")
            unseen += [] if fault else [f"{name}: {words}"]
    assert (unseen, count > 3) == ([], True)


def test_groups_of_table_1_that_are_exchanged_everywhere_are_caught(rich, tmp_path):
    path = downloaded(MADE["a summary"](rich), tmp_path)
    read = Bundle.read(path)
    assert list(faults(path)) == []
    pages = {name: read.content(name).decode() for name in (*PAGES, "table1.html", "table1.tex")}

    def in_all(first: str, second: str) -> dict[str, bytes]:
        return {
            name: text.replace(first, "\0").replace(second, first).replace("\0", second).encode()
            for name, text in pages.items()
        }

    found = [str(fault) for fault in faults(forged(path, in_all(">red<", ">green<")))]
    assert {name for name in pages if any(name in fault for fault in found)} >= {"report.html", "table1.html"}
    tex = pages["table1.tex"].replace("& red & green", "& green & red")
    assert tex != pages["table1.tex"]
    assert any("table1.tex" in fault for fault in faults(forged(path, {"table1.tex": tex.encode()})))
    for other in ("Median (IQR)", "Mean (SE)"):
        renamed = {name: text.replace("Mean (SD)", other).encode() for name, text in pages.items()}
        found = list(faults(forged(path, renamed)))
        assert all(
            any(name in fault for fault in found) for name in ("report.html", "table1.html", "table1.tex")
        )
        table = read.content("table1.csv").replace(b"Mean (SD)", other.encode())
        found = list(faults(forged(path, {**renamed, "table1.csv": table})))
        assert any("table1.csv" in fault for fault in found)


def test_a_number_by_which_a_table_would_be_sorted_is_one_of_the_tables(rich, tmp_path):
    path = downloaded(MADE["a summary"](rich), tmp_path)
    page = Bundle.read(path).content("report.html")
    [first, *_others] = re.findall(rb'data-sort="[0-9][^"]*"', page)
    for other in (b'data-sort="71234.0"', b'data-sort="7_1"', b'data-sort="true"'):
        changed = {"report.html": page.replace(first, other, 1)}
        assert any("report.html" in fault for fault in faults(forged(path, changed))), other


def test_randomised_answers_have_their_headings(rich, tmp_path):
    path = downloaded(MISSING["histogram"](rich), tmp_path)
    page = Bundle.read(path).content("report.html")
    changed = page.replace(b">Noisy count<", b">True count<")
    assert changed != page
    assert any("report.html" in fault for fault in faults(forged(path, {"report.html": changed})))


def test_headings_are_translated_as_pages_translate_them():
    """A phrase has {} where the pages' texts have names for numbers."""
    by_template = {
        "Below {}": "Below %(end)s",
        "At {} or below": "At %(bound)s or below",
        "At {} or above": "At %(bound)s or above",
        "{}: {}% of the variance": "%(number)s: %(share)s%% of the variance",
        "{} or below (counted as {})": "%(bound)s or below (counted as %(bound)s)",
        "{} or above (counted as {})": "%(bound)s or above (counted as %(bound)s)",
    }
    with override("zh-hans"):
        for english, chinese in CHINESE.items():
            own = by_template.get(english, english)
            texts = (gettext(own), gettext(own.replace("%", "%%")))
            said = {re.sub(r"%\(\w+\)s", "{}", text).replace("%%", "%") for text in texts}
            assert chinese in said, english


def test_the_difference_of_two_groups_is_called_so(rich, tmp_path):
    """Also where the columns of people's own words need other names in files."""
    colours = Categorical("colour", values=("red", "green"), words=("true", "Column & row"), closed=True)
    dataset_services.declare(rich, "colour", colours)
    path = downloaded(MADE["a summary"](rich), tmp_path)
    assert list(faults(path)) == []
    page = Bundle.read(path).content("report.html").decode()
    assert "Column &amp; row − true" in page
    for other in ("true − Column &amp; row", "Column &amp; row"):
        changed = page.replace("Column &amp; row − true", other).encode()
        assert any("report.html" in fault for fault in faults(forged(path, {"report.html": changed})))
