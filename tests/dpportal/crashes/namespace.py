"""A network of its own for a worker, from which it reaches the servers of this machine until the line is cut.

The worker speaks to 127.0.0.1 in its own network; a relay there hands every byte to one outside, by a socket that is a
file. Once the network's only device is down, what the worker sends is dropped and nobody hears of it: no connection is
closed, as in a real partition.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.dpportal.world import World, kill

ENTER = "import os, sys; os.execvp('ip', ['ip', 'netns', 'exec', sys.argv[1], sys.executable, *sys.argv[2:]])"
RELAY = """
import asyncio, sys
side, path, port = sys.argv[1], sys.argv[2], int(sys.argv[3])

async def pump(source, sink):
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except OSError:
        pass
    sink.close()

async def join(reader, writer):
    there = asyncio.open_unix_connection(path) if side == "inside" else asyncio.open_connection("127.0.0.1", port)
    far_reader, far_writer = await there
    await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

async def main():
    inside = side == "inside"
    server = await (asyncio.start_server(join, "127.0.0.1", port) if inside else asyncio.start_unix_server(join, path))
    await server.serve_forever()

asyncio.run(main())
"""


def lacking() -> str:
    """Why no network can be made here; empty if one can."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "a network of its own takes root and iproute2"
    name = f"dpportal-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if made.returncode:
        return "this machine lets nobody make networks"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return ""


@dataclass(frozen=True)
class Namespace:
    """name: of the network."""

    name: str

    def cut(self) -> None:
        self._switch("down")

    def heal(self) -> None:
        self._switch("up")

    @property
    def entering(self) -> list[str]:
        """What goes before the arguments of Python to run it in there."""
        return ["-c", ENTER, self.name]

    def _switch(self, state: str) -> None:
        subprocess.run(["ip", "netns", "exec", self.name, "ip", "link", "set", "lo", state], check=True)


@contextmanager
def namespace(world: World, ports: list[int]) -> Iterator[Namespace]:
    """A network with these ports of this machine."""
    apart = Namespace(f"dpportal-{os.getpid()}")
    subprocess.run(["ip", "netns", "add", apart.name], check=True)
    relays = []
    try:
        apart.heal()
        for port in ports:
            path = str(Path(world.folder) / f"line-{port}")
            relays.append(world.start("-c", RELAY, "outside", path, str(port)))
            relays.append(world.start(*apart.entering, "-c", RELAY, "inside", path, str(port)))
        yield apart
    finally:
        for relay in relays:
            kill(relay)
        subprocess.run(["ip", "netns", "del", apart.name], check=True)
