"""Servers of the queue that a test has for itself, to kill and start again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
REDIS = "redis-server"


def lacking_redis() -> str:
    """Why no Redis can be started here; empty if one can."""
    return "" if shutil.which(REDIS) else f"{REDIS} is not installed"


@dataclass
class Server:
    """A process of its own group that can be killed and started again on what it left in its folder."""

    command: list[str]
    port: int
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {**os.environ, **self.environment}
        nowhere = subprocess.DEVNULL
        self.process = subprocess.Popen(
            self.command, env=environment, stdout=nowhere, stderr=nowhere, start_new_session=True
        )

    def kill(self) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def redis(folder: Path, port: int, lasting: bool) -> Server:
    """lasting: whether each message is on the disk before Redis says that it has it."""
    command = [REDIS, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    lines = ["--appendonly", "yes", "--appendfsync", "always"] if lasting else ["--appendonly", "no"]
    return Server([*command, *lines], port)


def rabbitmq(folder: Path, port: int) -> Server:
    """A node of its own beside the machine's; it listens to the next port for its own kind, too."""
    (folder / "node.conf").write_text(f"listeners.tcp.local = 127.0.0.1:{port}\n")
    (folder / "plugins").write_text("[].\n")
    (folder / "environment").touch()
    places = {
        "NODENAME": f"portal{port}@localhost",
        "DIST_PORT": str(port + 1),
        "MNESIA_BASE": str(folder / "mnesia"),
        "LOG_BASE": str(folder / "log"),
        "CONFIG_FILE": str(folder / "node"),
        "ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "CONF_ENV_FILE": str(folder / "environment"),
    }
    environment = {f"RABBITMQ_{name}": value for name, value in places.items()}
    return Server(
        [str(RABBITMQ)], port, {**environment, "HOME": str(folder), "ERL_EPMD_ADDRESS": "127.0.0.1"}
    )
