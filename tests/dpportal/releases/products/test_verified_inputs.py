"""Bundles of uploaded queries, and of a loss in ρ, are verified too; with another matrix or another ε they are not."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dpportal.releases.products.queries import matrices
from dpportal.releases.products.queries.matrices import UploadedMatrix
from mechanisms.verify import planned
from mechanisms.verify.bundle import Bundle, BundleError
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building
from tests.dpportal.publications.forging import altered, faults, forged, is_caught
from tests.dpportal.releases.products import building as products
from tests.dpportal.releases.products.queries.building import draft_of, finished
from tests.dpportal.releases.products.test_verified import MADE, downloaded

pytestmark = pytest.mark.slow


def test_uploaded_queries_are_those_that_the_plan_names(rich, tmp_path):
    rows = scipy.sparse.csr_array(np.tril(np.ones((10, 10))))
    digest = matrices.store(UploadedMatrix(rows))
    draft = draft_of(rich, f'uploaded("{digest}")', ["age"], "9", "identity-strategy")
    path = downloaded(finished(draft), tmp_path)
    assert not [each for each in faults(path) if not each.startswith("not checked")]
    name = f"matrix-{digest}.npz"
    with np.load(io.BytesIO(Bundle.read(path).content(name)), allow_pickle=False) as arrays:
        parts = {each: arrays[each] for each in arrays.files}
    held = io.BytesIO()
    np.savez_compressed(held, **{**parts, "data": parts["data"] * 2})
    assert any(name in each for each in faults(forged(path, {name: held.getvalue()})))


def test_a_large_product_that_was_searched_for_is_worked_out_factor_by_factor(rich, tmp_path, monkeypatch):
    monkeypatch.setattr("mechanisms.verify.strategy.MOST_SOLVED", 10)
    monkeypatch.setattr("mechanisms.verify.strategy.MOST_CELLS", 10)
    draft = draft_of(rich, 'ranges("age") x identity("colour")', ["age", "colour"], "9", "p-identity")
    path = downloaded(finished(draft), tmp_path)
    found = {each.what: each.state for each in verify(Bundle.read(path))}
    assert {found["strategy"], found["answers.csv"], found["cells.csv"]} == {State.HOLDS}
    table = pd.read_csv(io.BytesIO(Bundle.read(path).content("answers.csv")), dtype=str)
    table.loc[3, "standard_error"] = "0.1"
    altered_table = table.to_csv(index=False).encode()
    assert any("answers.csv" in each for each in faults(forged(path, {"answers.csv": altered_table})))


def test_weights_of_counted_tables_are_those_that_the_noise_is_for(rich, tmp_path):
    """One that is negative would make their sum, which one person moves them by, look smaller than it is."""
    path = downloaded(MADE["answers by weighted tables"](rich), tmp_path)
    facts = Bundle.read(path).release
    first, *others = facts["plan"]["details"]["weights"]
    for weights in ([first + 1, *others], [first // 2, *others], [first, *others, 1]):
        details = {**facts["plan"]["details"], "weights": weights}
        changed = {**facts, "plan": {**facts["plan"], "details": details}}
        assert is_caught(forged(path, {}, changed), frozenset(faults(path)))
    negative = {**facts["plan"]["details"], "weights": [-first, *others]}
    with pytest.raises(BundleError, match="plan cannot be read"):
        planned.read(Bundle.read(forged(path, {}, {**facts, "plan": {**facts["plan"], "details": negative}})))


def test_a_bundle_under_rho_says_what_its_loss_implies(curator, administrator, tmp_path):
    dataset = building.granted(building.stored_dataset(curator, "zCDP"), administrator, "100", "zcdp")
    parameters = {"group": "colour", "twice": []}
    release = products.finished(dataset, "summary", ["colour", "age"], "1", "column-tables", **parameters)
    path = downloaded(release, tmp_path)
    assert not [each for each in faults(path) if not each.startswith("not checked")]
    facts = Bundle.read(path).release
    assert is_caught(forged(path, {}, altered(facts, "disclosure.implies.epsilon")), frozenset(faults(path)))
