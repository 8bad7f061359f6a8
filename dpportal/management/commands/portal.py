"""`manage.py portal`: set up if needed, start everything, say where it is, stop everything on Ctrl-C."""

from __future__ import annotations

import shutil
import socket
import time
import urllib.request
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from dpportal.accounts.models import Role, User
from dpportal.datasets import demo_marker
from dpportal.jobs import collect_static, schema_bootstrap
from dpportal.jobs.embedded import load_everything, processes
from dpportal.jobs.supervisor import (  # fmt: skip
    ApartError,
    GaveUpError,
    Process,
    apart,
    heed_interrupts,
    supervise,
)
from dpportal.jobs.worker_signals import READY_FILE
from dpportal.operations import demonstration

START_SECONDS = 90.0
FIRST_PEOPLE = (Role.ADMINISTRATOR.value, Role.CURATOR.value)


class Command(BaseCommand):
    help = "Start the whole portal on this machine: database, web server, worker."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
        parser.add_argument("--data-dir", help="folder that keeps all data (./data)")
        parser.add_argument("--workers", type=int, default=2, help="jobs that run at the same time (2)")
        parser.add_argument("--no-demo", action="store_true", help="do not load the demonstration")
        for role in FIRST_PEOPLE:
            parser.add_argument(
                f"--{role}", default=role, help=f"at the first start: the name of its {role} ({role})"
            )

    def handle(self, *args: object, **options: Any) -> None:
        heed_interrupts()
        self._check_port(options["host"], options["port"])
        self._check_names([options[role] for role in FIRST_PEOPLE])
        self._set_up()
        children = processes(options["host"], options["port"], options["workers"])
        ready_file = settings.DATA_DIR / READY_FILE
        ready_file.unlink(missing_ok=True)
        self._say("Starting web server and workers …")
        address = f"http://{options['host']}:{options['port']}/"

        def ready() -> None:
            self._wait(address, ready_file, children)
            self._show(demonstration.create_accounts({Role(role): options[role] for role in FIRST_PEOPLE}))
            if not options["no_demo"]:
                if not demonstration.is_there():
                    self._say("Loading the demonstration: a census table, a release and a running count …")
                with (
                    suppress(ApartError),
                    apart(demonstration.load),
                ):  # the reason is above, and the sweep goes on
                    pass
            self._welcome(address)

        try:
            supervise(children, ready)
        except KeyboardInterrupt:
            self.stdout.write("Stopped. All data is kept; start again with the same command.")
        except GaveUpError as fault:
            raise CommandError(str(fault)) from None

    def _say(self, what: str) -> None:
        """At once, so that nobody waits for they know not what."""
        self.stdout.write(what)
        self.stdout.flush()

    def _set_up(self) -> None:
        """Bring database and static files up to date, while everything is loaded."""
        pending = self._pending_migrations()
        self._say("Preparing database and static files …")
        try:
            with (
                apart(collect_static.collect),
                apart(schema_bootstrap.bring_up_to_date) if pending else nullcontext(),
            ):
                load_everything()
        except ApartError:
            raise CommandError(
                "Database or static files cannot be brought up to date; the reason is above."
            ) from None
        call_command("check_restored", stdout=self.stdout, if_any=True)

    def _check_port(self, host: str, port: int) -> None:
        if not 1 <= port <= 65535:
            raise CommandError("A port is a number from 1 to 65535; 8000 is usual. Choose one with --port.")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                raise CommandError(
                    f"Port {port} on {host} cannot be used ({error.strerror}). "
                    f"Stop what uses it, or choose another with --port {port + 1 if port < 65535 else 8000}."
                ) from None

    def _check_names(self, names: list[str]) -> None:
        try:
            for name in names:
                User._meta.get_field("username").clean(name, None)
        except ValidationError as error:
            raise CommandError(f"This is no name to sign in with: {' '.join(error.messages)}") from None
        if len(set(names)) < len(names):
            raise CommandError("Administrator and curator are two people; choose two names.")

    def _pending_migrations(self) -> bool:
        """Whether the database has to be brought up to date; a copy of an older one is put aside."""
        try:
            applied = set(MigrationRecorder(connection).applied_migrations())
        except DatabaseError:
            raise CommandError(
                f"{settings.DATABASES['default']['NAME']} cannot be read as a database. Restore it from a backup, "
                "or start with an empty folder by --data-dir."
            ) from None
        loader = MigrationLoader(connection, load=False)
        loader.load_disk()
        if _is_of_another_version(applied, loader):
            raise CommandError(
                "The database was made by another version of the portal, newer than this one or before 1.0. Install "
                "that version, or start with an empty folder by --data-dir."
            )
        loader.build_graph()
        pending = set(loader.graph.nodes) - set(loader.applied_migrations)
        if applied and pending:
            self._put_copy_aside()
        connection.close()
        return bool(pending)

    def _put_copy_aside(self) -> None:
        if connection.vendor != "sqlite":
            return
        connection.close()
        database = Path(settings.DATABASES["default"]["NAME"])
        copy = database.with_name(f"{database.stem}-{time.strftime('%Y%m%d-%H%M%S')}.sqlite3")
        shutil.copy2(database, copy)
        self.stdout.write(
            f"The database is of an older version and is updated now; a copy is kept as {copy.name}."
        )

    def _wait(self, address: str, ready_file: Path, children: list[Process]) -> None:
        until = time.monotonic() + START_SECONDS
        while not (ready_file.exists() and _answers(address)):
            for child in children:
                if child.ended():
                    raise CommandError(f"The {child.name} ended right after its start; its message is above.")
            if time.monotonic() > until:
                raise CommandError(
                    "The web server or the worker did not start in time; see the messages above."
                )
            time.sleep(0.2)

    def _show(self, passwords: dict[str, str]) -> None:
        """At once: who interrupts the start while the demonstration is loaded would have made them for nobody."""
        self.stdout.write("")
        for name, password in passwords.items():
            self.stdout.write(f"  {name:<14} password {password}")
        if passwords:
            self.stdout.write(
                "  Shown only this once. Each is replaced by its person's own at the first sign-in.\n"
            )
        self.stdout.flush()

    def _welcome(self, address: str) -> None:
        if demo_marker.is_pending():
            self._say("The demonstration is still being loaded; the portal goes on by itself.")
        self._say(f"The portal is running at {address}  (Ctrl-C stops it)")


def _is_of_another_version(applied: set[tuple[str, str]], loader: MigrationLoader) -> bool:
    """Whether a database has migrations that are not here, or some of what one here replaces, and not all."""
    here = loader.disk_migrations
    replaced = [set(migration.replaces) for migration in here.values()]
    return not applied <= set(here).union(*replaced) or any(
        applied & some and not applied >= some for some in replaced
    )


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}health/", timeout=2) as response:  # noqa: S310 (our own address)
            return bool(response.status == 200)
    except OSError:
        return False
