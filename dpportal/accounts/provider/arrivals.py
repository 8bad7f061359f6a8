"""Whom the provider's claims make in the portal. Nobody has an account without a role."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from dpportal.accounts import people
from dpportal.accounts.models import ProviderIdentity, User
from dpportal.accounts.provider import standing
from dpportal.accounts.provider.client import Claims, ProviderError, subject_of
from dpportal.history import watched
from dpportal.history.imprints import ForgedRowError
from dpportal.platform.identity_provider import IdentityProvider


def person_of(claims: Claims, provider: IdentityProvider) -> User:
    """The person, made at the first sign-in; the role is what the provider says now. Raises ProviderError.

    People are recognised by the provider's own key for them, never by a name or an address: those change hands.
    """
    role, subject = role_in(claims, provider), subject_of(claims)
    known = ProviderIdentity.objects.filter(issuer=provider.issuer, subject=subject).select_related("person")
    identity = known.first()
    if identity and not watched.is_written(identity):
        raise ProviderError(str(ForgedRowError(f"provideridentity {identity.pk}")))
    if role is None:
        if identity:
            people.lost_role(identity.person)
        raise ProviderError(
            _(
                "Your institution gives you no role in this portal. Ask an administrator of the portal for one."
            )
        )
    newcomer = ProviderIdentity(issuer=provider.issuer, subject=subject)
    person = identity.person if identity else _create_person(claims, role, newcomer)
    if not person.is_active:
        raise ProviderError(_("This account is switched off. Ask an administrator to open it again."))
    people.take_role(person, role)
    if identity:
        standing.seen(identity)
    return person


def role_in(claims: Claims, provider: IdentityProvider) -> str | None:
    """The role that the provider's claims give; None where they give none."""
    return provider.role_of(_texts(claims.get(provider.claim)))


def _create_person(claims: Claims, role: str, identity: ProviderIdentity) -> User:
    name = str(claims.get("preferred_username") or claims.get("email") or identity.subject)
    person = User(username=name, role=role, email=_verified_address(claims))
    try:
        person.clean_fields(exclude=["password"])
        person.clean()
        with transaction.atomic():
            people.create_from_provider(person)
            identity.person = person
            identity.full_clean()
            identity.save()
    except (ValidationError, IntegrityError):
        text = _(
            "Your institution calls you “%(name)s”. That is no name here, or an account of the portal has it already. "
            "If that account is yours, sign in with its password and link the two on the page “Second factors”; else "
            "ask an administrator of the portal."
        )
        raise ProviderError(text % {"name": name[:150]}) from None
    return person


def _verified_address(claims: Claims) -> str:
    """The mail address, if the provider has made sure that it is the person's."""
    address = str(claims.get("email") or "") if claims.get("email_verified") is True else ""
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address


def _texts(values: Any) -> frozenset[str]:
    """The texts of a claim, which is one or a list of them; what is of another kind says nothing."""
    listed = values if isinstance(values, list) else [values]
    return frozenset(value for value in listed if isinstance(value, str))
