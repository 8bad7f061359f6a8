"""`manage.py verify`: does all that the portal keeps agree?"""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dpportal.history import chain, checkpoints
from dpportal.history.checkpoints import CheckpointError
from dpportal.history.verification import Place
from dpportal.jobs import lock_timeouts
from dpportal.management.commands.check_restored import report
from dpportal.operations import restore_check, verification


class Command(BaseCommand):
    help = (
        "Verify the history of ledger and audit record, budgets, downloads, memory and stored files; name the first "
        "line that differs. Ends with status 1 where anything does."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--since",
            type=Path,
            metavar="CHECKPOINT",
            help="also compare the history with this checkpoint, which whoever made all links anew cannot do",
        )

    def handle(self, *args: object, since: Path | None, **options: object) -> None:
        lock_timeouts.keep_to(lock_timeouts.COMMAND)
        place = self._place(since)
        found = [*verification.problems(place), *report(restore_check.findings())]
        for line in found:
            self.stdout.write(line)
        if found:
            raise CommandError(f"{len(found)} findings.", returncode=1)
        last = chain.last_link()
        self.stdout.write(f"All agrees; the history has {last.position if last else 0:,} links.")

    def _place(self, since: Path | None) -> Place:
        if since is None:
            return Place()
        try:
            return checkpoints.read(since.read_bytes())
        except (CheckpointError, OSError) as fault:
            raise CommandError(f"{since}: {fault}") from None
