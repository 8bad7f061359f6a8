"""Whoever has the portal's key alters one file, or one entry, and signs anew: each is caught, but for its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpportal.datasets import services as dataset_services
from mechanisms.verify import fields, planned
from mechanisms.verify.bundle import Bundle
from tests.dpportal.publications.changed_numbers import noticed
from tests.dpportal.publications.changes import CHANGES
from tests.dpportal.publications.forging import altered, faults, forged, is_caught, one_of_each
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.test_verified import MADE, downloaded

pytestmark = [pytest.mark.slow, pytest.mark.sampled]
PRODUCTS = {**MADE, "randomised answers": None}


@pytest.fixture(params=PRODUCTS)
def bundle(request, rich, tmp_path) -> Path:
    make = PRODUCTS[request.param]
    if make is None:
        dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
        return downloaded(finished(rich, "response", ["colour"], "2", "randomised-response"), tmp_path)
    return downloaded(make(rich), tmp_path)


def test_every_entry_of_release_json_is_derived_compared_or_listed_and_its_change_is_caught(bundle):
    read = Bundle.read(bundle)
    known, found = frozenset(faults(bundle)), planned.read(read)
    facts = read.release
    assert not [each for each in known if "  release.json: " in each]
    uncaught = {
        path for path in one_of_each(facts) if not is_caught(forged(bundle, {}, altered(facts, path)), known)
    }
    assert {path for path in uncaught if not fields.is_portals_word(read, found, path)} == set()
    assert is_caught(forged(bundle, {}, {**facts, "true_count": 7}), known)


def test_every_altered_file_is_caught(bundle):
    read, known = Bundle.read(bundle), frozenset(faults(bundle))
    names = [name for name in read.entries if name not in ("release.json", "signature.json")]
    assert len(names) > 8
    uncaught = [
        f"{name}, change {number}"
        for name in names
        for number, content in enumerate(CHANGES[Path(name).suffix](read.content(name)))
        if not is_caught(forged(bundle, {name: content}), known)
    ]
    assert uncaught == []
    assert is_caught(forged(bundle, {"notes.csv": b"n\n7\n"}), known)


def test_changed_numbers_in_texts_tables_and_charts_are_noticed(bundle):
    """Of 200 of each kind more than nine in ten are, so that chance lets this fail once in thousands of times."""
    found = noticed(bundle, 5, seed=7)
    missed = [each for _count, missed in found.values() for each in missed]
    assert len(missed) <= 0.2 * 5 * len(found), missed
