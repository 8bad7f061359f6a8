"""Whoever has the portal's key alters a bundle of running counts and signs anew: each change is caught."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
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


def test_no_measurement_further_drawing_or_entry_of_a_release_passes(downloaded):
    read, known, counts = Bundle.read(downloaded), frozenset(faults(downloaded)), io.BytesIO()
    np.save(counts, np.array([48611, 24306]))
    drawing = read.content("chart-01.svg")
    files = {"measurement.npy": counts.getvalue(), "chart.svg": drawing, "chart-99.svg": drawing}
    unseen = [name for name, own in files.items() if not is_caught(forged(downloaded, {name: own}), known)]
    entries = {
        "measurement_sha256": "00",
        "domain": {"version": 1},
        "release": "1",
        "number_of_people": 48611,
    }
    unseen += [
        name
        for name, value in entries.items()
        if not is_caught(forged(downloaded, {}, {**read.release, name: value}), known)
    ]
    assert unseen == []
