"""How far rows are from the truth on made-up tables of the same shape: what to expect, without anybody's data."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from hashlib import sha256

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute, Boolean, Categorical, Domain, Integer
from mechanisms.microdata.cell_rows import CellRows
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.quality import closeness, table_of_rows, triples
from mechanisms.microdata.simulated_rows import simulated_rows
from mechanisms.microdata.tables import PairTables
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import PlanError

# Counts up whenever what is simulated changes, so that answers of before are not taken for answers of now.
EDITION = 9
# Of more people so many are drawn, and the loss is larger by as much: noise is as strong beside the counts.
MOST_PEOPLE = 50_000
# ε, and the ρ that has it with δ = 10^-9.
AMOUNTS = {
    Definition.PURE: ("0.1", "1", "10"),
    Definition.ZCDP: ("0.000177138", "0.014973058", "1.0907857"),
}
# Cells of all pairs together: a look ahead may not take the memory of a release. Of more, columns are made coarser.
MOST_CELLS = 2**22
# Of few columns or people several tables are drawn, until they have so many pairs and so many values together: one
# alone would decide by luck. A release's error of 500 people and 14 columns varies by a tenth where noise rules.
FEWEST_PAIRS, FEWEST_VALUES, MOST_TABLES = 80, 50_000, 10
# Slow methods are released of as few of them as tell them from the best quick one: at least so many, where their errors
# differ by more than counts as equal and so many standard errors, each of them at most so large a part of the error.
FEWEST_COMPARED, CLEARLY, LARGEST_PART = 3, 2, 0.1
# How much larger an error may be that counts as equal: about what another draw of the tables changes.
AS_GOOD = 1.03


@dataclass(frozen=True)
class SimulatedShape:
    """All that matters of a table: of each column its declared cells, "ordered", "truth" or "category", and whether one
    cell more is for missing values."""

    columns: tuple[tuple[int, str, bool], ...]

    @classmethod
    def of(cls, domain: Domain) -> SimulatedShape:
        return cls(tuple((a.regular_size, _kind(a), a.size > a.regular_size) for a in domain.attributes))

    def domain(self) -> Domain:
        """A domain of this shape with names that mean nothing."""
        return Domain(tuple(_attribute(f"c{place}", *column) for place, column in enumerate(self.columns)))

    def of_columns(self, keep: int) -> SimulatedShape:
        """So many of the columns, of all sizes: nobody knows which tell most."""
        by_size = sorted(self.columns)
        places = np.linspace(0, len(by_size) - 1, keep).round().astype(int)
        return SimulatedShape(tuple(by_size[place] for place in places))

    def within(self, cells: int) -> SimulatedShape:
        """The same, where columns have no more cells than leave so many to all pairs together."""
        finest = max(size for size, _kind, _missing in self.columns)
        while (synthetic := self._capped(finest)).pair_cells > cells and finest > 2:
            finest = max(2, round(finest * 0.9))
        return synthetic

    @property
    def pair_cells(self) -> int:
        sizes = [size + missing for size, _kind, missing in self.columns]
        return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2

    def _capped(self, finest: int) -> SimulatedShape:
        return SimulatedShape(
            tuple((min(size, finest), kind, missing) for size, kind, missing in self.columns)
        )


def _kind(attribute: Attribute) -> str:
    return "truth" if isinstance(attribute, Boolean) else "ordered" if attribute.ordered else "category"


def _attribute(name: str, size: int, kind: str, missing: bool) -> Attribute:
    if kind == "truth":
        return Boolean(name, missing_cell=missing)
    if kind == "ordered":
        return Integer(name, lower=0, upper=size - 1, missing_cell=missing)
    values = tuple(str(value) for value in range(size + missing))
    return Categorical(name, values=values, closed=True, misfits_to=0)


@dataclass(frozen=True)
class Simulated:
    """One method at one cost: mean total variation of all pairs and of some triples, and the processor's seconds."""

    method: str
    amount: str
    pairs: float
    triples: float | None
    seconds: float

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def simulated(
    shape: SimulatedShape, people: int, loss: Loss, methods: Mapping[str, Microdata]
) -> Iterator[Simulated]:
    """Every method that can be planned for this shape, each at three costs of the loss's kind.

    people: how many the table has. loss: its amount does not matter. Everything follows from the arguments: noise is
    drawn from a public seed, as the people are. Quick methods come first and are released of all tables, the others of
    as many as tell them from the best one before.
    """
    shape = shape.within(MOST_CELLS)
    few = min(people, MOST_PEOPLE)
    random = repeatable(sha256(f"made-up people {shape.columns}".encode()).digest())
    tables = [
        _SimulatedTable(shape.domain(), few, random) for _ in range(number_of_tables(len(shape.columns), few))
    ]
    stronger = Fraction(people, few) ** (1 if loss.definition is Definition.PURE else 2)
    best: dict[str, tuple[_Tried, Simulated]] = {}
    for name, method in sorted(methods.items(), key=lambda item: item[1].simulated_last):
        for amount in AMOUNTS[loss.definition]:
            here = replace(loss, amount=Fraction(amount) * stronger)
            try:
                tried = _Tried(name, amount, method, method.plan(tables[0].domain, Wishes(), here), tables)
            except PlanError:
                continue
            is_quick = amount not in best or not method.simulated_last
            line = tried.line_of_all() if is_quick else tried.line(*best[amount])
            if amount not in best or line.pairs < best[amount][1].pairs:
                best[amount] = tried, line
            yield line


def ranked(results: Iterable[Simulated], amount: float) -> list[tuple[str, float]]:
    """Methods and the error of pairs at a cost, least first; outside of the simulated costs that of the nearest one.

    results: in the order of methods, the most accurate at large costs first. Of those that are as good as the best one
    the first goes ahead: where columns depend more than in the made-up tables it gains, and otherwise little is lost.
    """
    by_method: dict[str, list[Simulated]] = {}
    for line in results:
        by_method.setdefault(line.method, []).append(line)
    errors = {name: at(lines, amount, "pairs") for name, lines in by_method.items()}
    least = min(errors.values(), default=0.0)
    first = next((name for name, error in errors.items() if error <= AS_GOOD * least), "")
    return sorted(errors.items(), key=lambda item: (item[0] != first, item[1]))


def at(lines: Sequence[Simulated], amount: float, what: str) -> float:
    """A method's error of pairs or triples between its simulated costs; both count by their logarithms."""
    logs = [math.log(float(line.amount)) for line in lines]
    errors = [math.log(max(getattr(line, what), 1e-9)) for line in lines]
    return math.exp(np.interp(math.log(amount), logs, errors))


def number_of_tables(columns: int, people: int) -> int:
    """How many are drawn of such a shape, so that luck decides little."""
    by_pairs = math.ceil(FEWEST_PAIRS / max(1, columns * (columns - 1) // 2))
    return min(MOST_TABLES, max(by_pairs, math.ceil(FEWEST_VALUES / (columns * people))))


class _Tried:
    """A method's releases at one cost, of one table after another: errors of pairs and of triples."""

    def __init__(
        self,
        name: str,
        amount: str,
        method: Microdata,
        plan: MicrodataPlan,
        tables: Sequence[_SimulatedTable],
    ) -> None:
        self.name, self.amount, self._method, self._plan, self._tables = name, amount, method, plan, tables
        self._noise = Noise(repeatable(sha256(f"{name} {amount}".encode()).digest()).bytes)
        self._errors: list[tuple[float, float]] = []
        self._seconds = 0.0

    def errors(self, tables: int) -> Floats:
        """(tables, 2): those of the first tables, which are released of where they are not yet."""
        while len(self._errors) < tables:
            table, start = self._tables[len(self._errors)], time.process_time()
            rows = table.released(self._method, self._plan, self._noise)
            self._seconds += time.process_time() - start
            self._errors.append((table.apart(rows), table.triples_apart(rows)))
        return np.array(self._errors[:tables])

    def line_of_all(self) -> Simulated:
        return self._line(*self.errors(len(self._tables)).mean(axis=0))

    def line(self, best: _Tried, of_best: Simulated) -> Simulated:
        """The best one's figures times how both compare on the same tables, as few as tell them apart."""
        tables = next((n for n in range(FEWEST_COMPARED, len(self._tables)) if self._apart(best, n)), None)
        own, other = (each.errors(tables or len(self._tables)).mean(axis=0) for each in (self, best))
        pairs, triples = own / np.maximum(other, 1e-12)
        of_triples = math.nan if of_best.triples is None else of_best.triples
        return self._line(of_best.pairs * pairs, of_triples * triples)

    def _apart(self, best: _Tried, tables: int) -> bool:
        """Whether no further table would make these two as good as each other, or one's error another figure."""
        own, other = (np.maximum(each.errors(tables)[:, 0], 1e-12) for each in (self, best))
        ratios = np.log(own / other)
        deviation = float(ratios.std(ddof=1)) / math.sqrt(tables)
        is_clear = abs(float(ratios.mean())) > math.log(AS_GOOD) + CLEARLY * deviation
        return is_clear and deviation <= LARGEST_PART

    def _line(self, pairs: float, triples: float) -> Simulated:
        of_triples = None if math.isnan(triples) else float(triples)
        seconds = self._seconds / len(self._errors)
        return Simulated(self.name, self.amount, float(pairs), of_triples, seconds)


class _SimulatedTable:
    """A made-up table and its true counts."""

    def __init__(self, domain: Domain, people: int, random: np.random.Generator) -> None:
        self.domain = domain
        self._pairs = PairTables(domain.shape)
        rows = simulated_rows(domain, people, random)
        self._people = people
        self._tables = self._pairs.of_rows(rows)
        self._packed = WholeRows(domain.shape).pack(rows)
        self._triples = {c: table_of_rows(rows, domain.shape, c) for c in triples(domain.shape)}

    def released(self, method: Microdata, plan: MicrodataPlan, noise: Noise) -> CellRows:
        """Synthetic rows."""
        counts = self._tables if plan.pairwise else self._pairs.columns(self._tables)
        if method.whole_rows:
            counts = np.concatenate([counts, self._packed])
        return method.reconstruct(plan, method.measure(plan, counts, noise)).rows

    def apart(self, rows: CellRows) -> float:
        """Mean total variation of all pairs."""
        synthetic = self._pairs.of_rows(rows) / len(rows)
        return float(np.abs(synthetic - self._tables / self._people).sum() / 2 / len(self._pairs.pairs))

    def triples_apart(self, rows: CellRows) -> float:
        """Mean total variation of some triples; not a number where there are none."""
        apart = [
            closeness(table, table_of_rows(rows, self.domain.shape, columns)).synthetic
            for columns, table in self._triples.items()
        ]
        return float(np.mean(apart)) if apart else math.nan
