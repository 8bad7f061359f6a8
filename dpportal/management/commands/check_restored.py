"""`manage.py check_restored`: is this database one that was put back from an older copy?"""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandParser

from dpportal.budgets.amounts import plain
from dpportal.operations import restore_check
from dpportal.operations.restore_check import Findings, Lacking


class Command(BaseCommand):
    help = (
        "Recognise a database restored from an older copy: close its streams, withdraw again what was withdrawn, and "
        "list the charges it lacks."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--accept",
            action="store_true",
            help="the memory is lost, and this database is the newest there is: remember what it says",
        )

        parser.add_argument("--if-any", action="store_true", help="say nothing if nothing is wrong")

    def handle(self, *args: object, **options: object) -> None:
        if options["accept"]:
            restore_check.accept()
        lines = report(restore_check.check())
        if lines or not options["if_any"]:
            self.stdout.write("\n".join(lines) or "Database and memory agree.")


def report(findings: Findings) -> list[str]:
    """What was found, in lines; empty where nothing has to be done."""
    lines = [line for lacking in findings.lacking for line in _charges(lacking)]
    if lines:
        lines = ["The database was put back from an older copy. It lacks these charges:", *lines]
        lines += ["Enter them on the page Health; until then nothing can be spent from these datasets."]
    lines += [
        f"Closed, since people have seen periods that the restored copy lacks: {s.name}"
        for s in findings.closed
    ]
    lines += [
        f"Withdrawn again, since it was withdrawn after the copy was made: {publication}"
        for publication in findings.withdrawn
    ]
    lines += [
        f"Erased again, since its records were erased after the copy was made: {dataset.name}"
        for dataset in findings.erased
    ]
    if findings.lost:
        lines += ["The portal's memory is lost, or older than the database:", *findings.lost]
        lines += ["Put its folder back, or, if this database is the newest there is, confirm with --accept."]
    if findings.obstacle:
        lines += [
            "This machine can store, spend and publish nothing until this is mended:",
            findings.obstacle,
        ]
    return lines


def _charges(lacking: Lacking) -> list[str]:
    note = "" if lacking.known else " (the dataset itself is missing)"
    return [
        f"  {lacking.name}{note}: {c.symbol} = {plain(c.cost)}, {c.reason}, {c.at[:16]}"
        for c in lacking.charges
    ]
