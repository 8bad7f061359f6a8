"""The same counts from each engine that a table may lie in: how long, what comes here, and what memory that takes.

    python -m tests.benchmarks.engines [--rows 10_000_000] [--folder DIRECTORY] [--engines NAME …]

The table is that of the benchmark `tables`. Each count runs in a process of its own, whose peak memory is printed, and
all engines must count the same; one that does not end within LIMIT_SECONDS is told so. Bytes moved are those that came
to that process: read from the file, or received from the server. Server seconds are what the server's processes took of
the processors, by /proc, where it runs on this machine; for PostgreSQL let nobody else ask it meanwhile. Behind each
count stands how many times as long a GROUP BY written by hand took in the same server, of what a typed table has: both
the better of REPEATS, in processor seconds where they are known. Loading is not measured. An engine more is an entry
more in ENGINES.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import multiprocessing
import os
import resource
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg

from mechanisms.domain import Domain
from tests.benchmarks import processors
from tests.benchmarks.tables import ALL_FOUR, COLUMNS, SMALL, WIDE, write_csv
from tests.conftest import POSTGRES_URL
from tests.credentials import ScramDoor, credential

ASKED = {"three columns": SMALL, "four columns": ALL_FOUR, "four columns, many cells": WIDE}
NAMES = (*(column.name for column in COLUMNS), "income")
# The same columns and bins, without what a file's text would mean.
BIN = "least(greatest(floor(income / {}), 0), {})"
BY_HAND = {
    "three columns": f"age, region, {BIN.format(12_500, 7)}",
    "four columns": f"age, sex, region, {BIN.format('33333.333333333336', 2)}",
    "four columns, many cells": f"age, sex, region, {BIN.format(50, 1_999)}",
}
REPEATS = 2
PIECE_BYTES = 2**16
LIMIT_SECONDS = 300
# The least that processor seconds tell.
TICK = 0.01


class Wire:
    """Stands between here and a server, and counts what the server sends."""

    def __init__(self, host: str, port: int) -> None:
        self.server = (host, port)
        self.received = 0
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self.door.close()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                visitor, _address = self.door.accept()
                server = socket.create_connection(self.server)
                for source, target, counts in ((visitor, server, False), (server, visitor, True)):
                    threading.Thread(target=self._pass, args=(source, target, counts), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(PIECE_BYTES):
                self.received += len(piece) if counts else 0
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


@dataclass
class Place:
    """Where an engine has the table. told: what its count needs to find it; wire: what comes from its server.

    by_hand: runs a GROUP BY in it. server: the process from which all of the server's descend, where it is here.
    """

    told: Any
    wire: Wire | None = None
    by_hand: Callable[[str], object] | None = None
    server: int | None = None


@contextmanager
def file(csv: Path) -> Iterator[Place]:
    """As every upload is stored."""
    from dpportal.tables import convert

    parquet = csv.with_name("table.parquet")
    convert(csv, parquet, csv.name)
    yield Place(str(parquet))


def count_file(parquet: str, domain: Domain) -> np.ndarray:
    from dpportal.tables import count_cells

    return count_cells(Path(parquet), domain)


@contextmanager
def postgres(csv: Path) -> Iterator[Place]:
    """In a database that is dropped afterwards."""
    name, at = f"dpportal_benchmark_{uuid.uuid4().hex[:12]}", urlsplit(POSTGRES_URL)
    with psycopg.connect(f"{POSTGRES_URL}/postgres", autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        password = at.password or "none"
        door = ScramDoor(at.hostname or "127.0.0.1", at.port or 5432, password)
        wire = Wire("127.0.0.1", door.port)
        try:
            load(f"{POSTGRES_URL}/{name}", csv)
            with psycopg.connect(f"{POSTGRES_URL}/{name}", autocommit=True) as database:
                by_hand = partial(_fetched, database)
                postmaster = (
                    processors.parent_of(database.info.backend_pid) if _is_here(at.hostname) else None
                )
                yield Place((wire.port, name, at.username, password), wire, by_hand, postmaster)
        finally:
            wire.close()
            door.close()
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _fetched(database: psycopg.Connection[Any], statement: str) -> list[Any]:
    return database.execute(statement.encode()).fetchall()


def _is_here(host: str | None) -> bool:
    return host in ("127.0.0.1", "localhost", None)


def load(address: str, csv: Path) -> None:
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE TABLE people (age integer, sex text, region text, income double precision)")
        copying = database.cursor().copy("COPY people FROM STDIN (FORMAT csv, HEADER)")
        with copying as copied, csv.open("rb") as lines:
            while piece := lines.read(2**20):
                copied.write(piece)
        database.execute("VACUUM ANALYZE people")


def count_postgres(told: tuple[int, str, str, str], domain: Domain) -> np.ndarray:
    from dpportal.tables.connections.models import Connection, SharedTable

    port, database, user, password = told
    os.environ["DPPORTAL_CREDENTIAL_BENCHMARK"] = credential(port, password)
    connection = Connection(
        name="Benchmark",
        host="127.0.0.1",
        port=port,
        database=database,
        user=user,
        credential="benchmark",
        seconds=LIMIT_SECONDS,
        encryption="disable",
    )
    return counted_elsewhere(SharedTable(connection=connection, title="People", table="people"), domain)


@contextmanager
def spark(csv: Path) -> Iterator[Place]:
    """In a cluster of its own on this machine, as Parquet."""
    from dpportal.tables.engines.spark import session as speaking
    from tests.clusters import TOKEN, started

    folder = csv.with_name("spark")
    folder.mkdir()
    columns = "CAST(age AS INT), sex, region, CAST(income AS DOUBLE)"
    with started(folder, "local[2]") as server:
        os.environ["DPPORTAL_CREDENTIAL_BENCHMARK"] = credential(server.port, TOKEN, engine="spark")
        with speaking.reading(spark_connection(server.port)) as session:
            run = session.spark.sql
            run(f"CREATE TEMPORARY VIEW rows USING csv OPTIONS (path '{csv}', header 'true')")
            run(f"CREATE TABLE people USING parquet AS SELECT {columns} FROM rows")
            run("ANALYZE TABLE people COMPUTE STATISTICS")
        wire = Wire("127.0.0.1", server.port)
        try:
            with speaking.reading(spark_connection(server.port)) as session:
                by_hand = partial(_arrow, session)
                yield Place((wire.port, TOKEN), wire, by_hand, server.process.pid)
        finally:
            wire.close()


def _arrow(session: Any, statement: str) -> Any:
    return session.spark.sql(statement).toArrow()


def spark_connection(port: int) -> Any:
    from dpportal.tables.connections.models import Connection

    return Connection(
        name="Benchmark",
        kind=Connection.Kind.SPARK,
        host="127.0.0.1",
        port=port,
        credential="benchmark",
        seconds=LIMIT_SECONDS,
        encryption="disable",
    )


def count_spark(told: tuple[int, str], domain: Domain) -> np.ndarray:
    from dpportal.tables.connections.models import SharedTable

    port, token = told
    os.environ["DPPORTAL_CREDENTIAL_BENCHMARK"] = credential(port, token, engine="spark")
    table = SharedTable(connection=spark_connection(port), title="People", schema="default", table="people")
    return counted_elsewhere(table, domain)


@contextmanager
def clickhouse(csv: Path) -> Iterator[Place]:
    """In ClickHouse's engine, in a process of its own."""
    from tests.clickhouses import run, started

    folder = csv.with_name("clickhouse")
    folder.mkdir()
    columns = "age Nullable(Int32), sex Nullable(String), region Nullable(String), income Nullable(Float64)"
    with started(folder) as server:
        run(server, f"CREATE TABLE people ({columns}) ENGINE = MergeTree ORDER BY ()")
        run(server, f"INSERT INTO people SELECT * FROM file('{csv}', 'CSVWithNames', '{columns}')")
        wire = Wire("127.0.0.1", server.port)
        try:
            yield Place(wire.port, wire, partial(run, server), server.process.pid)
        finally:
            wire.close()


def count_clickhouse(port: int, domain: Domain) -> np.ndarray:
    from dpportal.tables.connections.models import Connection, SharedTable
    from tests.clickhouses import PASSWORD

    os.environ["DPPORTAL_CREDENTIAL_BENCHMARK"] = credential(port, PASSWORD, engine="clickhouse")
    connection = Connection(
        name="Benchmark",
        kind=Connection.Kind.CLICKHOUSE,
        host="127.0.0.1",
        port=port,
        user="reader",
        credential="benchmark",
        seconds=LIMIT_SECONDS,
        encryption="disable",
    )
    return counted_elsewhere(SharedTable(connection=connection, title="People", table="people"), domain)


def counted_elsewhere(table: Any, domain: Domain) -> np.ndarray:
    """As a release of a connected table is counted."""
    from dpportal.tables.connections import counting
    from dpportal.tables.meaning.parse_options import ReadOptions

    schema = counting.look(table)
    wanted = counting.CountRequest(table, schema.identity, schema.types, schema.definition)
    return counting.count_tables(wanted, domain, [domain.names], ReadOptions(), None).counts


@dataclass(frozen=True)
class Engine:
    """place: has the table until it is left. count: run in a process of its own, with what the place told."""

    name: str
    place: Callable[[Path], Any]
    count: Callable[[Any, Domain], np.ndarray]


ENGINES = (
    Engine("DuckDB, a file", file, count_file),
    Engine("PostgreSQL", postgres, count_postgres),
    Engine("Spark", spark, count_spark),
    Engine("ClickHouse", clickhouse, count_clickhouse),
)


@dataclass(frozen=True)
class Measured:
    seconds: float
    memory_mb: float
    read_bytes: int
    rows: int
    digest: str


def measured(count: Callable[[Any, Domain], np.ndarray], told: Any, domain: Domain) -> Measured | None:
    """One count, in a process that has loaded what it needs; None if it was ended for its time."""
    import django

    django.setup()
    from dpportal.tables.connections import counting  # noqa: F401 loaded before the clock starts
    from dpportal.tables.faults import SourceFault

    before, start = bytes_read(), time.perf_counter()
    try:
        counts = count(told, domain)
    except SourceFault:
        if time.perf_counter() - start < LIMIT_SECONDS:
            raise
        return None
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    digest = hashlib.sha256(counts.astype("<i8").tobytes()).hexdigest()
    return Measured(seconds, memory, bytes_read() - before, int(counts.sum()), digest)


def bytes_read() -> int:
    """What this process read from files so far, cached or not; sockets do not count."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["rchar"])


def measure(engine: Engine, place: Place, asked: str) -> Measured | None:
    """Print one count, the better of some in processor seconds of the server, and how it compares with one by hand."""
    found, received, server = None, 0, math.inf
    for _again in range(REPEATS if place.by_hand else 1):
        before, begun = place.wire.received if place.wire else 0, processors.seconds(place.server)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            again = pool.submit(measured, engine.count, place.told, ASKED[asked]).result()
        if again is None:
            print(f"| {engine.name:<16} | {asked:<24} | over {LIMIT_SECONDS} | | | | |", flush=True)
            return None
        if found is None or again.seconds < found.seconds:
            found = again
            received = place.wire.received - before if place.wire else found.read_bytes
        server = min(server, processors.seconds(place.server) - begun)
    assert found
    by_hand, server_by_hand = hand_written(place, asked)
    ratio = server / max(server_by_hand, TICK) if place.server else found.seconds / by_hand
    hand = f"{ratio:5.2f} × by hand" if place.by_hand else ""
    print(
        f"| {engine.name:<16} | {asked:<24} | {found.seconds:7.2f} | {server if place.server else 0:7.2f} "
        f"| {hand:>15} | {received:13,} | {found.memory_mb:7,.0f} |",
        flush=True,
    )
    return found


def hand_written(place: Place, asked: str) -> tuple[float, float]:
    """Seconds of a GROUP BY by hand, and those of the server's processors."""
    seconds = server = math.inf
    columns = BY_HAND[asked]
    for _again in range(REPEATS if place.by_hand else 0):
        assert place.by_hand
        start, begun = time.perf_counter(), processors.seconds(place.server)
        place.by_hand(f"SELECT {columns} AS bin, count(*) AS n FROM people GROUP BY {columns}")
        seconds = min(seconds, time.perf_counter() - start)
        server = min(server, processors.seconds(place.server) - begun)
    return seconds, server


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--engines", nargs="*", help="the beginnings of their names; all if none is given")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
        os.environ.update(DPPORTAL_DATA_DIR=f"{folder}/data", DJANGO_SETTINGS_MODULE="dpportal.settings")
        import django

        django.setup()
        csv = folder / "table.csv"
        write_csv(csv, options.rows)
        chosen = tuple(name.lower() for name in options.engines or ("",))
        engines = [engine for engine in ENGINES if engine.name.lower().startswith(chosen)]
        if not engines:
            parser.error(f"no engine is called so; there are {', '.join(engine.name for engine in ENGINES)}")
        places = [stack.enter_context(engine.place(csv)) for engine in engines]
        print(f"{options.rows:,} rows × {len(NAMES)} columns\n")
        print("| engine | counts of | seconds | server's | | bytes moved | peak MB here |")
        print("|---|---|---:|---:|---:|---:|---:|")
        same = True
        for asked in ASKED:
            found = [measure(e, place, asked) for e, place in zip(engines, places, strict=True)]
            same = same and len({each.digest for each in found if each}) == 1
    print("\nAll engines count the same." if same else "\nThe engines count differently.")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
