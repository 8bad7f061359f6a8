"""By which rows people are known: whoever has the database alone makes nobody an administrator, not for a second."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser

from dpportal.accounts.models import User
from dpportal.history import watched


class WrittenPeople(ModelBackend):
    """Django's own, of people whose rows are what the portal wrote: role, password and all else that is noted."""

    def user_can_authenticate(self, user: User | AnonymousUser | None) -> bool:
        may_enter = super().user_can_authenticate(user)
        return may_enter and isinstance(user, User) and watched.is_written(user)
