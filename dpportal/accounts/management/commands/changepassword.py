"""`manage.py changepassword`: Django's own, recorded and told to the person, who then chooses another password."""

from __future__ import annotations

import getpass

from django.contrib.auth.management.commands import changepassword

from dpportal.accounts import people
from dpportal.accounts.models import User


class Command(changepassword.Command):
    def handle(self, *args: object, **options: object) -> str:
        outcome = super().handle(*args, **options)
        name = str(options["username"] or getpass.getuser())
        people.got_password(User.objects.get_by_natural_key(name))
        return str(outcome)
