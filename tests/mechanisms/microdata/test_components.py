"""Principal components: what one person moves, what it costs, and rows that vary together as the true ones do."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.microdata import whole_rows
from mechanisms.microdata.components import Components, components
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.principal_components import GRID, PRODUCTS
from mechanisms.microdata.products import SCALE, grades, products, products_law, products_sensitivity
from mechanisms.microdata.tables import PairTables
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw, repeatable
from mechanisms.protocol import PlanError
from mechanisms.registry import microdata
from mechanisms.sensitivity import histogram_sensitivity
from tests.mechanisms.microdata.building import counted, loss
from tests.mechanisms.neighbours import UNITS, changes, name

METHOD = microdata("principal-components")
NUMBERS = Domain(
    (
        Integer("height", lower=0, upper=19),
        Integer("weight", lower=0, upper=29, missing_cell=True),
        Integer("shoe", lower=0, upper=9),
        Integer("lottery", lower=0, upper=9),
        Boolean("tall"),
        Categorical("town", values=("x", "y")),
    )
)
every_unit = pytest.mark.parametrize("unit", UNITS, ids=name)


def people(size: int = 5000) -> np.ndarray:
    """One hidden trait moves four columns; weight is skewed, missing for one in ten; two know nothing of it."""
    random = np.random.default_rng(3)
    trait = random.standard_normal(size)

    def of_trait(share: float) -> np.ndarray:
        return share * trait + np.sqrt(1 - share**2) * random.standard_normal(size)

    height = np.clip(np.rint(10 + 3 * of_trait(0.95)), 0, 19)
    weight = np.clip(np.floor(np.exp(1.2 * of_trait(0.9))), 0, 29)
    weight[random.random(size) < 0.1] = 30
    shoe = np.clip(np.rint(5 + 1.5 * of_trait(0.9)), 0, 9)
    columns = [height, weight, shoe, random.integers(0, 10, size), trait > 1, random.integers(0, 3, size)]
    return np.column_stack(columns).astype(np.int64)


def made(definition: Definition = Definition.ZCDP, amount: str = "2") -> np.ndarray:
    plan = METHOD.plan(NUMBERS, Wishes(), loss(amount, definition))
    return METHOD.reconstruct(plan, METHOD.measure(plan, counted(plan, people()), Noise())).rows


@every_unit
@pytest.mark.parametrize("columns", [2, 3])
def test_nobody_moves_products_further_than_the_noise_is_for(unit, columns):
    """Brute force over all neighbours of rows of grades -S, 0 and S; the bound is met where rows enter or leave."""
    rows = np.array(list(product((-SCALE, 0, SCALE), repeat=columns)))
    if len(rows) > 9 and unit.max_rows > 2:
        rows = rows[(rows != 0).all(axis=1)]
    a, b = np.array(list(combinations(range(columns), 2))).T
    moved = changes(unit, len(rows)) @ (rows[:, a] * rows[:, b])
    bound = products_sensitivity(columns, unit)
    assert np.abs(moved).sum(axis=1).max() == bound.l1
    assert (moved**2).sum(axis=1).max() == bound.l2_squared


def test_a_changed_row_of_five_columns_moves_products_no_further():
    """All 2^5 corners against all, and 20,000 pairs of rows from inside: the corners are worst."""
    a, b = np.array(list(combinations(range(5), 2))).T
    corners = SCALE * np.array(list(product((-1, 1), repeat=5)))
    random = np.random.default_rng(0)
    inside = random.integers(-SCALE, SCALE + 1, (2, 20_000, 5))
    unit = next(u for u in UNITS if u.total_public)
    bound = products_sensitivity(5, unit)
    moved = [(t[:, a] * t[:, b]) for t in (corners, *inside)]
    apart = moved[0][:, None] - moved[0][None]
    assert np.abs(apart).sum(axis=2).max() == bound.l1
    assert (apart**2).sum(axis=2).max() == bound.l2_squared
    assert np.abs(moved[1] - moved[2]).sum(axis=1).max() <= bound.l1


class Ledger(Noise):
    """Noise that writes down every law it draws from, and how often."""

    def __init__(self) -> None:
        super().__init__()
        self.draws: list[tuple[NoiseLaw, int]] = []

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        self.draws.append((law, size))
        return super().draw(law, size)


@every_unit
@pytest.mark.parametrize("definition", Definition)
def test_what_is_drawn_costs_exactly_the_loss(definition, unit):
    plan = METHOD.plan(NUMBERS, Wishes(), loss("2", definition, unit))
    ledger = Ledger()
    METHOD.measure(plan, counted(plan, people(300)), ledger)
    histogram, of_products = histogram_sensitivity(plan.loss.unit), products_sensitivity(5, plan.loss.unit)
    assert ledger.draws[-2] == (products_law(5, plan.step(PRODUCTS)), 10)
    cost = 0
    for place, (law, _size) in enumerate(ledger.draws):
        moved = of_products if place == len(ledger.draws) - 2 else histogram
        if isinstance(law, DiscreteLaplace):
            cost += moved.l1 / law.scale
        else:
            assert isinstance(law, DiscreteGaussian)
            cost += moved.l2_squared / (2 * law.variance_parameter)
    assert cost == plan.loss.amount
    assert sum(plan.shares.values()) == 1 and plan.shares[GRID] > 0


def test_products_are_those_of_the_rows():
    rows = people(700)
    tables = PairTables(NUMBERS.shape)
    random = np.random.default_rng(1)
    columns = [0, 1, 4]
    graded = [random.integers(-SCALE, SCALE + 1, NUMBERS.shape[j]) for j in columns]
    t = np.column_stack([g[rows[:, j]] for j, g in zip(columns, graded, strict=True)])
    gram = t.T @ t
    found = products(tables, tables.of_rows(rows), columns, graded)
    assert found.tolist() == [gram[0, 1], gram[0, 2], gram[1, 2]]


def test_grades_are_shares_of_rows_below_and_bounded():
    assert grades(np.array([1.0, 2, 1, 7]), 3).tolist() == [-96, 0, 96, 0]
    assert grades(np.zeros(3), 3).tolist() == [-SCALE] * 3
    random = np.random.default_rng(2)
    for _ in range(100):
        found = grades(random.exponential(size=20) ** 9, 20)
        assert np.abs(found).max() <= SCALE and (np.diff(found) >= 0).all()


def test_without_noise_the_components_are_those_of_the_correlations():
    rows = people()[:, [0, 2, 3]]
    counts = [np.bincount(c, minlength=s).astype(float) for c, s in zip(rows.T, (20, 10, 10), strict=True)]
    graded = [grades(c, c.size) for c in counts]
    t = np.column_stack([g[r] for g, r in zip(graded, rows.T, strict=True)])
    gram = t.T @ t
    found = components(gram[np.triu_indices(3, 1)], 0.0, graded, counts, 10.0)
    values, vectors = np.linalg.eigh(np.corrcoef(t.T))
    assert found.variances / 2**16 == pytest.approx(values[::-1][:2], abs=1e-3)
    for loading, vector in zip(found.loadings / 2**16, vectors.T[::-1], strict=False):
        assert abs(loading @ vector) == pytest.approx(1, abs=1e-3)
    along = (t @ found.weights.T - found.offsets) / 2**16
    assert along.var(axis=0) == pytest.approx(values[::-1][:2], rel=0.01)


def test_a_row_is_in_one_cell_of_the_grid_and_a_record_is_read_back():
    found = Components(
        weights=np.array([[3, -2], [1, 1]]),
        offsets=np.array([0, 4]),
        loadings=np.array([[2**15, 2**15], [2**15, -(2**15)]]),
        variances=np.array([40_000, 9_000]),
        rest=np.array([700, 800]),
        steps=7,
    )
    t = np.random.default_rng(0).integers(-SCALE, SCALE + 1, (500, 2)) * 300
    cells = found.place(t)
    assert cells.min() >= 0 and cells.max() < found.cells == 49
    again = Components.recorded([part.ravel() for part in found.record()])
    assert all((x == y).all() for x, y in zip(found.record(), again.record(), strict=True))


@pytest.mark.parametrize("definition", Definition)
def test_rows_vary_together_as_the_true_ones_do(definition):
    """Within 0.15: a normal law loses 0.1 of a yes-or-no column's correlation, with a standard error of 0.01."""
    rows, true = made(definition, "4"), people()
    assert len(rows) == pytest.approx(5000, abs=60)
    for a, b in ((0, 2), (0, 3), (2, 3), (0, 4), (2, 4)):
        made_, real = (np.corrcoef(r[:, a], r[:, b])[0, 1] for r in (rows, true))
        assert made_ == pytest.approx(real, abs=0.15)
    known = [r[r[:, 1] < 30] for r in (rows, true)]
    made_, real = (np.corrcoef(np.log1p(k[:, 1]), k[:, 0])[0, 1] for k in known)
    assert made_ == pytest.approx(real, abs=0.15)
    for j, size in enumerate(NUMBERS.shape):
        made_, real = (np.bincount(r[:, j], minlength=size) / len(r) for r in (rows, true))
        assert np.abs(made_ - real).sum() / 2 < 0.03


def test_what_noise_alone_makes_is_no_dependence():
    """Of 400 draws of noise alone at most one in ten leaves a correlation, or a grid other than the normal law's."""
    random = np.random.default_rng(7)
    counts = [np.full(20, 100.0)] * 4
    graded = [grades(c, 20) for c in counts]
    deviation, dependent, uneven = 1e9, 0, 0
    for _ in range(400):
        noise = np.rint(deviation * random.standard_normal(6)).astype(np.int64)
        found = components(noise, deviation**2, graded, counts, 5.0)
        dependent += found.variances.max() > 2**16
        normal = found.counts(np.zeros(found.cells, dtype=np.int64), 1e18, 2000.0)
        grid = np.rint(normal + 1e4 * random.standard_normal(found.cells)).astype(np.int64)
        uneven += not np.allclose(found.counts(grid, 1e8, 2000.0), normal)
    assert dependent <= 40 and uneven <= 40
    assert normal.sum() == pytest.approx(2000) and normal.min() > 0


def test_whole_rows_come_back_from_few_integers_some_at_a_time(monkeypatch):
    monkeypatch.setattr(whole_rows, "BLOCK", 64)
    shape = (1000, 2, 10**6, 7, 10**9, 3, 10**7)
    whole = WholeRows(shape)
    rows = np.random.default_rng(4).integers(0, shape, (200, len(shape)))
    packed = whole.pack(rows)
    assert packed.size == 200 * 2 and packed.min() >= 0
    blocks = list(whole.blocks(packed))
    assert [len(block) for block in blocks] == [64, 64, 64, 8]
    assert (np.concatenate(blocks) == rows).all()
    with pytest.raises(ValueError, match="whole rows"):
        whole.number(packed[:-1])


def test_the_grid_is_the_same_in_blocks(monkeypatch):
    plan = METHOD.plan(NUMBERS, Wishes(), loss())
    counts = counted(plan, people(500))
    made = []
    for block in (1 << 16, 7):
        monkeypatch.setattr(whole_rows, "BLOCK", block)
        made.append(METHOD.measure(plan, counts, Noise(repeatable(bytes(32)).bytes)).values)
    assert made[0].tolist() == made[1].tolist()


def test_rows_other_than_the_tables_count_are_refused():
    plan = METHOD.plan(NUMBERS, Wishes(), loss())
    counts = counted(plan, people(50))
    for wrong in (counts[: plan.cells], counts[:-1]):
        with pytest.raises(ValueError, match="whole rows"):
            METHOD.measure(plan, wrong, Noise())


def test_what_components_cannot_do_is_refused():
    with pytest.raises(PlanError, match="at least two columns of numbers"):
        METHOD.plan(NUMBERS.project(["height", "town"]), Wishes(), loss())
    with pytest.raises(PlanError, match="no table of a pair"):
        METHOD.plan(NUMBERS, Wishes(required=(("height", "shoe"),)), loss())
