"""What every way to make synthetic microdata shares: its plan, the measured columns, rows from groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import ClassVar

import numpy as np

from mechanisms.accounting import SYMBOL, Definition, Loss
from mechanisms.arrays import Integers
from mechanisms.domain import Domain
from mechanisms.microdata import column_sums
from mechanisms.microdata.apportioning import dealt
from mechanisms.microdata.cell_rows import CellRows, empty_rows, reorder
from mechanisms.microdata.coarsening import most_groups_of
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.feasible_row import possible_row
from mechanisms.microdata.features import (
    ALL_COLUMNS,
    FEATURES,
    SHARE,
    ColumnChoice,
    picks_left,
    selected_columns,
)
from mechanisms.microdata.limits import AS_MEASURED, MOST_ROWS, RowCount, check_columns
from mechanisms.microdata.margins import Margins, estimate
from mechanisms.microdata.measuring import column_variances, measured_columns
from mechanisms.microdata.packing import pack, unpack_measured
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan, MicrodataResult
from mechanisms.microdata.spending import table_laws
from mechanisms.microdata.tables import Grouping, Pair, split
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.microdata.zero_repair import repaired
from mechanisms.noise import Noise, NoiseLaw, repeatable
from mechanisms.protocol import Measurement, PlanError
from mechanisms.validation import check_amount

MARGINS = "columns"


class Microdata(ABC):
    """Synthetic rows of many columns; a subclass says which tables of pairs are measured, and how rows come of them.

    Each step measures integer sums over disjoint cells, or L1 scores of them, with exact noise; what a step asks
    follows from noisy answers before it alone. A step costs its share of the loss, fixed before anything is measured,
    so all together cost the loss (sequential composition, adaptive).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})
    shares: ClassVar[Mapping[str, Fraction]]
    pairwise: ClassVar[bool] = True
    # Whether whole rows follow the tables in what is measured, as `WholeRows` packs them.
    whole_rows: ClassVar[bool] = False
    # How many groups of values all columns may have together, where more take hours; None: as many as there are.
    most_groups: ClassVar[int | None] = None
    # Whether tables of pairs are measured, as far as people are enough.
    measures_pairs: ClassVar[bool] = False
    # Of groups of values where tables of pairs are measured, as `coarsening.group` takes it.
    coarseness: ClassVar[float | None] = None
    # What the rows' dependence comes from where no pair is measured.
    without_pairs: ClassVar[str] = ""
    # Which of `Wishes` it follows beside required pairs and zeros.
    heeds: ClassVar[frozenset[str]] = frozenset({"target", "weights", "pairs"})
    # Whether what follows from another column, as is declared, does so in its rows.
    keeps_dependencies: ClassVar[bool] = False
    # Whether the rows hold any dependence between columns.
    has_dependence: ClassVar[bool] = True
    # What is near to the truth in the rows and what was not measured, for readers.
    relied_on: ClassVar[str] = (
        "Tables of one column are near to the truth. How columns go together is what this method makes of what it "
        "measured, and nothing tells how near to the truth that is."
    )
    # Of one processor, for every value of a row that it makes, as `tests.benchmarks.microdata` measures it.
    microseconds_per_value: ClassVar[float] = 1.0
    # Whether it takes so long that it is simulated after the others, and of as few tables as tell it from them.
    simulated_last: ClassVar[bool] = False

    def further_seconds(self, plan: MicrodataPlan, people: int, rows: int) -> float:
        """Of one processor, about, beside what each value of a row takes. rows: how many are made."""
        return 0.0

    def further_memory(self, plan: MicrodataPlan, people: int, rows: int) -> int:
        """Bytes, about, beside counted tables, made rows and, where it asks for them, people's whole rows."""
        return 0

    @property
    def missing(self) -> str:
        """What has to be installed before it can be planned, and how; empty if nothing."""
        return ""

    def plan(
        self,
        domain: Domain,
        wishes: Wishes,
        loss: Loss,
        *,
        rows: RowCount = AS_MEASURED,
        choice: ColumnChoice = ALL_COLUMNS,
        sums: bool = False,
    ) -> MicrodataPlan:
        """Decide everything without data. sums: whether columns of numbers are added up, too.

        Raises PlanError if columns, wishes or loss do not fit.
        """
        self._check_definition(loss)
        loss, keep = loss.for_domain(domain), choice.keep
        self._check_inputs(domain, wishes, loss)
        choice.check(domain, wishes, rows.public)
        self._check(domain, wishes, keep)
        self._check_groups(domain, keep)
        rows.check(loss)
        own = self._shares(domain, wishes, keep)
        shares = column_sums.with_share(own) if sums else own
        plan = MicrodataPlan(
            mechanism=self.name,
            domain=domain,
            loss=loss,
            wishes=wishes,
            shares=shares,
            rows=rows.released,
            total=rows.public,
            pairwise=self.pairwise or keep is not None,
            keep=keep,
            explanation=self._explanation(shares, keep),
            criterion=choice.criterion,
            sums=sums,
        )
        self._check_amounts(plan)
        return plan

    def _check_amounts(self, plan: MicrodataPlan) -> None:
        """Raises PlanError where a step's share of the loss is too small for its noise."""
        margin_laws(plan)
        column_sums.check(plan)
        self._check_noise(plan)

    def _check_definition(self, loss: Loss) -> None:
        """Raises PlanError unless the method can be taken, with a budget of this kind."""
        if self.missing:
            raise PlanError("{summary} {missing}", summary=self.summary, missing=self.missing)
        if loss.definition not in self.definitions:
            needed = " or ".join(sorted(SYMBOL[d] for d in self.definitions))
            raise PlanError(
                "{title} needs a budget in {needed}; this one is in {symbol}. Choose another method.",
                title=self.title,
                needed=needed,
                symbol=loss.symbol,
            )

    def _check_inputs(self, domain: Domain, wishes: Wishes, loss: Loss) -> None:
        """Raises PlanError for columns, wishes or an amount that no release can have, or not by this method."""
        check_columns(domain)
        check_amount(loss)
        wishes.check(domain)
        if wishes.follows and not self.keeps_dependencies:
            raise PlanError(
                "{title} does not keep that one column follows from another. Choose latent classes.",
                title=self.title,
            )
        if wishes.required and not self.measures_pairs:
            raise PlanError(
                "{title}: no table of a pair is measured. Choose another method, or require no pair.",
                title=self.title,
            )

    def measure(self, plan: MicrodataPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        """The private steps, one after the other.

        counts: (plan.cells,) int64 >= 0, the tables of `plan.counted`; then whole rows, if the method asks for them;
        then the exact sums of `column_sums`, if the plan has them.
        Returns one vector: see `record`. Raises ValueError if the shape, the type or the sign does not fit.
        """
        counts, sums = column_sums.split_off(plan, counts)
        tables = counts[: plan.cells] if self.whole_rows else counts
        if tables.shape != (plan.cells,):
            raise ValueError(f"counts must have shape {(plan.cells,)}, got {counts.shape}")
        if counts.dtype != np.int64:
            raise ValueError(f"counts must be int64, got {counts.dtype}")
        if counts.min() < 0:
            raise ValueError("counts must not be negative")
        columns = plan.tables.columns(counts) if plan.pairwise else tables
        sizes = plan.domain.shape
        noisy = measured_columns(columns, sizes, plan.step(MARGINS), noise)
        margins = margins_of(plan, noisy)
        added = column_sums.measured(plan, sums, noise)
        if plan.keep is None:
            return Measurement(pack([noisy, *self._further(plan, counts, margins, noise), *added]))
        selected = selected_columns(plan, counts, margins, noise)
        among = plan.tables.among(counts, selected)
        if self.whole_rows:
            packed = WholeRows(sizes).among(counts[plan.cells :], selected)
            among = np.concatenate([among, packed])
        further = self._further(plan.of_columns(selected), among, margins.of_columns(selected), noise)
        return Measurement(pack([noisy, np.array(selected), *further, *added]))

    def reconstruct(self, plan: MicrodataPlan, measurement: Measurement) -> MicrodataResult:
        """Rows, from what was measured alone: the same every time."""
        noisy, further, sums = unpack_measured(plan, measurement.values)
        random = repeatable(sha256(measurement.values.tobytes()).digest())
        margins = margins_of(plan, noisy)
        columns = range(len(plan.domain.shape)) if plan.keep is None else further.pop(0).tolist()
        result = MicrodataResult(
            columns=tuple(columns),
            rows=empty_rows(_row_count(plan, margins), [plan.domain.shape[j] for j in columns]),
            total=margins.total,
            margins=tuple(split(noisy, plan.domain.shape)),
            half_widths=tuple(law.half_width() for law in margin_laws(plan)),
            smoothed=margins.counts,
            sums=sums,
        )
        selected = plan.of_columns(columns)
        margins = self._all_margins(selected, margins.of_columns(columns), further)
        result = self._with_rows(selected, result, margins, further, random)
        rows = _possible_only(plan, selected, result, margins, random)
        # Last, since what is done about impossible values may change a value that another follows.
        self._keep_dependencies(selected, rows, margins, further)
        reorder(rows, random.permutation(len(rows)))
        return replace(result, rows=rows)

    def _check(self, domain: Domain, wishes: Wishes, keep: int | None) -> None:  # noqa: B027
        """Raise PlanError if the method cannot do what is wished, or not with these columns: most can."""

    def _check_groups(self, domain: Domain, keep: int | None) -> None:
        """Raise PlanError if fitting could take hours, whichever columns are kept."""
        groups = sum(sorted(most_groups_of(size) for size in domain.shape)[-keep if keep else 0 :])
        if self.most_groups is not None and groups > self.most_groups:
            raise PlanError(
                "{title}: these columns can have {groups:,} groups of values; more than {most_groups:,} take "
                "hours to fit. Take fewer columns or wider bins, let the release keep the columns that tell "
                "most, or choose another method.",
                title=self.title,
                groups=groups,
                most_groups=self.most_groups,
            )

    @abstractmethod
    def _check_noise(self, plan: MicrodataPlan) -> None:
        """Raise PlanError if the noise of any step after the single columns could exceed what can be drawn."""

    @abstractmethod
    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        """What is measured after the single columns."""

    def recorded(
        self, plan: MicrodataPlan, further: Sequence[Integers]
    ) -> tuple[Grouping, list[MeasuredTable]] | None:
        """The groups of values and the tables of pairs that `_further` measured; None if it measures none."""
        return None

    def _all_margins(self, plan: MicrodataPlan, margins: Margins, further: Sequence[Integers]) -> Margins:
        """What is known of single columns, with what `_further` measured of them again."""
        return margins

    @abstractmethod
    def _with_rows(
        self,
        plan: MicrodataPlan,
        result: MicrodataResult,
        margins: Margins,
        further: Sequence[Integers],
        random: np.random.Generator,
    ) -> MicrodataResult:
        """The result with its rows filled in; `result.rows` has their number."""

    def _keep_dependencies(  # noqa: B027
        self, plan: MicrodataPlan, rows: CellRows, margins: Margins, further: Sequence[Integers]
    ) -> None:
        """Change the rows, in place, so that what is declared to follow does, where `keeps_dependencies`."""

    def _explanation(self, shares: Mapping[str, Fraction], keep: int | None) -> str:
        sentences = [self.summary]
        if FEATURES in shares:
            sentences.append(f"Before, the {keep} columns are chosen that tell most about the target.")
        steps = ", ".join(f"{step} {share}" for step, share in shares.items())
        return " ".join([*sentences, f"Shares of the cost: {steps}."])

    def _shares(self, domain: Domain, wishes: Wishes, keep: int | None) -> Mapping[str, Fraction]:
        """The steps' shares; where columns are chosen first, of what that leaves."""
        own = self._own_shares(wishes.required_pairs(domain), keep or len(domain.shape))
        if keep is None or not picks_left(domain, wishes, keep):
            return own
        return {FEATURES: SHARE, **{step: share * (1 - SHARE) for step, share in own.items()}}

    def _own_shares(self, required: Sequence[Pair], columns: int) -> Mapping[str, Fraction]:
        """The steps of so many columns; none in which there is nothing to choose between."""
        return self.shares


def split_whole_rows(plan: MicrodataPlan, counts: Integers) -> tuple[WholeRows, Integers]:
    """How whole rows are packed, and those after the tables. Raises ValueError unless the tables count these."""
    packing, packed = WholeRows(plan.domain.shape), counts[plan.cells :]
    tables = plan.tables.table(counts, (0, 1)) if plan.pairwise else counts[: plan.domain.shape[0]]
    if packing.number(packed) != tables.sum():
        raise ValueError("the whole rows are not those that the tables count")
    return packing, packed


def margin_laws(plan: MicrodataPlan) -> list[NoiseLaw]:
    """The noise of each single column's counts."""
    return table_laws(plan.domain.shape, plan.step(MARGINS))


def margins_of(plan: MicrodataPlan, noisy: Integers) -> Margins:
    """Estimates of single columns from their noisy counts."""
    return estimate(
        plan.domain.attributes, split(noisy, plan.domain.shape), margin_variances(plan), plan.total
    )


def margin_variances(plan: MicrodataPlan) -> list[float]:
    """What fits take the variance of each single column's counts to be."""
    return column_variances(plan.domain.shape, plan.step(MARGINS))


def within_groups(
    groups: CellRows, grouping: Grouping, margins: Margins, random: np.random.Generator
) -> CellRows:
    """(n, d) cells from (n, d) groups: inside a group by the estimate of the column alone, in random order."""
    cells = empty_rows(len(groups), [of_cell.size for of_cell in grouping.groups])
    for j, of_cell in enumerate(grouping.groups):
        shares = np.zeros((grouping.sizes[j], of_cell.size))
        shares[of_cell, np.arange(of_cell.size)] = margins.counts[j]
        empty = shares.sum(axis=1) <= 0
        shares[of_cell, np.arange(of_cell.size)] += empty[of_cell]
        cells[:, j] = dealt(groups[:, j], shares, random)
    return cells


def _possible_only(
    plan: MicrodataPlan,
    selected: MicrodataPlan,
    result: MicrodataResult,
    margins: Margins,
    random: np.random.Generator,
) -> CellRows:
    """The made rows without what cannot occur. What is known to be possible was found for all columns in the plan."""
    if not selected.wishes.zeros:
        return result.rows

    def possible() -> list[int]:
        row = possible_row(plan.domain.shape, plan.wishes.impossible(plan.domain))
        assert row is not None
        return [row[place] for place in result.columns]

    return repaired(
        result.rows, margins.counts, selected.wishes.impossible(selected.domain), possible, random
    )


def _row_count(plan: MicrodataPlan, margins: Margins) -> int:
    return plan.rows if plan.rows is not None else min(MOST_ROWS, max(1, round(margins.total)))
