"""What was measured of a synthetic table as lines of files: counts of columns, tables of pairs, groups of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Domain
from mechanisms.json_types import JsonObject
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan, MicrodataResult
from mechanisms.microdata.tables import Grouping
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import written

# Values that are named of a group whose values are no neighbours.
MOST_NAMED = 3
# Follows the name of a group that another one has already.
TOGETHER = " (together)"


def column_counts(
    plan: MicrodataPlan, margins: Sequence[Integers], half_widths: Sequence[int]
) -> pd.DataFrame:
    """A line for every value of every column, as pages name it, of those too that the rows leave out.

    margins: noisy counts of each column; half_widths: of their 95 % intervals.
    """
    frames = [
        pd.DataFrame(
            {
                "column": attribute.name,
                "value": attribute.labels(),
                "noisy_count": noisy,
                "interval_lower": noisy - half,
                "interval_upper": noisy + half,
            }
        )
        for attribute, noisy, half in zip(plan.domain.attributes, margins, half_widths, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def column_lines(
    plan: MicrodataPlan, margins: Sequence[Integers], half_widths: Sequence[int]
) -> pd.DataFrame:
    """The same as files have it: a missing value is an empty field."""
    values = [value for a in plan.domain.attributes for value in written(a, a.labels())]
    return column_counts(plan, margins, half_widths).assign(value=values)


def measured_pairs(plan: MicrodataPlan, result: MicrodataResult) -> pd.DataFrame:
    """A line for every pair of the plan's columns; of one that was measured repeatedly the combined standard error."""
    names, precision = plan.domain.names, dict.fromkeys(plan.tables.pairs, 0.0)
    cells = {table.pair: table.values.size for table in result.tables}
    for table in result.tables:
        precision[table.pair] += 1 / table.variance
    return pd.DataFrame(
        {
            "first": [names[a] for a, _b in precision],
            "second": [names[b] for _a, b in precision],
            "measured": [pair in cells for pair in precision],
            "groups": pd.array([cells.get(pair) for pair in precision], dtype="Int64"),
            "standard_error": [p**-0.5 if p else None for p in precision.values()],
        }
    )


def measured_facts(plan: MicrodataPlan, result: MicrodataResult) -> JsonObject:
    """What release.json says of the rows' columns, of the pairs that were measured, and of the noise of each."""
    names, headers = plan.of_columns(result.columns).domain.names, Headers.of(plan.domain).columns.values()
    measured = sorted({table.pair for table in result.tables})
    return {
        "columns": list(names),
        "synthetic_rows": len(result.rows),
        "measured_pairs": [[names[a], names[b]] for a, b in measured],
        "noise_of_columns": {
            name: law.to_json() for name, law in zip(headers, margin_laws(plan), strict=True)
        },
        "noise_of_tables": [table.noise.to_json() for table in result.tables],
    }


def table_counts(domain: Domain, result: MicrodataResult) -> pd.DataFrame:
    """A line for each count of each measured table. domain: of the columns that the rows have."""
    assert result.grouping is not None
    labels = _written_labels(domain, result.grouping)
    return pd.concat([_frame(domain, labels, n, table) for n, table in enumerate(result.tables, 1)])


def _frame(domain: Domain, labels: list[list[str]], number: int, table: MeasuredTable) -> pd.DataFrame:
    a, b = table.pair
    counts = table.values.ravel()
    return pd.DataFrame(
        {
            "measurement": number,
            "first": domain.names[a],
            "first_group": np.repeat(np.array(labels[a], dtype=object), len(labels[b])),
            "second": domain.names[b],
            "second_group": np.tile(np.array(labels[b], dtype=object), len(labels[a])),
            "noisy_count": counts,
            "interval_lower": counts - table.half_width,
            "interval_upper": counts + table.half_width,
        }
    )


def group_frame(domain: Domain, grouping: Grouping) -> pd.DataFrame:
    """A line for each value, with the group in which it was counted."""
    frames = []
    for attribute, groups, labels in zip(
        domain.attributes, grouping.groups, _written_labels(domain, grouping), strict=True
    ):
        of_value = [labels[group] for group in groups.tolist()]
        frames.append(
            pd.DataFrame(
                {
                    "column": attribute.name,
                    "value": written(attribute, attribute.labels()),
                    "group": of_value,
                }
            )
        )
    return pd.concat(frames)


def labels_of_groups(domain: Domain, grouping: Grouping) -> list[list[str]]:
    """A name for each group of each column."""
    return [group_labels(a, groups) for a, groups in zip(domain.attributes, grouping.groups, strict=True)]


def _written_labels(domain: Domain, grouping: Grouping) -> list[list[str]]:
    """As files have them: a group of missing values alone is an empty field."""
    names_of_groups = labels_of_groups(domain, grouping)
    for attribute, groups, labels in zip(domain.attributes, grouping.groups, names_of_groups, strict=True):
        if attribute.missing_cell and (groups == groups[-1]).sum() == 1:
            labels[groups[-1]] = ""
    return names_of_groups


def group_labels(attribute: Attribute, groups: Integers) -> list[str]:
    """A name for each group of an attribute's cells; one of several values never has that of another group.

    Two could be alike where a value is written with commas, as “a, b” beside the values a and b together.
    """
    names = attribute.labels()
    members = [np.flatnonzero(groups == group).tolist() for group in range(int(groups.max()) + 1)]
    names_of_groups = [
        _named([names[cell] for cell in cells], neighbours=attribute.ordered) for cells in members
    ]
    taken = {name for name, cells in zip(names_of_groups, members, strict=True) if len(cells) == 1}
    for group, cells in enumerate(members):
        if len(cells) > 1:
            while names_of_groups[group] in taken:
                names_of_groups[group] += TOGETHER
            taken.add(names_of_groups[group])
    return names_of_groups


def _named(values: list[str], *, neighbours: bool) -> str:
    if len(values) == 1:
        return values[0]
    if neighbours:
        return f"{values[0]} … {values[-1]}"
    more = f" + {len(values) - MOST_NAMED}" if len(values) > MOST_NAMED else ""
    return ", ".join(values[:MOST_NAMED]) + more
