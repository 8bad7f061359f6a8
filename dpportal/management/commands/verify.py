"""`manage.py verify`: does all that the portal keeps agree?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.history import checkpoints, heads
from dpportal.history.checkpoints import Checkpoint, CheckpointError
from dpportal.management.commands.check_restored import report
from dpportal.operations import restore_check, verification
from dpportal.platform.storage import StorageFault


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
            help="also compare the history with this checkpoint, which was carried where nobody here can change it",
        )

    def handle(self, *args: object, since: Path | None, **options: object) -> None:
        carried = [self._read(since)] if since else []
        try:
            restored = verification.checked(_("What the memory holds"), _differing_memory)
            problems = [*verification.problems(carried), *restored]
        except StorageFault as fault:
            raise CommandError(f"Not everything could be read: {fault}") from None
        for line in problems:
            self.stdout.write(line)
        self.stdout.write(_covered(carried))
        if problems:
            raise CommandError(f"{len(problems)} findings.", returncode=1)
        self.stdout.write(f"All agrees; the history has {checkpoints.length():,} links.")

    def _read(self, path: Path) -> Checkpoint:
        try:
            return checkpoints.read(path.read_bytes(), path.name)
        except (CheckpointError, OSError) as fault:
            raise CommandError(f"{path}: {fault}") from None


def _differing_memory() -> Iterator[str]:
    """What was closed or withdrawn again after a restore stays so, and agrees with the memory."""
    yield from report(replace(restore_check.findings(), closed=[], withdrawn=[], erased=[]))


def _covered(carried: list[Checkpoint]) -> str:
    """How far checkpoints and memory go: what came since could have been chained anew without being noticed."""
    known = [*carried, *filter(None, [checkpoints.newest_written()])]
    if not known:
        return (
            f"Warning: there is no checkpoint in {settings.CHECKPOINTS_DIR}. Nothing but the portal's memory shows "
            "that the history was not made anew. The sweep writes one; keep copies elsewhere, and give it by --since."
        )
    newest = max(known, key=lambda checkpoint: checkpoint.position)
    minutes = max(0, int((timezone.now() - newest.at).total_seconds() // 60))
    length = checkpoints.length()
    since, last = max(0, length - newest.position), max(0, length - max(newest.position, heads.position()))
    return (
        f"The newest checkpoint, {newest.name}, is {minutes:,} minutes old. The {since:,} lines since then are covered "
        f"by the portal's memory, but for the last {last:,}, which nothing but the chain itself covers."
    )
