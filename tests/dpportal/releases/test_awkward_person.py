"""The promise from the file's first byte to the ledger's last line, with the most awkward person: an audit.

Each file is uploaded twice in the browser's way, without and with one person's rows, declared alike, and released many
times through the job that draws the noise. What the releases of the two show must be as likely as the loss allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from math import exp

import numpy as np
import pytest
from django.test import Client
from scipy.stats import beta

from dpportal.budgets.models import Budget
from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.releases import execution, results
from dpportal.releases.models import Release
from mechanisms.domain import Attribute, Boolean, Categorical, Integer
from tests.dpportal import building

pytestmark = pytest.mark.slow

EPSILON = Decimal("0.1")
RELEASES = 30
OTHERS = 1_000
# That a file which keeps the promise fails, over all events of all files together.
ERROR = 1e-5


@dataclass(frozen=True)
class Case:
    """other: a row of everybody else. awkward: one person's rows. attribute: of column x, the one released."""

    header: bytes
    other: bytes
    awkward: bytes
    attribute: Attribute
    fields: dict[str, str] = field(default_factory=dict)
    unit_column: str = ""


CASES = {
    "codes and a letter": Case(b"x", b"1.0", b"U", Categorical("x", values=("1", "2"))),
    "yes, no and a letter": Case(b"x", b"1.0", b"U", Boolean("x", True)),
    "thousands and a word": Case(
        b"x",
        b'"1,234"',
        b"unknown",
        Integer("x", True, lower=0, upper=9_999, width=1_000),
        {"thousands": ","},
    ),
    "a byte in another column": Case(
        b"x,note",
        "Zürich,ok".encode(),
        "Zürich,".encode() + b"\xe9",
        Categorical("x", values=("Zürich", "Bern")),
    ),
    "no space": Case(b"name, x", b"Ann, nurse", b"Bob,nurse", Categorical("x", values=("nurse",))),
    "spaces that count": Case(
        b"name,x", b"Ann, nurse", b"Bob,nurse", Categorical("x", values=(" nurse",)), {"strip": "kept"}
    ),
    "a person of many names": Case(
        b"x,who",
        b"a,Q1",
        b"\n".join(b"a,P1" + b" " * spaces for spaces in range(300)),
        Categorical("x", values=("a",)),
        unit_column="who",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_one_awkward_person_changes_what_is_released_by_no_more_than_the_loss(
    client, curator, administrator, name
):
    case = CASES[name]
    client.force_login(curator)
    without, with_person = (
        released(stored(client, case, extra), case, administrator) for extra in (b"", case.awkward + b"\n")
    )
    events = np.median(np.concatenate([without, with_person]), axis=0)
    likely = exp(EPSILON) * (1 + 1e-12)
    alpha = ERROR / (len(CASES) * events.size * 4)
    for seen, other in ((without, with_person), (with_person, without)):
        for side in (np.greater_equal, np.less):
            least, most = at_least(side(seen, events), alpha), at_most(side(other, events), alpha)
            assert np.all(least <= likely * most)


def test_the_audit_sees_a_file_that_was_read_again_because_of_one_row():
    """What the old reading did: every count of 1,000 moved."""
    alpha = ERROR / (len(CASES) * 4 * 4)
    moved, stayed = np.ones((RELEASES, 1), bool), np.zeros((RELEASES, 1), bool)
    assert at_least(moved, alpha)[0] > exp(EPSILON) * at_most(stayed, alpha)[0]


def stored(client: Client, case: Case, extra: bytes) -> Dataset:
    content = case.header + b"\n" + (case.other + b"\n") * OTHERS + extra
    if case.unit_column:
        numbered = b"".join(case.other.replace(b"Q1", b"Q%d" % i) + b"\n" for i in range(OTHERS))
        content = case.header + b"\n" + numbered + extra
    dataset = building.uploaded(client, content, **case.fields)
    services.declare(dataset, "x", case.attribute)
    services.declare_unit(dataset, neighbours="add-remove", unit_column=case.unit_column, max_rows=1)
    return dataset


def released(dataset: Dataset, case: Case, administrator) -> np.ndarray:
    """The noisy counts of many releases, (RELEASES, cells); the ledger has a line for each."""
    building.granted(dataset, administrator, "10", knowing=True)
    counts = []
    for _ in range(RELEASES):
        draft = Release.objects.create(
            dataset=dataset,
            created_by=dataset.owner,
            columns=["x"],
            mechanism="laplace-histogram",
            parameters={"within_bins": "smooth"},
            amount=EPSILON,
            people=OTHERS,
        )
        assert building.confirm(draft)
        execution.RELEASES.run(draft.pk)
        draft.refresh_from_db()
        assert draft.state == Release.State.READY
        counts.append(results.reconstruct(draft).result.counts.ravel())
    [account] = Budget.objects.filter(dataset=dataset)
    assert (account.spent, account.unit_column) == (EPSILON * RELEASES, case.unit_column)
    assert dataset.ledger.filter(state="spent").count() == RELEASES
    return np.array(counts)


def at_least(happened: np.ndarray, alpha: float) -> np.ndarray:
    """Below each event's chance but for `alpha` (Clopper and Pearson)."""
    hits = happened.sum(axis=0)
    return np.where(hits == 0, 0.0, beta.ppf(alpha, np.maximum(hits, 1), len(happened) - hits + 1))


def at_most(happened: np.ndarray, alpha: float) -> np.ndarray:
    """Above each event's chance but for `alpha`."""
    hits, n = happened.sum(axis=0), len(happened)
    return np.where(hits == n, 1.0, beta.ppf(1 - alpha, hits + 1, np.maximum(n - hits, 1)))
