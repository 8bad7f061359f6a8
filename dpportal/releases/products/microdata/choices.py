"""Which column and which measured pair a reader of a synthetic table looks at, by the page's address."""

from __future__ import annotations

from django.http import QueryDict

from dpportal.charts.single_columns import column_figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.shared.figures import figure_json


def chosen(shown: Json, question: QueryDict) -> Json:
    """chosen_column: one with its chart, the first unless the address names another. chosen_pair: a measured table."""
    columns, tables = shown.get("columns") or [], shown.get("tables") or []
    pair = _place(question, "pair", len(tables))
    return {
        **(
            {"chosen_column": column_of(columns, _place(question, "column", len(columns)) or 0)}
            if columns
            else {}
        ),
        **({"chosen_pair": tables[pair]} if pair is not None else {}),
    }


def column_of(columns: list[Json], place: int) -> Json:
    """What `sample.columns` stored of one, with its chart, and its counts as lines of a table."""
    column = columns[place]
    figure = column_figure(
        column["name"],
        column["labels"],
        column["counts"],
        half_width=column["margin"],
        together=column["together"],
        is_ordered=column.get("is_ordered", True),
    )
    lines = [[*line] for line in zip(column["labels"], column["counts"], strict=True)]
    return {**column, "place": place, "figure": figure_json(figure), "lines": lines}


def _place(question: QueryDict, name: str, size: int) -> int | None:
    """A number of the address below the size; what is none of these is unsaid."""
    text = question.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 and int(text) < size else None
