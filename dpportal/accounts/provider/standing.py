"""Whether the institution still vouches for a person, so that programs may act for them.

The portal hears of somebody who has left only when they sign in again, which they never do. So whoever has no other way
in than the institution's sign-in has to use it now and then, or their tokens and webhooks wait.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.translation import ngettext

from dpportal.accounts.models import ProviderIdentity, User


def has_lapsed(person: User) -> bool:
    """Whether it is too long ago that the institution let the person in. One with a password needs no institution."""
    if person.has_usable_password():
        return False
    oldest = timezone.now() - timedelta(days=settings.PROVIDER_DAYS)
    return ProviderIdentity.objects.filter(person=person, seen_at__lt=oldest).exists()


def lapsed_text() -> str:
    """Why a program is refused, and what its person can do."""
    days: int = settings.PROVIDER_DAYS
    text = ngettext(
        "The person of this token has not signed in by their institution for %(days)s day, so the token waits. It "
        "works again after they sign in to the portal.",
        "The person of this token has not signed in by their institution for %(days)s days, so the token waits. It "
        "works again after they sign in to the portal.",
        days,
    )
    return text % {"days": days}


def seen(identity: ProviderIdentity) -> None:
    """The institution let the person in now."""
    ProviderIdentity.objects.filter(pk=identity.pk).update(seen_at=timezone.now())
