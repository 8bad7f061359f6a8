"""Uploaded workloads: what is read, and each bad file with its own sentence."""

from __future__ import annotations

import io
import zipfile
import zlib

import numpy as np
import pytest
import scipy.sparse

from dpportal.releases import arrays
from dpportal.releases.products.queries import matrices
from dpportal.releases.products.queries.matrices import MatrixError, UploadedMatrix

CELLS = 4
LABELS = ("red", "green", "blue", "Other")


def csv(text: str) -> UploadedMatrix:
    return matrices.read(io.BytesIO(text.encode()), "w.csv", CELLS, LABELS)


def npz(matrix: scipy.sparse.sparray, cells: int = CELLS) -> UploadedMatrix:
    file = io.BytesIO()
    scipy.sparse.save_npz(file, matrix)
    return matrices.read(file, "w.npz", cells, LABELS)


@pytest.mark.parametrize(
    "text",
    [
        "1,0,0,0\n0,1,1,0.5\n",
        "red,green,blue,Other\n1,0,0,0\n0,1,1,0.5\n",
        "﻿a,b,c,d\r\n1,0,0,0\r\n\r\n0,1,1,5e-1\r\n",
        "1;0;0;0\n0;1;1;0.5\n",
        "1\t0\t0\t0\n0\t1\t1\t0.5",
    ],
)
def test_a_csv_with_or_without_a_header_is_read(text: str) -> None:
    matrix = csv(text)
    np.testing.assert_array_equal(matrix.rows.toarray(), [[1, 0, 0, 0], [0, 1, 1, 0.5]])
    assert matrix.names == ()


@pytest.mark.parametrize("header", ["", "query,red,green,blue,Other\n"])
def test_a_further_first_column_names_the_queries(header: str) -> None:
    matrix = csv(f'{header}only red,1,0,0,0\n"blue, or green",0,1,1,0\n')
    assert matrix.names == ("only red", "blue, or green")
    np.testing.assert_array_equal(matrix.rows.toarray(), [[1, 0, 0, 0], [0, 1, 1, 0]])


def test_a_header_of_numbers_is_known_by_the_cells_labels() -> None:
    ages = ("17", "18")
    with_header = matrices.read(io.BytesIO(b"17,18\n1,0\n"), "w.csv", 2, ages)
    np.testing.assert_array_equal(with_header.rows.toarray(), [[1, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,0,0\n", "Line 1 has 3 entries; the chosen columns make 4 cells"),
        ("1,0,0,0\n0,1,1\n", "Line 2 has 3 entries"),
        ("1,0,0,0\n0,1,1,1,1\n", "Line 2 has 5 entries"),
        ("1,0,0,0\n0,nan,1,1\n", "NaN or infinity"),
        ("1,0,0,0\n0,1e999,1,1\n", "NaN or infinity"),
        ("1,0,0,0\n0,0,0,0\n", "Query 2 asks for nothing"),
        ("1,0,0,0\n0,one,1,1\n", "Line 2 holds something that is not a number"),
        ("1,0,0,0\n0,,1,1\n", "Line 2 holds something that is not a number"),
        ("red,green,blue,Other\n", "holds no query"),
        ("", "holds no query"),
        ("Other,red,green,blue\n1,0,0,0\n", "another order"),
        ("1,0,0,0\n\x00,0,0,1\n", "not a number"),
        ('1,0,0,0\n"1"0,0,0,1\n', "cannot be read as CSV"),
    ],
)
def test_a_bad_csv_is_refused_with_what_to_change(text: str, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        csv(text)


def test_text_that_is_not_utf_8_is_said_so() -> None:
    with pytest.raises(MatrixError, match="UTF-8"):
        matrices.read(io.BytesIO("é,1,0,0,0\n".encode("latin-1")), "w.csv", CELLS, LABELS)


def test_another_kind_of_file_is_refused() -> None:
    with pytest.raises(MatrixError, match=r"neither a \.csv nor an \.npz"):
        matrices.read(io.BytesIO(b"1,0,0,0"), "w.xlsx", CELLS, LABELS)


def test_a_file_beyond_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "MAX_FILE_BYTES", 2**20)
    with pytest.raises(MatrixError, match=r"at most 1 MB can be read"):
        csv("1,0,0,0\n" * 2**18)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_sparse_matrix_of_any_format_is_read(form: str) -> None:
    dense = np.array([[1.0, 0, 0, 0], [0, 1, 1, 0.5]])
    np.testing.assert_array_equal(npz(scipy.sparse.coo_array(dense).asformat(form)).rows.toarray(), dense)


@pytest.mark.parametrize(
    ("matrix", "cells", "message"),
    [
        (scipy.sparse.csr_array(np.eye(3)), CELLS, "A row of the matrix has 3 entries"),
        (scipy.sparse.csr_array(np.array([[1, np.nan, 0, 0]])), CELLS, "NaN or infinity"),
        (scipy.sparse.csr_array(np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]])), CELLS, "Query 2 asks for nothing"),
        (scipy.sparse.csr_array(np.array([[1j, 0, 0, 0]])), CELLS, "not real numbers"),
        (
            scipy.sparse.csr_array((10**5, 10**4)),
            10**4,
            r"1,000,000,000 entries, which need 7\.5 GB of memory",
        ),
        (scipy.sparse.csr_array((10**6, 4)), CELLS, "at most 100,000 can be answered"),
        (scipy.sparse.csr_array((0, 4)), CELLS, "holds no query"),
    ],
)
def test_a_bad_sparse_matrix_is_refused(matrix: scipy.sparse.sparray, cells: int, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        npz(matrix, cells)


def test_indices_outside_the_matrix_are_refused() -> None:
    parts = {"indices": np.array([99]), "indptr": np.array([0, 1]), "data": np.array([1.0])}
    with pytest.raises(MatrixError, match="cannot be read as a sparse matrix"):
        matrices.read(
            _packed(**parts, format=np.array(b"csc"), shape=np.array([1, 4])), "w.npz", CELLS, LABELS
        )


def test_an_object_array_is_never_unpickled() -> None:
    parts = {"shape": np.array([1, 4]), "data": np.array([object()], dtype=object)}
    with pytest.raises(MatrixError, match="cannot be read as a sparse matrix"):
        matrices.read(_packed(**parts, format=np.array(b"csr")), "w.npz", CELLS, LABELS)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"1,0,0,0"])
def test_a_file_that_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(MatrixError, match="cannot be read as a sparse matrix"):
        matrices.read(io.BytesIO(content), "w.npz", CELLS, LABELS)


def _spoiled(place: int, byte: int) -> io.BytesIO:
    """An archive of a sparse matrix with one byte of its first entry changed, counted from after the entry's name."""
    file = io.BytesIO()
    scipy.sparse.save_npz(file, scipy.sparse.csr_array(np.eye(CELLS)))
    content = bytearray(file.getvalue())
    length = int.from_bytes(content[26:28], "little") + int.from_bytes(content[28:30], "little")
    content[30 + length + place] = byte
    return io.BytesIO(bytes(content))


def test_an_archive_whose_compressed_bytes_are_broken_is_refused() -> None:
    with pytest.raises(zlib.error):
        np.load(_spoiled(0, 0xFF))["indices"]
    with pytest.raises(MatrixError, match="cannot be read as a sparse matrix"):
        matrices.read(_spoiled(0, 0xFF), "w.npz", CELLS, LABELS)


def test_an_encrypted_archive_is_refused() -> None:
    content = bytearray(_spoiled(0, 0xFF).getvalue())
    for place in range(len(content) - 4):
        if content[place : place + 4] == b"PK\x01\x02":
            content[place + 8] |= 1
    with pytest.raises(MatrixError, match="cannot be read as a sparse matrix"):
        matrices.read(io.BytesIO(bytes(content)), "w.npz", CELLS, LABELS)


def test_names_with_half_a_character_are_refused() -> None:
    half = np.frombuffer((0xD800).to_bytes(4, "little") * CELLS, dtype="<U1")
    file = io.BytesIO()
    scipy.sparse.save_npz(file, scipy.sparse.csr_array(np.eye(CELLS)))
    with zipfile.ZipFile(file, "a") as archive, archive.open("names.npy", "w") as entry:
        np.save(entry, half)
    with pytest.raises(MatrixError, match="cannot be read as a sparse matrix"):
        matrices.read(file, "w.npz", CELLS, LABELS)


@pytest.mark.slow
def test_an_archive_that_unpacks_beyond_memory_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("data.npy", "w") as entry:
        for _block in range(850):
            entry.write(bytes(2**20))
    assert len(file.getvalue()) < 2**20
    with pytest.raises(MatrixError, match=r"Unpacked, the file has 0\.8 GB"):
        matrices.read(file, "w.npz", CELLS, LABELS)


def test_a_matrix_is_kept_under_its_digest_and_read_again() -> None:
    matrix = csv("only red,1,0,0,0\nhalf,0,1,1,0.5\n")
    digest = matrices.store(matrix)
    assert digest == matrices.store(csv("n,red,green,blue,Other\nonly red,1,0,0,0\nhalf,0,1,1,0.5\n"))
    again = matrices.load(digest)
    assert again.names == ("only red", "half")
    np.testing.assert_array_equal(again.rows.toarray(), matrix.rows.toarray())


def test_a_matrix_that_is_gone_is_said_so() -> None:
    with pytest.raises(MatrixError, match="Upload it again"):
        matrices.load("0" * 64)


def test_arrays_have_the_same_bytes_whenever_they_are_written(tmp_path) -> None:
    for name, order in (("a", ("x", "y")), ("b", ("y", "x"))):
        arrays.write(tmp_path / name, {key: np.arange(5) * ord(key) for key in order})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def _packed(**parts: np.ndarray) -> io.BytesIO:
    file = io.BytesIO()
    np.savez(file, **parts)  # type: ignore[arg-type]
    file.seek(0)
    return file
