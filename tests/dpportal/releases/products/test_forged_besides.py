"""Whoever has the portal's key puts a table or an entry of another plan into a bundle and signs anew: it is caught."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from dpportal.datasets import services as dataset_services
from mechanisms.domain import Categorical
from mechanisms.tabular.croissant import DataFile, croissant
from mechanisms.verify import documents
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from mechanisms.verify.observations import bundle_name
from tests.dpportal.publications.forging import as_written, faults, forged, is_caught
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.test_verified import MADE, downloaded

pytestmark = [pytest.mark.slow, pytest.mark.sampled]
# Entries of other products, in which a true number of people could stand.
OF_OTHERS: dict[str, object] = {
    "points_per_row": 48611,
    "measured_pairs": [["a", "b"]],
    "number_of_people": 48611,
    "readings": ["x"],
    "chosen_method": "true-counts",
    "choice": ["red", 100],
    "queries": "7",
    "synthetic_rows": 48611,
    "noise_of_columns": 48611,
    "noise_of_tables": 3,
    "counted": {"values": [["a", 48611], ["b", 7]]},
    "periods": 48611,
    "calendar": {"step": 48611},
    "stream": "48611",
    "opened_at": "48611",
    "true_rows": 48611,
}


def with_table(path: Path, like: str, name: str, content: bytes) -> Path:
    """A bundle with one table more, which all descriptions name as they do the one that it is like."""
    read = Bundle.read(path)
    package, linked = (json.loads(read.content(each)) for each in ("datapackage.json", "croissant.json"))
    own: dict[str, Any] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    [resource] = [each for each in package["resources"] if each["path"] == like]
    stem = name.rpartition(".")[0]
    further = {"name": stem, "path": name, "bytes": own["bytes"], "hash": f"sha256:{own['sha256']}"}
    package["resources"].append({**resource, **further})
    described = as_written(package)
    facts = {**read.release, "files": {**read.release["files"], name: own}}
    facts["files"]["datapackage.json"] = {"bytes": len(described), "sha256": sha256(described).hexdigest()}
    fields = {each["path"]: each["schema"]["fields"] for each in package["resources"]}
    stated = [(each["name"], str(each["description"])) for each in linked["distribution"]]
    at = [named for named, _words in stated].index(like)
    stated.insert(at + 1, (name, dict(stated)[like]))
    files = [
        DataFile(each, words, **_size(facts["files"][each]), fields=fields.get(each, ()))
        for each, words in stated
    ]
    named = (bundle_name(read), facts["title"])
    said, day = documents._described(read, linked), facts["measured_at"][:10]
    linked = croissant(named, facts["statement"], facts["curator"], day, said, files)
    return forged(path, {name: content, "datapackage.json": described, "croissant.json": as_written(linked)})


def _size(facts: dict[str, Any]) -> dict[str, Any]:
    return {"size": facts["bytes"], "sha256": facts["sha256"]}


def test_no_true_records_pass_as_replicates_of_a_plan_without(rich, tmp_path):
    path = downloaded(MADE["rows of many columns"](rich), tmp_path)
    known = frozenset(faults(path))
    head = Bundle.read(path).content("synthetic.csv").split(b"\n")[0]
    true = b"\n".join([head, *(b"red,%d" % age for age in range(90)), b""])
    said = list(faults(with_table(path, "synthetic.csv", "replicates.csv", true), known))
    assert any("replicates.csv: such a plan makes no such table" in each for each in said)


def test_no_other_numbers_pass_as_means_of_all_where_there_are_no_groups(rich, tmp_path):
    path = downloaded(
        finished(rich, "means", ["age"], "9", "bernstein-sums", measured=["age"], steps={"age": "10"}),
        tmp_path,
    )
    known = frozenset(faults(path))
    true = Bundle.read(path).content("totals.csv").replace(b"9", b"7")
    said = list(faults(with_table(path, "totals.csv", "in_all.csv", true), known))
    assert any("in_all.csv: such a plan makes no such table" in each for each in said)


@pytest.mark.parametrize("product", MADE)
def test_entries_of_other_products_and_missing_ones_are_caught(rich, tmp_path, product):
    path = downloaded(MADE[product](rich), tmp_path)
    known, facts = frozenset(faults(path)), Bundle.read(path).release
    unseen = [
        f"with {name}"
        for name, value in OF_OTHERS.items()
        if name not in facts and not is_caught(forged(path, {}, {**facts, name: value}), known)
    ]
    for outer in ("protects", "domain"):
        for name in facts[outer]:
            lacking = {**facts, outer: {key: own for key, own in facts[outer].items() if key != name}}
            unseen += [] if is_caught(forged(path, {}, lacking), known) else [f"without {outer}.{name}"]
    more = {**facts, "protects": {**facts["protects"], "other_true_rows": 48611}}
    assert unseen + ([] if is_caught(forged(path, {}, more), known) else ["with other_true_rows"]) == []


def test_codes_of_a_choice_are_said_to_be_the_portals_word(rich, tmp_path):
    colours = Categorical("colour", values=("1", "2", "3"), words=("red", "green", "blue"))
    dataset_services.declare(rich, "colour", colours)
    found = list(verify(Bundle.read(downloaded(MADE["a choice"](rich), tmp_path))))
    [said] = [each for each in found if each.what == "choice.csv" and each.state is State.STATED]
    assert "codes in choice.csv are the portal's word" in said.details
    assert {each.state for each in found} == {State.HOLDS, State.STATED}


def test_a_false_number_of_rows_keeps_no_true_record_from_being_looked_at(rich, tmp_path):
    path = downloaded(MADE["rows of many columns"](rich), tmp_path)
    facts = {**Bundle.read(path).release, "synthetic_rows": 1_000_000}
    said = list(faults(forged(path, {}, facts)))
    assert any("rows, and release.json says 1,000,000" in each for each in said)
