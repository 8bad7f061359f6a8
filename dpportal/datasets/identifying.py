"""Columns of a dataset that look as if they named people, and what is asked about them."""

from __future__ import annotations

from dpportal.datasets import derived
from dpportal.datasets.models import Dataset
from dpportal.platform.json_types import Json


def identifying_columns(dataset: Dataset) -> list[str]:
    """Columns that look as if they named people; those of which a value is known to come twice are the first."""
    looking_so = [column for column in derived.described_columns(dataset) if column["identifies"]]
    return [column["name"] for column in sorted(looking_so, key=lambda c: not c.get("repeats"))]


def first_question(dataset: Dataset) -> Json:
    """What the first question says of such columns.

    identifying: their names. has_repeats: whether the first rows repeat a value in one of them; None where no row was
    looked at.
    """
    repeats = [c.get("repeats") for c in derived.described_columns(dataset) if c["identifies"]]
    several = True if True in repeats else None if None in repeats else False
    return {"identifying": identifying_columns(dataset), "has_repeats": several}


def columns_to_ask_about(dataset: Dataset) -> list[str]:
    """Columns that look as if they named people, while each row is declared to be a person, and nobody said so of them.

    Asked before budget is spent, since a person with several rows would be protected less than is said.
    """
    domain = dataset.current_domain()
    if domain is not None and domain.unit_column:
        return []
    return [name for name in identifying_columns(dataset) if name not in dataset.one_row_columns]
