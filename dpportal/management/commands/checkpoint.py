"""`manage.py checkpoint`: a signed file that says how far the history is now."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dpportal.history import checkpoints


class Command(BaseCommand):
    help = "Write a signed checkpoint of the history; carry it elsewhere, for `manage.py verify --since`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="where to write it")

    def handle(self, *args: object, file: Path, **options: object) -> None:
        try:
            checkpoints.write(file)
        except FileExistsError:
            raise CommandError(f"{file} is there already; no checkpoint is written over.") from None
        self.stdout.write(f"Written to {file}.")
