"""How many columns, cells and rows synthetic microdata can have."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.accounting import Loss
from mechanisms.domain import Domain
from mechanisms.microdata.tables import PairTables
from mechanisms.protocol import PlanError

FEWEST_COLUMNS, MOST_COLUMNS = 2, 250
# A count takes eight bytes, and what is made of the tables at most as much again.
MOST_CELLS = 2**25
MOST_ROWS = 5_000_000


def check_columns(domain: Domain) -> None:
    """Raises PlanError unless there are 2 to 250 columns of at least two cells, whose pairs fit in memory."""
    count = len(domain.attributes)
    if not FEWEST_COLUMNS <= count <= MOST_COLUMNS:
        raise PlanError(
            "Choose between {fewest_columns} and {most_columns} columns, not {count}. Of more, release "
            "groups that belong together, each by itself.",
            fewest_columns=FEWEST_COLUMNS,
            most_columns=MOST_COLUMNS,
            count=count,
        )
    for attribute in domain.attributes:
        if attribute.size < 2:
            raise PlanError(
                "Column {name} has one value only, so it says nothing. Leave it out.", name=attribute.name
            )
    cells = PairTables(domain.shape).size
    if cells > MOST_CELLS:
        raise PlanError(
            "The tables of all pairs of these columns have {cells:,} cells; at most {most_cells:,} fit in "
            "memory. Choose wider bins, fewer categories or fewer columns.",
            cells=cells,
            most_cells=MOST_CELLS,
        )


@dataclass(frozen=True)
class RowCount:
    """released: how many rows there are to be; None: the noisy total. public: the table's, where they are public."""

    released: int | None = None
    public: int | None = None

    def check(self, loss: Loss) -> None:
        """Raises PlanError for too many rows or none, ValueError for a number of rows that is not public."""
        if self.released is not None and not 1 <= self.released <= MOST_ROWS:
            raise PlanError("Ask for 1 to {most_rows:,} synthetic rows.", most_rows=MOST_ROWS)
        if self.public is not None and not loss.unit.total_public:
            raise ValueError("the number of rows is not public under these neighbours")


AS_MEASURED = RowCount()
