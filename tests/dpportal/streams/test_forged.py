"""Whoever has the portal's key alters a bundle of running counts and signs anew: each change is caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechanisms.verify import fields, planned
from mechanisms.verify.bundle import Bundle
from tests.dpportal.publications.changed_numbers import noticed
from tests.dpportal.publications.changes import CHANGES
from tests.dpportal.publications.forging import altered, faults, forged, is_caught, one_of_each
from tests.dpportal.streams.test_verified import downloaded

__all__ = ["downloaded"]
pytestmark = [pytest.mark.slow, pytest.mark.sampled]


def test_every_entry_and_every_file_of_a_running_count_is_bound(downloaded):
    read, known = Bundle.read(downloaded), frozenset(faults(downloaded))
    assert known == frozenset()
    found, facts = planned.read(read), read.release
    uncaught = [
        path
        for path in one_of_each(facts)
        if not is_caught(forged(downloaded, {}, altered(facts, path)), known)
    ]
    assert [path for path in uncaught if not fields.is_portals_word(read, found, path)] == []
    names = [name for name in read.entries if name not in ("release.json", "signature.json")]
    assert len(names) > 8
    altered_files = [
        f"{name}, change {number}"
        for name in names
        for number, content in enumerate(CHANGES[Path(name).suffix](read.content(name)))
        if not is_caught(forged(downloaded, {name: content}), known)
    ]
    assert altered_files == []


def test_changed_numbers_in_texts_tables_and_charts_are_noticed(downloaded):
    """Of 200 of each kind more than nine in ten are, so that chance lets this fail once in thousands of times."""
    found = noticed(downloaded, 5, seed=7)
    missed = [each for _count, missed in found.values() for each in missed]
    assert len(missed) <= 0.2 * 5 * len(found), missed
