"""Tables of more columns than latent classes settle rows of: as near to the truth as may be, and in minutes."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.cost_estimate import memory
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.latent_classes import FITTED_BYTES, MOST_SETTLED
from mechanisms.microdata.mixture import Mixture
from mechanisms.microdata.quality import closeness, table_of_rows
from mechanisms.microdata.spending import table_laws
from mechanisms.microdata.tables import Grouping
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.registry import microdata
from tests.mechanisms.microdata.building import counted, loss

MANY = Domain(tuple(Boolean(f"c{j}", missing_cell=True) for j in range(MOST_SETTLED + 20)))


@pytest.mark.slow
def test_of_many_columns_each_follows_the_one_before_it():
    """Two columns in a row agree in 9 of 10 rows, in half of them if they were independent."""
    random, d = np.random.default_rng(11), len(MANY.shape)
    rows = np.zeros((3000, d), dtype=np.int64)
    rows[:, 0] = random.integers(0, 2, 3000)
    for j in range(1, d):
        rows[:, j] = np.where(random.random(3000) < 0.9, rows[:, j - 1], 1 - rows[:, j - 1])
    method = microdata("latent-classes")
    zeros = Wishes(zeros=(("c0", "true", "c79", "false"),))
    plan = method.plan(MANY, zeros, loss("1"))
    made = method.reconstruct(plan, method.measure(plan, counted(plan, rows), Noise())).rows
    agree = (made[:, 1:] == made[:, :-1]).mean()
    assert agree > 0.8
    assert not plan.wishes.impossible(MANY).broken(made).any()
    chosen = [closeness(*(table_of_rows(r, MANY.shape, (j, j + 1)) for r in (rows, made))) for j in range(9)]
    assert np.mean([c.synthetic for c in chosen]) < np.mean([c.independent for c in chosen]) / 2


def test_one_table_of_a_mixture_is_the_one_among_all():
    random = np.random.default_rng(2)
    grouping = Grouping(tuple(np.arange(size) for size in (2, 3, 4)), {(0, 2): np.eye(2, 4, dtype=bool)})
    shares = np.hstack([random.dirichlet(np.ones(size), 5) for size in (2, 3, 4)])
    mixture = Mixture(grouping, random.dirichlet(np.ones(5)), shares)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        found = mixture.tables()[grouping.place(a), grouping.place(b)]
        assert mixture.table((a, b)) == pytest.approx(found) and found.sum() == pytest.approx(1)
    assert (mixture.table((0, 2))[np.eye(2, 4, dtype=bool)] == 0).all()


def test_what_would_take_hours_to_fit_is_refused_unless_few_columns_are_kept():
    fine = Domain(tuple(Integer(f"x{j}", lower=0, upper=199) for j in range(40)))
    finer = Domain(tuple(Integer(f"x{j}", lower=0, upper=109) for j in range(70)))
    method, target = microdata("latent-classes"), Wishes(target="x0")
    method.plan(fine, Wishes(), loss())
    with pytest.raises(PlanError, match="7,070 groups of values; more than 6,100 take hours to fit"):
        method.plan(finer, target, loss())
    method.plan(finer, target, loss(), choice=ColumnChoice(60))
    microdata("tree-of-pairs").plan(finer, target, loss())


@pytest.mark.parametrize("definition", Definition)
def test_tables_of_equal_size_share_one_law(definition):
    """A law remembers its weights: of thousands of measured pairs they would take a gigabyte."""
    cells = [16, 12, 16, 9, 12]
    laws = table_laws(cells, loss("1/100", definition))
    assert laws[0] is laws[2] and laws[1] is laws[4] and len({id(law) for law in laws}) == 3


def test_memory_foreseen_of_many_columns_holds_no_table_of_all_cells():
    columns = Domain(tuple(Integer(f"x{j}", lower=0, upper=23) for j in range(200)))
    method = microdata("latent-classes")
    plan = method.plan(columns, Wishes(), loss())
    tables = 16 * plan.cells + (6 * 8 + 3 * 200) * 50_000
    fits = FITTED_BYTES * 200 * 199 // 2
    assert tables < memory(method, plan, 50_000) - fits < tables + 100 * 2**20
