"""The smallest and the largest losses: refused before anything is measured, or carried through."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.calibration import count_law
from mechanisms.domain import Domain, Integer
from mechanisms.microdata import spending
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.limits import RowCount
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.spending import check_tables, table_laws
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import PlanError
from mechanisms.registry import MICRODATA
from tests.mechanisms.microdata.building import (
    DOMAIN,
    FITTED,
    counted,
    loss,
    of_methods,
    people,
    skip_unless_offered,
)
from tests.nightly import NIGHTLY

each_method = pytest.mark.parametrize("method", of_methods(slow=FITTED))
each_definition = pytest.mark.parametrize("definition", Definition, ids=lambda d: d.value)


def planned(method: Microdata, definition: Definition, amount: str) -> MicrodataPlan | None:
    """What cannot be released is refused by its plan."""
    try:
        return method.plan(DOMAIN, Wishes(), loss(amount, definition), rows=RowCount(10))
    except PlanError:
        return None


def carry_through(method: Microdata, plan: MicrodataPlan) -> None:
    """Release a table as planned, with draws that are the same every day."""
    with np.errstate(all="raise", under="ignore"):
        noise = Noise(repeatable(sha256(str(plan.loss.amount).encode()).digest()).bytes)
        result = method.reconstruct(plan, method.measure(plan, counted(plan, people(300)), noise))
    assert (result.rows >= 0).all() and (result.rows < DOMAIN.shape).all()


@each_definition
@each_method
def test_from_the_least_loss_that_is_not_refused_on_none_fails(method, definition):
    skip_unless_offered(method, definition)
    least, step = (-9, 1) if definition is Definition.PURE else (-21, 2)
    plans = [planned(method, definition, f"{10.0 ** (least + step * k):.21f}") for k in range(10)]
    first = next(k for k, plan in enumerate(plans) if plan is not None)
    assert first > 0
    assert None not in plans[first:], "once a loss is large enough, larger ones are"
    # Noise is wildest at the least losses; by day the largest stands for those between.
    for plan in plans[first:] if NIGHTLY else [*plans[first : min(first + 3, 9)], plans[9]]:
        carry_through(method, plan)


@pytest.mark.slow
@each_definition
@each_method
def test_a_table_almost_without_noise_is_the_table(method, definition):
    skip_unless_offered(method, definition)
    few = planned(method, definition, "1000")
    assert few is not None
    carry_through(method, few)
    plan = method.plan(DOMAIN, Wishes(), loss("1000", definition))
    rows = people(300)
    result = method.reconstruct(plan, method.measure(plan, counted(plan, rows), Noise()))
    for column, size in enumerate(DOMAIN.shape):
        assert np.array_equal(result.margins[column], np.bincount(rows[:, column], minlength=size))
        made = np.bincount(result.rows[:, column], minlength=size)
        assert np.abs(made - result.margins[column]).sum() <= 0.15 * len(rows)


@pytest.mark.parametrize("name", ["latent-classes", "tree-of-pairs", "principal-components"])
def test_noise_of_a_later_step_is_refused_by_the_plan(name):
    """Sixty columns have 1,770 pairs: the score of each, or a table of one cell among others, has far more noise."""
    (method,) = (m for m in MICRODATA if m.name == name)
    (alone,) = (m for m in MICRODATA if m.name == "independent-columns")
    columns = Domain(tuple(Integer(f"x{i}", lower=0, upper=9) for i in range(60)))
    small = loss("0.000001", Definition.PURE)
    alone.plan(columns, Wishes(), small)
    with pytest.raises(PlanError, match="too small"):
        method.plan(columns, Wishes(), small)


@pytest.mark.parametrize("tables, cells", [(1, 1), (1, 500), (2, 9), (60, 100)])
@each_definition
def test_the_most_noise_of_some_tables_is_that_of_one_cell_beside_the_largest(definition, tables, cells):
    whole = [1, *[cells] * (tables - 1)]
    for power in range(-30, 1):
        spent = loss(f"{10.0**power:.31f}", definition)
        assert refused(check_tables, tables, cells, spent) == refused(table_laws, whole, spent)


def refused(act, *asked) -> bool:
    try:
        act(*asked)
    except PlanError:
        return True
    return False


def test_a_plan_of_250_columns_is_made_while_a_page_waits():
    """Every pair's share of the loss was worked out by itself: 17 seconds in a request. Now it is one share a round."""
    columns = Domain(tuple(Integer(f"x{i}", lower=0, upper=9) for i in range(250)))
    (method,) = (m for m in MICRODATA if m.name == "latent-classes")
    counted = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spending, "count_law", lambda *asked: counted.append(asked) or count_law(*asked))
        method.plan(columns, Wishes(target="x0"), loss("0.1"), choice=ColumnChoice(20))
    assert len(counted) < 300
