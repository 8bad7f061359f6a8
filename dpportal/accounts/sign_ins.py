"""What is written down of signing in: a line of the log, and an audit entry; of strangers one an address and minute."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from django.contrib.auth import login
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import models, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.addresses import client_address, client_network, network_of
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import FailedSignIn, User
from dpportal.platform.json_types import Json

log = logging.getLogger(__name__)
# Where a request notes by which means it signs somebody in.
HOW = "dpportal.how"
BACKEND = "dpportal.accounts.backend.WrittenPeople"
# What the record says of whoever came, and of tries of one address together.
CAME_BY, CAME_AT = gettext_noop("from %(address)s, by %(how)s"), gettext_noop("from %(address)s, %(time)s")
WRONG_TOKEN = gettext_noop("with a token that nobody has, from %(address)s, %(time)s")
WRONG_NAME = gettext_noop("%(count)s × with a name that nobody has, from %(address)s, %(time)s")


class How(models.TextChoices):
    """By which means somebody signed in."""

    PASSWORD = "password", _("password")
    CODE = "code", _("password and code of an app")
    KEY = "key", _("password and passkey")
    RECOVERY = "recovery", _("password and recovery code")
    PASSKEY = "passkey", _("passkey")
    PROVIDER = "provider", _("the institution's sign-in")


def begin(request: HttpRequest, person: User, how: How) -> None:
    """Sign a person in who has proved who they are; nothing that the session held before stays in it."""
    request.session.flush()
    request.META[HOW] = how
    login(request, person, backend=BACKEND)


def how_of(request: HttpRequest) -> How:
    """The means by which this request signs somebody in: a password, unless another was noted."""
    return How(request.META.get(HOW, How.PASSWORD))


def connect() -> None:
    """Listen to Django's signals, which the sign-in page and the admin's both send."""
    # In place of Django's own, which waits for whoever holds the row: of two with one name the first is kept, and this
    # app stands before Django's.
    user_logged_in.connect(_note_time, dispatch_uid="update_last_login")
    user_logged_in.connect(_succeeded, dispatch_uid="sign-in succeeded")
    user_logged_out.connect(_note_sign_out, dispatch_uid="signed out")
    user_login_failed.connect(_failed, dispatch_uid="sign-in failed")


@transaction.atomic
def _note_time(sender: object, request: HttpRequest, user: User, **_kwargs: object) -> None:
    """Write when the person signed in, and in which language, unless a job holds their row: nobody waits for it."""
    user.last_login, user.browser_language = timezone.now(), getattr(request, "LANGUAGE_CODE", "")
    free = User.objects.filter(pk=user.pk).select_for_update(no_key=True, skip_locked=True)
    User.objects.filter(pk__in=free.values("pk")).update(
        last_login=user.last_login, browser_language=user.browser_language
    )


def _succeeded(sender: object, request: HttpRequest, user: User, **_kwargs: object) -> None:
    log.info("%r signed in from %s", user.get_username(), client_address(request))
    audit.record(
        user, "signed in", user, clause(CAME_BY, address=client_address(request), how=how_of(request).label)
    )


def _note_sign_out(sender: object, request: HttpRequest, user: User | None, **_kwargs: object) -> None:
    if user is not None:  # a session that had ended before has nobody
        audit.record(user, "signed out", user)


def _failed(sender: object, credentials: Json, request: HttpRequest | None = None, **_kwargs: object) -> None:
    """A name that nobody has is not written down: people type passwords there by mistake.

    The same statements are made for it as for a person's: nobody is to learn from the time which names there are.
    """
    address = client_address(request) if request else None
    user = User.objects.filter(username=credentials.get("username")).first()
    name = repr(user.get_username()) if user else "an unknown name"
    turned_away = _turned_away(request)
    log.warning("sign-in %s for %s from %s", "refused, locked," if turned_away else "failed", name, address)
    if not turned_away:
        FailedSignIn.objects.create(person=user.pk if user else 0, address=str(address))


def note_wrong_token(request: HttpRequest) -> None:
    """Have the record say that a program came with a token that nobody has. Of an address, once a minute is kept."""
    address = str(client_network(request))
    log.warning("wrong token from %s", client_address(request))
    mine = FailedSignIn.objects.filter(by_token=True, address=address)
    if not mine.filter(at__gte=_minute_of(timezone.now())).exists():
        FailedSignIn.objects.create(person=0, by_token=True, address=address)


def enter_failed() -> None:
    """Put the tries that waited into the record."""
    for failed in FailedSignIn.objects.filter(person__gt=0).order_by("pk"):
        with transaction.atomic():
            mine, _rows = FailedSignIn.objects.filter(pk=failed.pk).delete()
            person = User.objects.filter(pk=failed.person).first()
            if mine and person:
                at = clause(CAME_AT, address=failed.address, time=f"{failed.at:%Y-%m-%d %H:%M:%S} UTC")
                audit.record(person, "failed to sign in", person, at)
    _enter_strangers()


def _enter_strangers() -> None:
    """A line for all tries of an address in a minute that is over, so that strangers cause no more than that."""
    over = FailedSignIn.objects.filter(person=0, at__lt=_minute_of(timezone.now())).order_by("pk")
    together: dict[tuple[bool, str, datetime], list[int]] = {}
    for failed in over:
        key = (failed.by_token, network_of(failed.address), _minute_of(failed.at))
        together.setdefault(key, []).append(failed.pk)
    for (by_token, network, minute), tries in together.items():
        with transaction.atomic():
            mine, _rows = FailedSignIn.objects.filter(pk__in=tries).delete()
            if mine:
                at = {"address": network, "time": f"{minute:%Y-%m-%d %H:%M} UTC"}
                detail = clause(WRONG_TOKEN, **at) if by_token else clause(WRONG_NAME, count=mine, **at)
                audit.record_stranger("failed to sign in", detail)


def _minute_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def _turned_away(request: HttpRequest | None) -> bool:
    """Whether the door was shut before this try; the record of the tries that shut it is enough."""
    locked = getattr(request, "axes_locked_out", False)
    return locked and getattr(request, "axes_failures_since_start", None) is None
