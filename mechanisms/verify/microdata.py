"""Whether counts of single columns are what was measured, and rows of many columns those that are made of it.

How rows are fitted are long sums of floats: another processor may end at other rows. Rows that are the same are
verified; of others nobody can say here whether they were altered, and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.domain import Domain
from mechanisms.microdata.column_means import target_means
from mechanisms.microdata.files import column_lines, group_frame, measured_facts, measured_pairs, table_counts
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.packing import unpack_measured
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.replicates import replicates
from mechanisms.microdata.tables import split
from mechanisms.protocol import Measurement
from mechanisms.synthesis.table import public_seed, rows_of_cells
from mechanisms.tabular.codebook import codebook_frame
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import with_codes
from mechanisms.verify import csv_file, declared_rows
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.csv_file import ColumnValues, Numbers, texts
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.planned import Planned

ROWS, FURTHER = "synthetic.csv", "replicates.csv"
# Rows times columns up to which they are made again.
MOST_FITTED = 2**20
OTHER_ROWS = (
    "this processor makes other rows of the measurement, as fits in floats may; whether they were altered "
    "cannot be told"
)


def check(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    """Counts of columns exactly; what depends on fits where these end alike."""
    plan: MicrodataPlan = planned.stated
    measured, headers = Measurement(bundle.measurement), Headers.of(plan.domain)
    margins = split(unpack_measured(plan, measured.values)[0], plan.domain.shape)
    lines = column_lines(plan, margins, [law.half_width() for law in margin_laws(plan)])
    yield _counts(bundle, "columns.csv", headers.within(lines, "column"))
    yield _counts(bundle, "codebook.csv", codebook_frame(plan.domain))
    yield from declared_rows.check(bundle, ROWS, plan.domain, plan.wishes)
    if not is_fitted_again(bundle, plan):
        yield _unfitted(bundle)
        return
    try:
        result = fitted(bundle, plan)
    except ImportError as missing:
        yield Finding(ROWS, State.NOT_CHECKED, f"it takes the package {missing.name}")
        return
    yield from _pairs(bundle, plan, result)
    yield from _rows(bundle, plan, measured, result)


def is_fitted_again(bundle: Bundle, plan: MicrodataPlan) -> bool:
    """Whether the rows are few enough."""
    return int(bundle.release["synthetic_rows"]) * len(plan.domain.shape) <= MOST_FITTED


def _unfitted(bundle: Bundle) -> Finding:
    """Of so many rows as release.json says, or its word would keep fewer from being looked at."""
    rows, stated = csv_file.count_rows(bundle, ROWS), int(bundle.release["synthetic_rows"])
    if rows != stated:
        return Finding(ROWS, State.FAILED, f"it has {rows:,} rows, and release.json says {stated:,}")
    return Finding(ROWS, State.NOT_CHECKED, f"more than {MOST_FITTED:,} values are not fitted again")


def fitted(bundle: Bundle, plan: MicrodataPlan) -> MicrodataResult:
    """The rows that the measurement makes, once for all checks. Raises ImportError where a package is missing."""
    if "rows" not in bundle.worked_out:
        method = registry.microdata(plan.mechanism)
        bundle.worked_out["rows"] = method.reconstruct(plan, Measurement(bundle.measurement))
    result: MicrodataResult = bundle.worked_out["rows"]
    return result


def _pairs(bundle: Bundle, plan: MicrodataPlan, result: MicrodataResult) -> Iterator[Finding]:
    released, headers = plan.of_columns(result.columns), Headers.of(plan.domain)
    yield _counts(bundle, "pairs.csv", headers.within(measured_pairs(released, result), "first", "second"))
    if result.grouping is not None:
        tables = headers.within(table_counts(released.domain, result), "first", "second")
        yield _counts(bundle, "measured.csv", tables)
        groups = headers.within(group_frame(released.domain, result.grouping), "column")
        yield _counts(bundle, "groups.csv", groups)
    yield _facts(bundle, plan, result)


def _counts(bundle: Bundle, name: str, frame: pd.DataFrame) -> Finding:
    return csv_file.compared(bundle, name, {str(column): _column(frame[column]) for column in frame.columns})


def _column(values: pd.Series) -> ColumnValues:
    """As `write_frame` has them with six digits."""
    if values.dtype.kind == "f":
        return Numbers(values.to_numpy(float))
    if pd.api.types.is_integer_dtype(values.dtype) or values.dtype == bool:
        return np.array(["" if value is pd.NA else str(value) for value in values], dtype=object)
    return texts("" if value is None or value is pd.NA else str(value) for value in values)


def _facts(bundle: Bundle, plan: MicrodataPlan, result: MicrodataResult) -> Finding:
    """What release.json says of columns, pairs, and the noise of each."""
    own = measured_facts(plan, result)
    other = next((name for name in own if bundle.release.get(name) != own[name]), "")
    return Finding.of(
        "laws",
        f"release.json has another {other}" if other else "",
        f"noise of {len(plan.domain.shape):,} columns and {len(result.tables):,} tables",
    )


def _rows(
    bundle: Bundle, plan: MicrodataPlan, measured: Measurement, result: MicrodataResult
) -> Iterator[Finding]:
    released, headers = plan.of_columns(result.columns).domain, Headers.of(plan.domain)
    seed = public_seed(str(bundle.release["measurement_sha256"]))
    frames = rows_of_cells(released, result.rows, seed, means=target_means(plan, result))
    yield _same_rows(bundle, ROWS, with_codes(frames, released, headers))
    if plan.replicates:
        further = replicates(registry.microdata(plan.mechanism), plan, measured)
        yield _same_rows(bundle, FURTHER, _further_frames(plan.domain, further, seed, headers))


def _further_frames(
    domain: Domain, tables: Sequence[np.ndarray], seed: bytes, headers: Headers
) -> Iterator[pd.DataFrame]:
    for number, cells in enumerate(tables):
        own = sha256(seed + number.to_bytes(4, "big")).digest()
        for frame in with_codes(rows_of_cells(domain, cells, own), domain, headers):
            frame.insert(0, "replicate", number)
            yield frame


def _same_rows(bundle: Bundle, name: str, frames: Iterator[pd.DataFrame]) -> Finding:
    rows, other = csv_file.same_bytes(bundle, name, frames)
    if other:
        return Finding(name, State.NOT_CHECKED, OTHER_ROWS)
    return Finding(name, State.HOLDS, f"{rows:,} rows are those that the measurement makes")
