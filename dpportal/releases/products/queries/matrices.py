"""Uploaded workloads: a matrix of queries by cells, checked as it is read, and kept under its SHA-256.

A matrix comes from outside and says what to ask; it holds nothing about the data.
"""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import product
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from dpportal.releases import arrays
from mechanisms.domain import Domain
from mechanisms.protocol import PlanError

MAX_FILE_BYTES = 64 * 2**20
# Of a matrix written out in full, zeros included.
MAX_ENTRIES = 10**8
MAX_QUERIES = 100_000
MAX_NAME = 120
FOLDER = "matrices"
DELIMITERS = (",", ";", "\t")
# A table with more cells than this has no header that names each of them.
MAX_NAMED = 100_000
BETWEEN = " · "
BYTES_OF_A_NUMBER = 8
# What numpy, scipy and zipfile raise for an archive that is broken, encrypted or of something else.
UNREADABLE = (
    ValueError,
    KeyError,
    OSError,
    EOFError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


class MatrixError(PlanError):
    """A file that cannot be a workload; the message says where and what to change."""


@dataclass(frozen=True)
class UploadedMatrix:
    """rows: (q, cells) finite numbers, none of the rows all zero. names: one for each query, or none at all."""

    rows: scipy.sparse.csr_array
    names: tuple[str, ...] = ()


def read(file: IO[bytes], file_name: str, cells: int, labels: Sequence[str]) -> UploadedMatrix:
    """Read a CSV, or an .npz that scipy.sparse.save_npz wrote.

    cells: how many columns it must have. labels: of the cells in their order, or none where they have no names.
    Raises MatrixError.
    """
    _check_file(file, file_name)
    is_npz = file_name.lower().endswith(".npz")
    matrix = _read_npz(file, cells) if is_npz else _read_csv(file, cells, labels)
    _check_rows(matrix.rows)
    return matrix


def cell_names(domain: Domain) -> list[str]:
    """The name of every cell, as matrices have them: the last column changes fastest. None of too many cells."""
    if domain.size > MAX_NAMED:
        return []
    return [BETWEEN.join(labels) for labels in product(*(a.labels() for a in domain.attributes))]


def store(matrix: UploadedMatrix) -> str:
    """Store a matrix; returns its SHA-256."""
    rows = matrix.rows
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}
    texts = {"format": np.array(b"csr"), "names": np.array(matrix.names, dtype=np.str_)}
    _name, digest = arrays.store({**parts, **texts}, FOLDER)
    return digest


def load(digest: str) -> UploadedMatrix:
    """The matrix of that SHA-256. Raises MatrixError if there is none any more."""
    if not default_storage.exists(stored_name(digest)):
        raise MatrixError(_("The uploaded matrix is not here any more. Upload it again."))
    parts = arrays.load(stored_name(digest))
    rows = scipy.sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])
    return UploadedMatrix(rows, tuple(map(str, parts["names"])))


def of_name(name: str) -> UploadedMatrix | None:
    """The matrix that is stored under a name, if it is that of a matrix."""
    return load(Path(name).stem) if name.startswith(f"{FOLDER}/") else None


def stored_name(digest: str) -> str:
    """Where an uploaded matrix lies. digest: of its content."""
    return f"{FOLDER}/{digest}.npz"


def _check_file(file: IO[bytes], file_name: str) -> None:
    if not file_name.lower().endswith((".csv", ".txt", ".tsv", ".npz")):
        raise MatrixError(_("This is neither a .csv nor an .npz file. Save the matrix as one of them."))
    size = file.seek(0, 2)
    file.seek(0)
    if size > MAX_FILE_BYTES:
        text = _(
            "The file has %(size)s MB; at most %(limit)s MB can be read. A matrix of mostly zeros is much smaller as "
            "an .npz file of scipy.sparse."
        )
        raise MatrixError(text % {"size": f"{size / 2**20:,.0f}", "limit": MAX_FILE_BYTES // 2**20})


def _check_rows(rows: scipy.sparse.csr_array) -> None:
    if rows.shape[0] == 0:
        raise MatrixError(_("The file holds no query. Write one row for each query."))
    if not np.isfinite(rows.data).all():
        raise MatrixError(_("The matrix holds NaN or infinity. Every entry must be a finite number."))
    rows.eliminate_zeros()
    empty = np.flatnonzero(np.diff(rows.indptr) == 0)
    if empty.size:
        text = _("Query %(row)s asks for nothing: all its entries are zero. Leave that row out.")
        raise MatrixError(text % {"row": f"{int(empty[0]) + 1:,}"})


def _check_size(queries: int, cells: int) -> None:
    if queries > MAX_QUERIES:
        text = _(
            "The matrix has %(queries)s or more queries; at most %(limit)s can be answered. Leave some out."
        )
        raise MatrixError(text % {"queries": f"{queries:,}", "limit": f"{MAX_QUERIES:,}"})
    if queries * cells > MAX_ENTRIES:
        text = _(
            "%(queries)s or more queries over %(cells)s cells are %(entries)s entries, which need %(memory)s GB of "
            "memory; at most %(limit)s entries can be read. Ask fewer queries, or use fewer columns or wider bins."
        )
        values = {"queries": f"{queries:,}", "cells": f"{cells:,}", "entries": f"{queries * cells:,}"}
        memory = f"{queries * cells * BYTES_OF_A_NUMBER / 2**30:,.1f}"
        raise MatrixError(text % {**values, "memory": memory, "limit": f"{MAX_ENTRIES:,}"})


def _width(entries: int, cells: int, where: str) -> MatrixError:
    text = _(
        "%(where)s has %(found)s entries; the chosen columns make %(cells)s cells, and a query has one entry for each "
        "(before them, a name if you like). Choose the columns that the matrix was made for."
    )
    return MatrixError(text % {"where": where, "found": f"{entries:,}", "cells": f"{cells:,}"})


def _read_csv(file: IO[bytes], cells: int, labels: Sequence[str]) -> UploadedMatrix:
    delimiter = _delimiter(file, cells)
    text = TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        return _from_lines(_lines(text, delimiter), cells, labels)
    except UnicodeDecodeError:
        raise MatrixError(_("The file is not text in UTF-8. Save it as CSV in UTF-8.")) from None
    except csv.Error:
        raise MatrixError(_("The file cannot be read as CSV. Save it as CSV with commas.")) from None
    finally:
        text.detach()


def _delimiter(file: IO[bytes], cells: int) -> str:
    """The delimiter that gives the first line as many fields as there are cells; a comma if none does."""
    first = file.readline(MAX_FILE_BYTES)
    file.seek(0)
    fits = [d for d in DELIMITERS if first.count(d.encode()) + 1 in (cells, cells + 1)]
    return fits[0] if fits else DELIMITERS[0]


def _lines(text: TextIOWrapper, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers."""
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    yield from ((reader.line_num, fields) for fields in reader if any(field.strip() for field in fields))


def _from_lines(lines: Iterator[tuple[int, list[str]]], cells: int, labels: Sequence[str]) -> UploadedMatrix:
    rows: list[scipy.sparse.csr_array] = []
    names: list[str] = []
    is_first, width = True, 0
    for number, fields in lines:
        where = _("Line %(number)s") % {"number": f"{number:,}"}
        width = width or _checked_width(fields, cells, where)
        if len(fields) != width:
            raise _width(len(fields), cells, where)
        if is_first and _is_header(fields[width - cells :], labels):
            is_first = False
            continue
        is_first = False
        _check_size(len(rows) + 1, cells)
        rows.append(scipy.sparse.csr_array(_numbers(fields[width - cells :], where).reshape(1, -1)))
        names += [fields[0].strip()[:MAX_NAME]] * (width - cells)
    stacked = scipy.sparse.vstack(rows, format="csr") if rows else scipy.sparse.csr_array((0, cells))
    return UploadedMatrix(stacked, tuple(names))


def _checked_width(fields: list[str], cells: int, where: str) -> int:
    if len(fields) not in (cells, cells + 1):
        raise _width(len(fields), cells, where)
    return len(fields)


def _is_header(fields: list[str], labels: Sequence[str]) -> bool:
    """Whether a first line names cells. Raises MatrixError if it names them in another order than the portal's."""
    names = [field.strip() for field in fields]
    known = [label.strip() for label in labels]
    if names == known:
        return True
    if known and sorted(names) == sorted(known):
        text = _(
            "The header names the cells in another order than the declared one. Put the columns in that order."
        )
        raise MatrixError(text)
    return not any(map(_is_number, names))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(fields: list[str], where: str) -> np.ndarray:
    try:
        return np.array([float(field) for field in fields])
    except ValueError:
        text = _("%(where)s holds something that is not a number. Write plain numbers with a decimal point.")
        raise MatrixError(text % {"where": where}) from None


def _read_npz(file: IO[bytes], cells: int) -> UploadedMatrix:
    try:
        return _from_npz(file, cells)
    except UNREADABLE as error:
        if isinstance(error, MatrixError):
            raise
        text = _("The .npz file cannot be read as a sparse matrix. Write it with scipy.sparse.save_npz.")
        raise MatrixError(text) from None


def _from_npz(file: IO[bytes], cells: int) -> UploadedMatrix:
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > MAX_ENTRIES * BYTES_OF_A_NUMBER:
        text = _("Unpacked, the file has %(size)s GB, more than can be read. Ask fewer queries.")
        raise MatrixError(text % {"size": f"{unpacked / 2**30:,.1f}"})
    file.seek(0)
    with np.load(file, allow_pickle=False) as parts:
        queries, width = _checked_shape(parts["shape"])
        if width != cells:
            raise _width(width, cells, _("A row of the matrix"))
        _check_size(queries, cells)
        names = tuple(str(name)[:MAX_NAME] for name in parts["names"]) if "names" in parts.files else ()
        "".join(names).encode()  # a lone surrogate is a ValueError
    if names and len(names) != queries:
        raise MatrixError(_("The file has not one name for each query. Give all queries a name, or none."))
    file.seek(0)
    return UploadedMatrix(_checked(scipy.sparse.load_npz(file)), names)


def _checked_shape(shape: np.ndarray) -> tuple[int, int]:
    queries, width = (int(number) for number in shape)
    return queries, width


def _checked(matrix: scipy.sparse.sparray | scipy.sparse.spmatrix) -> scipy.sparse.csr_array:
    """The matrix row by row, its indices within its shape. Raises MatrixError if its entries are no real numbers."""
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    if matrix.dtype.kind not in "biuf":
        raise MatrixError(
            _("The entries of the matrix are not real numbers. Save it with numbers of type float64.")
        )
    rows = scipy.sparse.csr_array(matrix.tocsr(), dtype=np.float64)
    rows.sum_duplicates()
    return rows
