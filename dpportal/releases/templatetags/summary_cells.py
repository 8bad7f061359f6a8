"""How templates write the numbers of a summary."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from dpportal.budgets.templatetags.numbers import unbroken
from dpportal.platform.json_types import Json

register = template.Library()
# A margin with the blank before it, as `cells.margin_text` writes it.
MARGIN = re.compile(r" (\[[^\]]*\]|± .*?(?=$|\)|, | \())")
MARKUP = re.compile(r"""[&<>"']""")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# Between a cell's numbers, and letters of one that a phone has room for beside the names of rows.
BETWEEN, LONGEST_PART = re.compile(r" (?=\()|(?<=,) "), 28
# Of differences, whose columns are narrow.
SIGNS = "+−"
IN_ONE_LINE = r'<span class="in-one-line">\g<0></span>'
SMALLER = r' <small class="range in-one-line">\1</small>'


@register.filter
def shown_cells(cells: Iterable[Json]) -> SafeString:
    """The cells of a table's row, as `shown_cell` writes each: a filter, as a page has thousands."""
    nothing = _empty_cell()
    return mark_safe("".join([_cell(cell, nothing) for cell in cells]))  # noqa: S308 (each is made below)


@register.filter
def shown_rows(rows: Iterable[Json]) -> SafeString:
    """The lines of a table: of each the labels that it begins with, and its cells."""
    nothing = _empty_cell()
    lines = [
        f"<tr>{_heads(row['labels'])}{''.join([_cell(cell, nothing) for cell in row['cells']])}</tr>"
        for row in rows
    ]
    return mark_safe("".join(lines))  # noqa: S308 (labels are escaped, cells are made below)


@register.filter
def summary_lines(rows: Iterable[Json], has_difference: object) -> SafeString:
    """The lines of a summary's block: of each its label, its picture, its cells, and the difference of two groups."""
    nothing = _empty_cell()
    return mark_safe("".join([_summary_line(row, bool(has_difference), nothing) for row in rows]))  # noqa: S308 (so)


def _summary_line(row: Json, has_difference: bool, nothing: str) -> str:
    path = _escaped(row["mark"])
    mark = (
        f'<svg class="mark" viewBox="0 0 96 16" aria-hidden="true"><path d="{path}" /></svg>' if path else ""
    )
    markup = "".join([_cell(cell, nothing) for cell in row["cells"]])
    if has_difference:
        both = [row["difference"], row["standardised"]] if row.get("difference") else []
        markup += "".join([_cell(cell, nothing) for cell in both]) or "<td></td><td></td>"
    begins = "<tr>" if row["is_category"] else "<tr data-stays>"
    return f'{begins}<th scope="row">{_escaped(row["label"])}</th><td class="mark">{mark}</td>{markup}</tr>'


@register.filter
def shown_cell(cell: Json) -> SafeString:
    """A number with its margin; text, sort, and for the curator true and outside."""
    return mark_safe(_cell(cell, _empty_cell()))  # noqa: S308 (made below)


def _empty_cell() -> str:
    """What stands in place of a number; looked up once for all cells of a table."""
    return f'<span class="muted">{escape(_("not determined"))}</span>'


def _cell(cell: Json, nothing: str) -> str:
    markup = _with_margins(_escaped(cell["text"])) if cell["text"] else nothing
    if true := cell.get("true"):
        outside = f" <strong>{escape(_('outside'))}</strong>" if cell.get("outside") else ""
        words = escape(_("true: %(value)s") % {"value": true})
        markup += f' <small class="range truth">{words}{outside}</small>'
    return f'<td class="number" data-sort="{_escaped(str(cell["sort"]))}">{markup}</td>'


def _with_margins(text: str) -> str:
    """Margins smaller; lines end between two numbers, and before the ends of a long margin."""
    markup = " ".join([_in_one_line(part) for part in BETWEEN.split(text)])
    return DAY.sub(IN_ONE_LINE, markup) if "-" in text else markup


def _in_one_line(part: str) -> str:
    markup = unbroken(MARGIN.sub(SMALLER, part))
    is_long = len(part) > LONGEST_PART or part[0] in SIGNS
    return markup if is_long else f'<span class="in-one-line">{markup}</span>'


def _heads(labels: Iterable[str]) -> str:
    return "".join([f'<th scope="row">{_escaped(label)}</th>' for label in labels])


def _escaped(text: str) -> str:
    """`escape` in a sixth of its calls: nearly all texts are numbers."""
    return escape(text) if MARKUP.search(text) else text
