"""Sessions in the database that know whose they are and end after half a day; Django says how a store is extended.

The database keeps a digest of a session's key: a copy of it opens no session. What a session holds is signed together
with its key, and says when it began: whoever writes into the database opens none either, and makes none live longer.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

from dpportal.accounts.models import PersonSession
from dpportal.platform.form_types import CleanedData

# What a session notes of itself, beside Django's own keys.
BEGAN, SEEN, BROWSER, NETWORK, HOW = "began_at", "seen_at", "browser", "network", "how"


def stored_key(key: str | None) -> str:
    """What the database keeps of a session's key, which has 165 random bits; empty for none."""
    return sha256(key.encode()).hexdigest()[:40] if key else ""


class SessionStore(DatabaseStore):
    """Stores a person with the session. No session lives longer than SESSION_LONGEST after its sign-in."""

    @classmethod
    def get_model_class(cls) -> type[PersonSession]:
        return PersonSession

    @property
    def key_salt(self) -> str:
        return f"{super().key_salt} {self.session_key}"

    def load(self) -> CleanedData:
        data = super().load()
        began = _moment(data.get(BEGAN))
        if began and began + _longest() <= timezone.now():
            self._session_key = None
            return {}
        return data

    def create_model_instance(self, data: CleanedData) -> PersonSession:
        session = cast(PersonSession, super().create_model_instance(data))
        session.session_key = stored_key(session.session_key)
        session.person_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        session.began_at, session.last_used_at = _moment(data.get(BEGAN)), _moment(data.get(SEEN))
        session.browser, session.network = data.get(BROWSER, ""), data.get(NETWORK, "")
        session.how = data.get(HOW, "")
        if session.began_at:
            session.expire_date = min(session.expire_date, session.began_at + _longest())
        return session

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(stored_key(key))

    def _get_session_from_db(self) -> PersonSession | None:
        open_ones = PersonSession.objects.filter(expire_date__gt=timezone.now())
        session = open_ones.filter(session_key=stored_key(self.session_key)).first()
        if session is None:
            self._session_key = None  # a key that was not given out here is not taken for a new session
        return session


def _longest() -> timedelta:
    return timedelta(seconds=settings.SESSION_LONGEST)


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
