"""What a stream counts in a table, by whatever columns are declared."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.streams.measure import MAX_INCREMENT, Measure, StreamDraftError, counted_by
from dpportal.streams.models import Stream
from mechanisms.domain import Boolean, Categorical, Domain, Integer, Real

CLOSED = Boolean("A", closed=True)
AMOUNT = Integer("B", lower=0, upper=5)


def counted(*columns, **chosen) -> Measure:
    return counted_by(Stream(**{"column": "", "summed": "", "cells": [], **chosen}), Domain(columns))


def test_every_row_counts_whatever_the_first_column_leaves_out():
    every = counted(CLOSED, AMOUNT)
    assert every.domain == Domain(()) and not every.domain.leaves_out
    assert every.increments(np.array([3])) == (3,)


def test_every_row_adds_whatever_the_first_column_leaves_out():
    summed = counted(CLOSED, AMOUNT, summed="B")
    assert summed.domain.names == ("B",)
    assert summed.increments(np.array([0, 1, 1, 1, 0, 0, 2])) == (6,)


def test_the_only_column_can_be_added_up():
    assert counted(AMOUNT, summed="B").increments(np.array([0, 0, 2, 0, 0, 0, 0])) == (4,)


def test_series_that_are_called_alike_are_refused():
    """As a declaration of an earlier version may have it."""
    clash = Categorical("A", True, ("x", "Missing"))
    with pytest.raises(StreamDraftError, match="same name"):
        counted(clash, column="A", split=True)


def test_narrow_bins_have_names_of_their_own():
    narrow = Real("A", lower=1e10, upper=1e10 + 4, bins=4)
    assert len(set(narrow.labels())) == narrow.size
    counted(narrow, column="A", split=True)


def test_a_row_that_could_add_more_than_a_sum_can_hold_is_refused():
    with pytest.raises(StreamDraftError, match="A row may add at most"):
        counted(Integer("B", lower=MAX_INCREMENT - 1, upper=2**59), summed="B")


def test_a_sum_beyond_64_bits_is_exact():
    """It would be below 0 in 64 bits, and a period that nothing may refuse would fail."""
    column = Integer("B", lower=MAX_INCREMENT - 2, upper=MAX_INCREMENT)
    counts = np.array([1, 0, 10**8, 7])
    assert counted(column, summed="B").increments(counts) == (MAX_INCREMENT - 2 + MAX_INCREMENT * 10**8,)
