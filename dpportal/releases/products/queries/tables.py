"""The data files of a bundle of answers: answers, estimated cells, strategy, the uploaded matrix, synthetic rows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from dpportal.platform import storage
from dpportal.publications import codebook
from dpportal.publications.table import Table
from dpportal.releases import arrays
from dpportal.releases.products.queries import matrices, workloads
from dpportal.releases.products.shared.synthetic_files import write_synthetic
from mechanisms import registry
from mechanisms.domain import Domain
from mechanisms.matrix.mechanism import QueryPlan, QueryResult
from mechanisms.matrix.query_columns import query_columns, query_fields, query_frame
from mechanisms.matrix.reconstruction import RECONSTRUCTION
from mechanisms.matrix.strategy_arrays import strategy_arrays
from mechanisms.tabular.csv_frames import write_frame
from mechanisms.tabular.label_columns import LabelColumn, label_columns

AT_ONCE = 100_000
ANSWER_FIELDS = [
    {"name": "number", "type": "integer", "title": "Number of the query"},
    {"name": "query", "type": "string", "title": "The query in words"},
    {"name": "answer", "type": "number", "title": "Unbiased estimate; may be negative"},
    {"name": "standard_error", "type": "number", "title": "Standard error of the answer, in rows"},
    {
        "name": "interval_lower",
        "type": "number",
        "title": "Lower end of the margin (95 %) of the true answer",
    },
    {
        "name": "interval_upper",
        "type": "number",
        "title": "Upper end of the margin (95 %) of the true answer",
    },
]
CELL_FIELDS = {
    "estimate": ("number", "Least-squares estimate of the count; may be negative"),
    "cell": ("number", "Non-negative estimate of the count"),
    "count": ("integer", "Count of a possible table near it"),
}
ABOUT_CELLS = "Estimated count of every cell"
ABOUT_CELLS_INSTEAD = (
    "Estimated count of every cell; made non-negative by least squares, as the most likely ones could not be "
    "worked out"
)


def write(plan: QueryPlan, result: QueryResult, seed: bytes, folder: Path) -> list[Table]:
    """Answers and strategy always; cells and synthetic rows where the cells of the domain can be listed."""
    answers, strategy = folder / "answers.csv", folder / "strategy.npz"
    columns = query_columns(plan)
    _write_answers(plan, result, columns, answers)
    arrays.write(strategy, strategy_arrays(registry.query_mechanism(plan.mechanism), plan))
    return [
        Table(
            answers,
            "Answers with standard errors and margins (95 %)",
            [*ANSWER_FIELDS[:2], *query_fields(columns), *ANSWER_FIELDS[2:]],
        ),
        *_cells(plan, result, seed, folder),
        Table(strategy, "The strategy: what was measured, as NumPy arrays"),
        *_uploaded(plan, folder),
    ]


def _write_answers(plan: QueryPlan, result: QueryResult, columns: list[LabelColumn], path: Path) -> None:
    labels = plan.workload.labels(plan.domain)
    with path.open("w", encoding="utf-8", newline="") as file:
        for start in range(0, result.answers.size, AT_ONCE):
            part = slice(start, min(start + AT_ONCE, result.answers.size))
            frame = query_frame(plan, columns, part)
            frame.insert(0, "query", list(islice(labels, part.stop - part.start)))
            answer, half_width = result.answers[part], result.half_widths[part]
            numbers = (answer, result.standard_errors[part], answer - half_width, answer + half_width)
            names = [str(field["name"]) for field in ANSWER_FIELDS[2:]]
            frame = frame.assign(**dict(zip(names, numbers, strict=True)))
            frame.insert(0, "number", np.arange(part.start + 1, part.stop + 1))
            write_frame(frame, file, header=start == 0, float_format="%.10g")


def _cells(plan: QueryPlan, result: QueryResult, seed: bytes, folder: Path) -> Iterator[Table]:
    if result.estimate is None or result.cells is None or result.counts is None:
        return
    path = folder / "cells.csv"
    _write_cells(plan.domain, (result.estimate, result.cells, result.counts), path)
    fields = [column.field() for column in label_columns(plan.domain)]
    numbers = [{"name": n, "type": kind, "title": title} for n, (kind, title) in CELL_FIELDS.items()]
    requested = plan.details[RECONSTRUCTION.name]
    about = ABOUT_CELLS if result.reconstruction == requested else ABOUT_CELLS_INSTEAD
    yield Table(path, about, [*fields, *numbers])
    yield from write_synthetic(plan.domain, result.counts, seed, folder)
    yield codebook.write(plan.domain, folder)


def _write_cells(domain: Domain, columns: tuple[np.ndarray, ...], path: Path) -> None:
    labels = [(c.name, c.axis, np.array(c.labels, dtype=object)) for c in label_columns(domain)]
    with path.open("w", encoding="utf-8", newline="") as file:
        for start in range(0, domain.size, AT_ONCE):
            cells = np.arange(start, min(start + AT_ONCE, domain.size))
            places = np.unravel_index(cells, domain.shape)
            frame = pd.DataFrame({name: words[places[axis]] for name, axis, words in labels})
            numbers = {name: column[cells] for name, column in zip(CELL_FIELDS, columns, strict=True)}
            write_frame(frame.assign(**numbers), file, header=start == 0, float_format="%.6g")


def _uploaded(plan: QueryPlan, folder: Path) -> Iterator[Table]:
    """The matrices that the workload's text form names by their SHA-256."""
    for digest in workloads.digests(plan.workload.text):
        path = folder / f"matrix-{digest}.npz"
        with storage.local_path(matrices.stored_name(digest)) as stored:
            shutil.copyfile(stored, path)
        yield Table(path, "The uploaded workload, as scipy.sparse.load_npz reads it")
