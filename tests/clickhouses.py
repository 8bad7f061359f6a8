"""A ClickHouse of this machine: its own engine (chdb, in a process) behind its HTTP interface, which is written here.

No server's program of today is to be had from a registry of packages. What statements mean and which are refused,
settings, types, errors and the bytes of results are ClickHouse's own. Who may sign in, and how a request becomes
statements, is this file: a session for each request, first with the settings of the user's profile, then with its own.

    python -m tests.clickhouses PORT FOLDER
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request, urlopen

PASSWORD = "only for counting"
# Who may sign in, with the settings of their profile.
USERS: dict[str, dict[str, str]] = {
    "owner": {"max_query_size": "100000000", "max_ast_elements": "10000000"},
    "reader": {"join_use_nulls": "1", "session_timezone": "Asia/Tokyo", "limit": "7"},
    "careful": {"readonly": "2"},
    "bound": {"readonly": "1"},
    "unaware": {},
}
# What a user may not read.
WITHHELD = {"unaware": "system.row_policies"}
# Whichever table of the database "health" has this name hides its rows by this, which only a file may say here.
POLICIES = {"asking": "age &lt; (SELECT max(age) FROM health.visits)", "young": "age &lt; 50"}
FILTERS = "".join(f"<{table}><filter>{sql}</filter></{table}>" for table, sql in POLICIES.items())
ACCESS = f"""<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users><default>
    <password/><access_management>1</access_management><networks><ip>::/0</ip></networks>
    <databases><health>{FILTERS}</health></databases></default></users></clickhouse>"""
# What a request names that is no setting.
OF_HTTP = {
    "database",
    "default_format",
    "query",
    "query_id",
    "role",
    "session_id",
    "wait_end_of_query",
    "client_protocol_version",
}
AUTHENTICATION_FAILED, ACCESS_DENIED, READONLY, UNKNOWN_DATABASE, UNKNOWN_TABLE = 516, 497, 164, 81, 60
STATUS = {
    AUTHENTICATION_FAILED: 403,
    ACCESS_DENIED: 403,
    READONLY: 403,
    UNKNOWN_DATABASE: 404,
    UNKNOWN_TABLE: 404,
}
PIECE_BYTES = 2**20
START_SECONDS = 60
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def lacking() -> str:
    """What this machine has not got that a server needs; empty if nothing."""
    return "" if find_spec("chdb") else "ClickHouse's engine is not installed (chdb-core)"


@contextmanager
def started(folder: Path) -> Iterator[Server]:
    """A server that keeps its tables in a folder, and ends with the block."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.clickhouses", str(port), str(folder / "tables")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=_end_with_tests)
    server = Server(port, process)
    try:
        _wait(server, folder)
        yield server
    finally:
        server.kill()


def _end_with_tests() -> None:
    """Have the system end this process with the one that started it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait(server: Server, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", server.port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"ClickHouse did not start:\n{(folder / 'log').read_text()[-3000:]}")


def run(server: Server, statement: str) -> bytes:
    """What the server answers to a statement of who may do everything."""
    signed = b64encode(f"owner:{PASSWORD}".encode()).decode()
    address = f"http://127.0.0.1:{server.port}/"
    asked = Request(address, statement.encode(), {"Authorization": f"Basic {signed}"})
    with urlopen(asked) as answer:
        return bytes(answer.read())


class RefusedError(Exception):
    """An error of the engine, or of who signs in, as ClickHouse says it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Requests(BaseHTTPRequestHandler):
    """Answers one request after the other of a connection."""

    protocol_version = "HTTP/1.1"
    folder: str

    def do_POST(self) -> None:
        asked = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        statement = "\n".join(filter(None, (asked.get("query"), body)))
        try:
            profile = self._profile(statement)
            found = _run(self.folder, statement, profile, asked)
        except RefusedError as refusal:
            headers = {"X-ClickHouse-Exception-Code": str(refusal.code)}
            self._answer(STATUS.get(refusal.code, 500), f"{refusal}\n".encode(), headers)
        else:
            self._answer(200, found, {"X-ClickHouse-Timezone": "UTC"})

    def _profile(self, statement: str) -> dict[str, str]:
        kind, _blank, given = self.headers.get("Authorization", "").partition(" ")
        user, _colon, password = b64decode(given).decode().partition(":") if kind == "Basic" else ("", "", "")
        if password != PASSWORD or user not in USERS:
            raise RefusedError(
                AUTHENTICATION_FAILED, f"Code: 516. DB::Exception: {user}: Authentication failed"
            )
        if user in WITHHELD and WITHHELD[user] in statement:
            raise RefusedError(ACCESS_DENIED, f"Code: 497. DB::Exception: {user}: Not enough privileges")
        return USERS[user]

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Transfer-Encoding": "chunked"}.items():
            self.send_header(name, value)
        self.end_headers()
        for place in range(0, len(body), PIECE_BYTES):
            piece = body[place : place + PIECE_BYTES]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests look at what the portal writes."""


def _run(folder: str, statement: str, profile: dict[str, str], asked: dict[str, str]) -> bytes:
    import chdb

    session = chdb.connect(folder)
    try:
        for settings in (profile, {name: asked[name] for name in asked.keys() - OF_HTTP}):
            # All at once, since after readonly nothing can be set.
            values = (f"{name} = {_quoted(value)}" for name, value in settings.items())
            _told(session, f"SET {', '.join(values)}" if settings else "")
        _told(session, f"USE `{asked['database']}`" if asked.get("database") else "")
        return _told(session, statement, asked.get("default_format", "TabSeparated"))
    finally:
        session.close()


def _told(session: Any, statement: str, form: str = "TabSeparated") -> bytes:
    """What the engine answers to one statement. chdb itself would run several, as ClickHouse's server does not."""
    if not statement:
        return b""
    try:
        if ";" in statement:
            session.query(f"SELECT formatQuery({_quoted(statement)}) FORMAT Null")
        return bytes(session.query(statement, form).bytes() or b"")
    except Exception as error:
        # Of another class in each version.
        found = re.search(r"Code: (\d+)", str(error))
        if not found:
            raise
        raise RefusedError(int(found[1]), str(error)) from None


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("\\", "\\\\").replace("'", "\\'"))


def main() -> None:
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    access, config = folder.with_suffix(".users.xml"), folder.with_suffix(".config.xml")
    access.write_text(ACCESS)
    config.write_text(f"<clickhouse><users_config>{access}</users_config></clickhouse>")
    Requests.folder = f"{folder}?config-file={config}"
    import chdb

    # Held as long as the process: the engine ends with its last connection.
    engine = chdb.connect(Requests.folder)
    os.environ["TZ"] = "UTC"
    server = ThreadingHTTPServer(("127.0.0.1", port), Requests)
    try:
        server.serve_forever()
    finally:
        engine.close()


if __name__ == "__main__":
    main()
