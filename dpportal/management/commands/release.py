"""`manage.py release`: make a release from a file, and write its bundle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dpportal.accounts.models import User
from dpportal.api import release_file, written_bundle
from dpportal.api.planning_schemas import PlanShown
from dpportal.api.release_file import FinishedRun


class Command(BaseCommand):
    help = "Make a release from a file (table, declaration, product, method, cost), and write its bundle."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="TOML, such as the review page of a draft offers")
        parser.add_argument(
            "--plan-only", action="store_true", help="print cost and expected error, and stop"
        )
        parser.add_argument("--as", dest="person", help="the curator who releases (the dataset's owner)")
        parser.add_argument("--output", type=Path, default=Path(), help="the bundle's file or folder (.)")
        parser.add_argument("--replace", action="store_true", help="write over a file of the bundle's name")
        parser.add_argument(
            "--again",
            action="store_true",
            help="make and pay for another release, though the same was made of the same records",
        )

    def handle(self, *args: object, **options: Any) -> None:
        try:
            self._release(
                **{name: options[name] for name in ("file", "plan_only", "person")}, options=options
            )
        except release_file.REFUSED as refusal:
            raise CommandError(str(refusal)) from None

    def _release(self, file: Path, plan_only: bool, person: str | None, options: Mapping[str, Any]) -> None:
        by = _curator(person) if person else None
        document = release_file.read(file)
        missing = release_file.missing_table(document, file.parent)
        if missing and not plan_only:
            raise CommandError(missing)
        for line in _lines(release_file.plan(document, file.parent, by)):
            self.stdout.write(line)
        if missing:
            self.stdout.write(missing)
        if plan_only:
            return
        output, replace = options["output"], options["replace"]
        _require_writable(output, replace=replace)
        run = release_file.run(document, file.parent, by, again=options["again"])
        self._write(run, output, replace=replace)

    def _write(self, run: FinishedRun, output: Path, *, replace: bool) -> None:
        release = run.release
        if not run.is_new:
            text = f"Release {release.pk} was made before, and nothing is spent on it now. --again makes another."
            self.stdout.write(text)
        try:
            bundle = written_bundle.write_bundle(release, output, replace=replace)
        except OSError as fault:
            text = f"Release {release.pk} is ready, but {fault.filename} was not written: {fault.strerror}."
            raise CommandError(text) from None
        self.stdout.write(f"Release {release.pk} is ready: {bundle}")


def _require_writable(output: Path, *, replace: bool) -> None:
    """Raise CommandError, before anything is spent, where no bundle can be written."""
    if output.is_file() and not replace:
        raise CommandError(f"{output} is there already. {written_bundle.written_over()}")
    if not (output.is_dir() or output.parent.is_dir()):
        raise CommandError(f"There is no folder {output.parent}, so no bundle can be written.")


def _curator(name: str) -> User:
    person = User.objects.filter(username=name, is_active=True).first()
    if person is None or not person.is_curator:
        raise CommandError(f"There is no curator {name!r}.")
    return person


def _lines(plan: PlanShown) -> list[str]:
    """Cost and expected error."""
    return [
        f"{plan.method}: {plan.counted_in} = {plan.amount} {plan.epsilon_delta}".strip(),
        plan.margin,
        *filter(None, [plan.expectation]),
        plan.statement,
    ]
