"""Bundles of uploaded queries, and of a loss in ρ, are verified too; with another matrix or another ε they are not."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from django.conf import settings

from dpportal.releases.products.queries import matrices
from dpportal.releases.products.queries.matrices import UploadedMatrix
from mechanisms.verify import planned
from mechanisms.verify.__main__ import main
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


def changed_arrays(path: Path, change: dict[str, Callable[[np.ndarray], np.ndarray]]) -> Path:
    """The bundle with other arrays of its strategy, signed anew."""
    with np.load(io.BytesIO(Bundle.read(path).content("strategy.npz")), allow_pickle=False) as arrays:
        parts = {each: arrays[each] for each in arrays.files}
    held = io.BytesIO()
    np.savez_compressed(held, **{**parts, **{name: of(parts[name]) for name, of in change.items()}})
    return forged(path, {"strategy.npz": held.getvalue()})


def test_a_product_too_large_for_one_matrix_is_worked_out_by_its_factors(rich, tmp_path, monkeypatch):
    """Weights, and so what one person moves, are those that the noise is for."""
    monkeypatch.setattr("mechanisms.matrix.strategy_arrays.MAX_WEIGHTS", 0)
    draft = draft_of(rich, 'ranges("age") x identity("colour")', ["age", "colour"], "9", "p-identity")
    path = downloaded(finished(draft), tmp_path)
    found = {each.what: each.state for each in verify(Bundle.read(path))}
    assert State.NOT_CHECKED not in found.values()
    assert {found["strategy"], found["answers.csv"], found["cells.csv"]} == {State.HOLDS}
    larger = changed_arrays(path, {"part1_column1_data": lambda data: data * 2})
    assert any("a person moves its sums by" in each for each in faults(larger))
    fewer = changed_arrays(path, {"part1_column1_shape": lambda shape: shape + np.array([0, 1])})
    assert main([str(fewer)]) == 1


def test_weights_that_are_not_whole_are_no_strategy(rich, tmp_path, capsys):
    draft = draft_of(rich, 'ranges("age")', ["age"], "9", "p-identity")
    path = downloaded(finished(draft), tmp_path)
    half = changed_arrays(path, {"data": lambda data: data / 2 + 0.25})
    assert main([str(half)]) == 1 and "no portal writes it so" in capsys.readouterr().out


def test_what_cannot_be_checked_has_a_status_and_a_sentence_of_its_own(rich, tmp_path, monkeypatch, capsys):
    draft = draft_of(rich, 'ranges("age")', ["age"], "9", "p-identity")
    path, key = downloaded(finished(draft), tmp_path), settings.SIGNING_KEYS.public[0]
    assert main([str(path), "--key", key]) == 0
    assert capsys.readouterr().out.endswith("changed since the holder of that key signed it.\n")
    assert main([str(path)]) == 0 and "Give the portal's key by --key" in capsys.readouterr().out
    assert main([str(path), "--key", "00" * 32]) == 1
    for limit in ("tables.MOST_ROWS", "strategy.MOST_CELLS"):
        monkeypatch.setattr(f"mechanisms.verify.{limit}", 1)
    monkeypatch.setattr("mechanisms.verify.strategy.product_of", lambda *_of: None)
    assert main([str(path), "--key", key]) == 3
    assert "Nobody but the holder can say" in capsys.readouterr().out


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


@pytest.mark.parametrize("strategy", ["p-identity", "hierarchy-strategy"])
def test_margins_far_below_the_answers_are_worked_out_and_a_changed_one_is_noticed(rich, tmp_path, strategy):
    """At ε = 40 they are hundred-millionths of a person, which no end of an interval has in its digits."""
    path = downloaded(finished(draft_of(rich, 'ranges("age")', ["age"], "40", strategy)), tmp_path)
    assert [
        str(each) for each in verify(Bundle.read(path)) if each.state not in (State.HOLDS, State.STATED)
    ] == []
    report = Bundle.read(path).content("report.html").decode()
    [margin] = re.findall(r"± (0\.0000000[0-9]+)\s+to", report)
    larger = report.replace(f"± {margin}", f"± {margin[:-3]}777").encode()
    assert any("report.html" in each for each in faults(forged(path, {"report.html": larger})))
