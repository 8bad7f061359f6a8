"""Whose running count a line of a file is: the value as the table has it, and its label where it is a code."""

from __future__ import annotations

from dpportal.streams.measure import counted_by
from dpportal.streams.models import Stream
from mechanisms.tabular.label_columns import LabelColumn, holds_integers, written

VALUE, LABEL = "value", "value_label"


def value_columns(stream: Stream) -> list[LabelColumn]:
    """The column of values, and beside it that of labels where values are codes; a text for each running count.

    Missing values are an empty field, as in every other file; so is the name of a running count that is alone.
    """
    version = stream.domain_version
    assert version is not None
    counted = counted_by(stream, version.domain())
    if counted.column is None or not counted.split:
        return [LabelColumn(VALUE, 0, list(stream.labels), VALUE)]
    column, columns = counted.column, []
    names = [(VALUE, column.codes(), holds_integers(column))]
    if column.has_codes:
        names.append((LABEL, column.labels(), False))
    for name, texts, is_integer in names:
        cells = written(column, texts)
        columns.append(LabelColumn(name, 0, [cells[cell] for cell in counted.cells], column.name, is_integer))
    return columns
