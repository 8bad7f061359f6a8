"""What a stream counts: the cells that have to be counted in a table, and what they add to each running count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from dpportal.platform.listed_names import listed
from dpportal.streams import correction_rule
from dpportal.streams.models import Stream
from mechanisms.domain import Attribute, Domain, Integer

MAX_SERIES = 1_000
MAX_CELLS = 2**22
# So that 2^20 periods still add up to less than 2^63.
MAX_INCREMENT = 10**12


class StreamDraftError(Exception):
    """A stream that cannot be opened as it is described; the message says what to change."""


@dataclass(frozen=True)
class Measure:
    """What is counted, by declared attributes.

    column: whose cells are told apart, None to tell none; cells: which of them count, each for itself if `split`.
    summed: whose values are added up, clipped to its bounds, missing as 0; None to count rows.
    """

    column: Attribute | None
    cells: tuple[int, ...]
    split: bool
    summed: Integer | None = None

    @property
    def labels(self) -> list[str]:
        """A label for each running count; one empty label if there is only one."""
        if self.column is None or not self.split:
            return [""]
        labels = self.column.labels()
        return [labels[cell] for cell in self.cells]

    @property
    def largest(self) -> int:
        """The most that one row can add."""
        return 1 if self.summed is None else self.summed.upper

    @property
    def domain(self) -> Domain:
        """The cells to count a table in: one for each value of the summed column, so that sums are exact."""
        columns = () if self.column is None else (self.column,)
        if self.summed is None:
            return Domain(columns)
        values = Integer(self.summed.name, True, self.summed.lower, self.summed.upper)
        return Domain((*columns, values))

    def increments(self, counts: np.ndarray) -> tuple[int, ...]:
        """What a period with these cell counts adds to each running count: k numbers, exact however large.

        counts: (domain.size,) int64 of `domain`.
        """
        by_cell = counts.reshape(self.domain.shape if self.column else (1, *self.domain.shape))
        chosen = by_cell[list(self.cells)]
        added = chosen.tolist() if self.summed is None else _sums(chosen, self.summed)
        return tuple(added) if self.split else (sum(added),)


def counted_by(stream: Stream, domain: Domain) -> Measure:
    """What a stream counts, in a declared domain of all columns. Raises StreamDraftError if it does not fit."""
    declared = {attribute.name: attribute for attribute in domain.attributes}
    if not declared and not stream.dataset.is_tableless:
        raise StreamDraftError(_("No column is declared yet. Declare the columns first."))
    if stream.column and stream.column not in declared:
        raise StreamDraftError(_("The chosen column is not declared any more. Choose it again."))
    summed = _summed(stream, declared)
    if not stream.column:
        counted = Measure(None, (0,), False, summed)
    else:
        column = declared[stream.column]
        cells = tuple(range(column.size)) if stream.split else tuple(stream.cells)
        counted = Measure(column, cells, stream.split, summed)
        _check_column(counted, column)
    _check(counted)
    return counted


def summed_bounds(stream: Stream) -> tuple[int, int]:
    """Between which numbers the values of the column that is added up are taken."""
    version = stream.domain_version or stream.dataset.current_domain()
    summed = _summed(stream, {a.name: a for a in version.domain().attributes} if version else {})
    assert summed is not None
    return summed.lower, summed.upper


def _summed(stream: Stream, declared: dict[str, Attribute]) -> Integer | None:
    if not stream.summed:
        return None
    summed = declared.get(stream.summed)
    if not isinstance(summed, Integer) or summed.lower < 0 or summed.upper < 1:
        raise StreamDraftError(
            _(
                "The column to add up must be declared as whole numbers from 0 or more, because a running sum "
                "never falls. Declare it so, or count rows."
            )
        )
    return summed


def _check_column(counted: Measure, column: Attribute) -> None:
    if counted.summed is not None and counted.summed.name == column.name:
        raise StreamDraftError(
            _("One column cannot both be added up and choose the rows. Choose another for one of the two.")
        )
    if not counted.cells or max(counted.cells) >= column.size:
        raise StreamDraftError(_("Choose at least one of the column's values, as they are declared now."))
    if len(set(counted.labels)) != len(counted.labels):
        raise StreamDraftError(
            _(
                "Two values of this column have the same name, so their counts cannot be told apart. Declare others."
            )
        )
    if counted.split and len(counted.cells) > MAX_SERIES:
        raise StreamDraftError(
            _(
                "At most %(most)s running counts can be published together; this column has %(cells)s cells. "
                "Choose some of its "
                "values, or declare wider cells."
            )
            % {"most": f"{MAX_SERIES:,}", "cells": f"{len(counted.cells):,}"}
        )


def _check(counted: Measure) -> None:
    if counted.summed is not None and counted.summed.upper > MAX_INCREMENT:
        raise StreamDraftError(
            _("A row may add at most %(most)s. Declare a smaller upper limit for the column to add up.")
            % {"most": f"{MAX_INCREMENT:,}"}
        )
    if counted.domain.size > MAX_CELLS:
        raise StreamDraftError(
            _(
                "The column to add up spans too many values to add them exactly. Declare narrower limits for it, or "
                "give it in a larger unit, such as thousands."
            )
        )


def read_increments(stream: Stream, given: object) -> tuple[int, ...]:
    """A period's increments as people or programs give them: a whole number, or one for each label by name.

    Raises StreamDraftError; its message holds no number that was given.
    """
    labels: list[str] = stream.labels
    if isinstance(given, dict) and labels == [""]:
        raise StreamDraftError(
            _("This stream has one running count. Give a whole number, such as 12, without a name.")
        )
    if isinstance(given, dict):
        given_labels = [str(label) for label in given]
        if unlisted := [place for place, label in enumerate(given_labels, 1) if label not in labels]:
            raise StreamDraftError(
                _(
                    "Of the names that were sent, no. %(places)s is no value that is counted here. Its values are: "
                    "%(values)s."
                )
                % {"places": shown([str(place) for place in unlisted]), "values": shown(labels)}
            )
        if lacking := [label for label in labels if label not in given_labels]:
            raise StreamDraftError(
                _("Give a count for every value, 0 where there is none. Missing: %(values)s.")
                % {"values": shown(lacking)}
            )
        return tuple(_increment(stream, given[label]) for label in labels)
    if labels != [""]:
        raise StreamDraftError(
            _("This stream has several running counts. Give one for each value, by its name: %(values)s.")
            % {"values": shown(labels)}
        )
    return (_increment(stream, given),)


def largest_increment(stream: Stream) -> int:
    """To which a period's counts are clipped, each by itself."""
    return MAX_INCREMENT if stream.largest_increment is None else stream.largest_increment


def shown(labels: list[str], most: int = 20) -> str:
    """Labels in a sentence, the first of many."""
    return listed(labels[:most]) + (" …" if len(labels) > most else "")


def _increment(stream: Stream, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise StreamDraftError(
            _("A count must be a whole number, such as 12, without a fraction and not as text.")
        )
    if value < 0:
        negative = _("A count must not be negative: a running count never falls.")
        raise StreamDraftError(f"{negative} {correction_rule.rule(stream.plan.loss)}")
    return value


def _sums(counts: np.ndarray, summed: Integer) -> list[int]:
    """The exact sums of counts of (n, values and missing) int64, missing as 0.

    Distances from the lower bound are added in 64 bits: there are at most MAX_CELLS of them, so that 2^41 rows fit.
    """
    present = counts[:, :-1]
    distances = present @ np.arange(present.shape[1], dtype=np.int64)
    rows = present.sum(axis=1)
    return [
        summed.lower * number + further
        for number, further in zip(rows.tolist(), distances.tolist(), strict=True)
    ]
