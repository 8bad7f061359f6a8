"""Columns of a dataset that look as if they named people, and what is asked about them."""

from __future__ import annotations

from dpportal.datasets import derived
from dpportal.datasets.models import Dataset
from dpportal.platform.json_types import Json
from dpportal.tables.meaning.identifiers import FEWEST_TEXTS, named_like_identifier, names_a_case


def identifying_columns(dataset: Dataset) -> list[str]:
    """Columns that look as if they named people, then those of cases; of which a value comes twice, first."""
    looking_so = [column for column in derived.described_columns(dataset) if column["identifies"]]
    in_order = sorted(looking_so, key=lambda c: (names_a_case(c["name"]), not c.get("repeats")))
    return [column["name"] for column in in_order]


def first_question(dataset: Dataset) -> Json:
    """What the first question says of such columns.

    identifying: those whose name says that they identify people; texts alone never answer for the curator. Only where
    there are none, cases: those that number cases, of which no number that comes twice tells of people; and alike:
    those of which the texts alone look like keys. has_repeats: whether the first rows repeat a value in one of the
    identifying; None where no row was looked at. seems_several: whether they do, and are more than a few.
    """
    names = identifying_columns(dataset)
    cases = [name for name in names if names_a_case(name)]
    alike = [name for name in names if not named_like_identifier(name)]
    people = [name for name in names if name not in (*cases, *alike)]
    repeats = [c.get("repeats") for c in derived.described_columns(dataset) if c["name"] in people]
    several = True if True in repeats else None if None in repeats else False
    return {
        "identifying": people,
        "cases": [] if people else cases,
        "alike": [] if people else alike,
        "has_repeats": several,
        "seems_several": several is True and (dataset.rows or 0) >= FEWEST_TEXTS,
    }


def columns_to_ask_about(dataset: Dataset) -> list[str]:
    """Columns that look as if they named people, while each row is declared to be a person, and nobody said so of them.

    Asked before budget is spent, since a person with several rows would be protected less than is said.
    """
    domain = dataset.current_domain()
    if domain is not None and domain.unit_column:
        return []
    return [name for name in identifying_columns(dataset) if name not in dataset.one_row_columns]
