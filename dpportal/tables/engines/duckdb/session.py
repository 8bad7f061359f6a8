"""DuckDB, held to a memory limit and to the files it is given."""
# ruff: noqa: S608 names and values are quoted by identifier and literal

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from dpportal.platform import cores
from dpportal.platform.sealed_files import ChangedFileError, FilePath, SealedPath
from dpportal.tables.engines.duckdb.sealed_system import SealedSystem

THREAD_BYTES = 300 * 2**20


def connect(scratch: Path, *files: FilePath, memory_bytes: int, threads: int) -> duckdb.DuckDBPyConnection:
    """A database in memory that spills into `scratch`, installs nothing and prints nothing.

    files: of which those that are sealed can be read and written, too. What it spills is encrypted with a key of its
    own, which no file has.
    """
    connection = duckdb.connect(
        config={
            "memory_limit": f"{memory_bytes // 2**20}MiB",
            "threads": threads,
            "temp_directory": str(scratch),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            # The engine's own AES, without the extension that brings OpenSSL. “Unsafe” is its generator of random
            # numbers, which is none for keys that last; this one is gone with the process.
            "force_mbedtls_unsafe": "true",
            "temp_file_encryption": "true",
        }
    )
    # Off by default for a statement, but not for a relation, which would draw a bar on the worker's output.
    connection.execute("SET enable_progress_bar = false; SET enable_progress_bar_print = false")
    # It makes a join of every IN of five words, which carries all other columns: memory by the square of their number.
    connection.execute("SET disabled_optimizers = 'in_clause'")
    connection.register_filesystem(SealedSystem(*(file for file in files if isinstance(file, SealedPath))))
    # It would keep what it read of a sealed file, and files are read once.
    connection.execute("SET enable_external_file_cache = false")
    return connection


@contextmanager
def stored_table(path: FilePath) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for reading one stored table; what does not fit in memory spills to the temporary folder."""
    with TemporaryDirectory(prefix="spill-") as scratch:
        threads = cores.used()
        memory_bytes = max(2, threads) * THREAD_BYTES
        connection = connect(Path(scratch), path, memory_bytes=memory_bytes, threads=threads)
        try:
            yield connection
        except duckdb.Error as error:
            if ChangedFileError.__name__ in str(error):  # what the engine says of it quotes the call
                raise ChangedFileError from None
            raise
        finally:
            connection.close()


def parquet(path: FilePath | str, *, row_numbers: bool = False) -> str:
    """The table function that reads a stored table; with `row_numbers`, also column file_row_number."""
    return f"read_parquet({literal(str(path))}{', file_row_number=true' if row_numbers else ''})"


def column_types(connection: duckdb.DuckDBPyConnection, path: FilePath) -> dict[str, str]:
    """SQL type by column name, in column order."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {parquet(path)}").fetchall()
    return {name: sql_type for name, sql_type, *_ in rows}


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | int | float | dt.date) -> str:
    """A value as SQL text that reads back as exactly that value."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, float):
        return f"'{value!r}'::DOUBLE"
    return f"({value})"
