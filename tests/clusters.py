"""A Spark cluster as processes of this machine, which answers by Spark Connect."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
TOKEN = "only for counting"
TWO_THREADS, TWO_WORKERS = "local[2]", "local-cluster[2,1,1024]"
# Code that runs once is not worth much compiling.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
START_SECONDS = 240
PR_SET_PDEATHSIG = 1
CONF = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.authenticate.token": TOKEN,
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": QUICK_START,
    "spark.executor.extraJavaOptions": QUICK_START,
}


@dataclass(frozen=True)
class Cluster:
    """A running cluster. Its processes are a group of their own."""

    port: int
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def lacking() -> str:
    """What this machine has not got that a cluster needs; empty if nothing."""
    if not shutil.which("java"):
        return "no Java is installed"
    spec = find_spec("pyspark")
    home = Path(spec.origin).parent if spec and spec.origin else None
    return "" if home and (home / "jars").is_dir() else "pyspark is not installed, or only its client"


@contextmanager
def started(folder: Path, master: str) -> Iterator[Cluster]:
    """A cluster that keeps its tables in a folder, and ends with the block."""
    cluster = _start(folder, master)
    try:
        _wait(cluster, folder)
        yield cluster
    finally:
        if cluster.process.poll() is None:
            cluster.kill()


def _start(folder: Path, master: str) -> Cluster:
    spec = find_spec("pyspark")
    assert spec and spec.origin
    home = Path(spec.origin).parent
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    conf = {
        **CONF,
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.warehouse.dir": str(folder / "tables"),
        "spark.local.dir": str(folder),
    }
    flags = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    command = [home / "bin" / "spark-submit", "--class", SERVER, "--master", master, *flags, "spark-internal"]
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_end_with_tests,
        )
    return Cluster(port, process)


def _end_with_tests() -> None:
    """Have the system end this process, and its workers after it, with the one that started it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait(cluster: Cluster, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and cluster.process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", cluster.port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"the Spark cluster did not start:\n{(folder / 'log').read_text()[-3000:]}")
