"""`manage.py remove_second_factors NAME`: for who has lost them and knows no administrator to ask."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dpportal.accounts import people
from dpportal.accounts.factors.overview import remove_all
from dpportal.accounts.models import User


class Command(BaseCommand):
    help = "Removes the second factors of a person, whose password alone signs in then. It is recorded."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["username"]).first()
        if person is None:
            raise CommandError("Nobody signs in with this name. Check its spelling and capital letters.")
        removed = remove_all(person, person, people.AT_THE_SERVER)
        self.stdout.write("Removed." if removed else "There was none to remove.")
