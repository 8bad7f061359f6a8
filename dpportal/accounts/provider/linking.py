"""A person with an account of the portal says who they are at the institution's provider, too.

Signed in here, they sign in there: nothing else joins the two, least of all a name or an address.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from dpportal.accounts import people
from dpportal.accounts.models import ProviderIdentity, Role, User
from dpportal.accounts.provider.arrivals import role_in
from dpportal.accounts.provider.client import Claims, ProviderError, subject_of
from dpportal.accounts.sign_ins import How
from dpportal.platform.identity_provider import IdentityProvider


def identity_of(person: User) -> ProviderIdentity | None:
    """Who the person is at the provider; None where nothing is linked."""
    return ProviderIdentity.objects.filter(person=person).first()


def link(person: User, claims: Claims, provider: IdentityProvider) -> None:
    """Have the person sign in by the provider, too. Raises ProviderError.

    The provider's word on the role must be the portal's: the first sign-in there would change it without notice.
    """
    role = role_in(claims, provider)
    if role != person.role:
        raise ProviderError(_other_role(person, role))
    identity = ProviderIdentity(person=person, issuer=provider.issuer, subject=subject_of(claims))
    try:
        with transaction.atomic():
            identity.full_clean()
            identity.save()
            people.note(person, person, people.LINKED, provider.name or provider.issuer)
    except (ValidationError, IntegrityError):
        raise ProviderError(
            _(
                "Nothing was linked: somebody else here is linked to that person of your institution, or you are "
                "linked to one already."
            )
        ) from None


def can_unlink(person: User) -> bool:
    """Whether the person could still sign in: by a password, since not every passkey opens without one."""
    return person.has_usable_password()


@transaction.atomic
def unlink(person: User) -> bool:
    """Forget who the person is at the provider, and end the sessions that began there. Returns whether it did."""
    locked = User.objects.select_for_update().get(pk=person.pk)
    if not can_unlink(locked):
        return False
    removed, _by_model = ProviderIdentity.objects.filter(person=person).delete()
    if removed:
        person.sessions.filter(how=How.PROVIDER).delete()
        people.note(person, person, people.UNLINKED)
    return bool(removed)


def _other_role(person: User, role: str | None) -> str:
    words = {"here": person.get_role_display(), "there": Role(role).label if role else _("no role")}
    text = _(
        "Nothing was linked: your role here is “%(here)s”, and by your institution it would be “%(there)s”. Ask an "
        "administrator of the portal to make them the same."
    )
    return text % words
