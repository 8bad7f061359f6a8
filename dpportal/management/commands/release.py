"""`manage.py release`: make a release from a file, and write its bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dpportal.accounts.models import User
from dpportal.api import release_file
from dpportal.api.schemas import PlanShown


class Command(BaseCommand):
    help = "Make a release from a file (table, declaration, product, method, cost), and write its bundle."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="TOML, such as the review page of a draft offers")
        parser.add_argument(
            "--plan-only", action="store_true", help="print cost and expected error, and stop"
        )
        parser.add_argument("--as", dest="person", help="the curator who releases (the dataset's owner)")
        parser.add_argument("--output", type=Path, default=Path(), help="the bundle's file or folder (.)")

    def handle(self, *args: object, **options: Any) -> None:
        try:
            self._release(**{name: options[name] for name in ("file", "plan_only", "person", "output")})
        except release_file.REFUSED as refusal:
            raise CommandError(str(refusal)) from None

    def _release(self, file: Path, plan_only: bool, person: str | None, output: Path) -> None:
        by = _curator(person) if person else None
        said = release_file.read(file)
        for line in _lines(release_file.plan(said, file.parent, by)):
            self.stdout.write(line)
        if plan_only:
            return
        _require_writable(output)
        release = release_file.run(said, file.parent, by)
        try:
            self.stdout.write(f"Release {release.pk} is ready: {release_file.write_bundle(release, output)}")
        except OSError as fault:
            text = f"Release {release.pk} is ready, but {fault.filename} was not written: {fault.strerror}."
            raise CommandError(text) from None


def _require_writable(output: Path) -> None:
    """Raise CommandError, before anything is spent, where no bundle can be written."""
    if output.is_file():
        raise CommandError(f"{output} is there already; no bundle is written over.")
    if not (output.is_dir() or output.parent.is_dir()):
        raise CommandError(f"There is no folder {output.parent}, so no bundle can be written.")


def _curator(name: str) -> User:
    found = User.objects.filter(username=name, is_active=True).first()
    if found is None or not found.is_curator:
        raise CommandError(f"There is no curator {name!r}.")
    return found


def _lines(plan: PlanShown) -> list[str]:
    """Cost and expected error."""
    return [
        f"{plan.method}: {plan.counted_in} = {plan.amount} {plan.epsilon_delta}".strip(),
        plan.margin,
        *filter(None, [plan.expectation]),
        plan.statement,
    ]
