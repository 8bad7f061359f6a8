"""What a page says once, after the next redirect: in a signed cookie, named as the portal's other cookies are."""

from __future__ import annotations

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class MessageCookie(CookieStorage):
    """Strangers have no session that could keep it."""

    cookie_name = settings.MESSAGE_COOKIE_NAME


class Messages(FallbackStorage):
    """What does not fit into a cookie is kept in the session."""

    storage_classes = (MessageCookie, SessionStorage)
