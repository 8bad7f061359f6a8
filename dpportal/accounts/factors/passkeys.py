"""Passkeys (WebAuthn): a device signs a challenge with a key that never leaves it, for this portal's address alone."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, cast

from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from dpportal.accounts import people
from dpportal.accounts.addresses import read_address
from dpportal.accounts.models import Passkey, User
from dpportal.accounts.origins import origin_of
from dpportal.history import watched
from dpportal.platform.json_types import Json

# Where a session keeps the challenge; it is taken once.
CHALLENGE = "passkey_challenge"
# More than any device sends.
LONGEST_ANSWER = 20_000


class PasskeyError(Exception):
    """A passkey that was not accepted; the message says what to do."""


def can_be_used(request: HttpRequest) -> bool:
    """Whether browsers offer passkeys for this address: they need a name, and encryption or this machine itself."""
    host = _host(request)
    return read_address(host.strip("[]")) is None and (request.is_secure() or host == "localhost")


def options_to_add(request: HttpRequest, person: User) -> Json:
    """What the browser asks a device to make."""
    import webauthn
    from webauthn.helpers.structs import AuthenticatorSelectionCriteria, ResidentKeyRequirement

    selection = AuthenticatorSelectionCriteria(resident_key=ResidentKeyRequirement.PREFERRED)
    options = webauthn.generate_registration_options(
        rp_id=_host(request),
        rp_name=_("DP Portal"),
        user_name=person.get_username(),
        user_id=salted_hmac("passkeys of a person", str(person.pk), algorithm="sha256").digest(),
        authenticator_selection=selection,
        exclude_credentials=_descriptors(person.passkeys.all()),
    )
    return _remembered(request, options)


def add(request: HttpRequest, person: User, name: str, answer: str) -> None:
    """Keep the public half of the key that a device has made. Raises PasskeyError."""
    import webauthn
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.exceptions import WebAuthnException

    challenge = _challenge(request)
    try:
        verified = webauthn.verify_registration_response(
            credential=answer[:LONGEST_ANSWER],
            expected_challenge=challenge,
            expected_rp_id=_host(request),
            expected_origin=origin_of(request),
        )
        with transaction.atomic():
            Passkey.objects.create(
                person=person,
                name=name,
                credential=bytes_to_base64url(verified.credential_id),
                public_key=verified.credential_public_key,
                sign_count=verified.sign_count,
            )
            people.note(person, person, "added a passkey", name)
    except (WebAuthnException, IntegrityError, ValueError, LookupError, TypeError, AttributeError):
        # The library lets some faults of what a device sent pass as they are.
        raise PasskeyError(_("This passkey was not accepted. Try again, or use another device.")) from None


def options_to_sign_in(request: HttpRequest, person: User | None) -> Json:
    """What the browser asks of a device. person: whose password was right; None where nobody has said who they are.

    Then the device must make sure itself who uses it, by a PIN or a finger: it is both factors at once.
    """
    import webauthn
    from webauthn.helpers.structs import UserVerificationRequirement

    need = UserVerificationRequirement
    options = webauthn.generate_authentication_options(
        rp_id=_host(request),
        allow_credentials=_descriptors(person.passkeys.all()) if person else [],
        user_verification=need.PREFERRED if person else need.REQUIRED,
    )
    return _remembered(request, options)


def signed_in_by(request: HttpRequest, answer: str, person: User | None) -> User:
    """The person whose device answered the challenge. Raises PasskeyError.

    person: as in `options_to_sign_in`; no other person's passkey is accepted then.
    """
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    challenge, passkey = _challenge(request), _named_in(answer, person)
    if passkey is None:
        raise PasskeyError(_("The portal does not know this passkey. Choose another, or use your password."))
    try:
        proof = webauthn.verify_authentication_response(
            credential=answer[:LONGEST_ANSWER],
            expected_challenge=challenge,
            expected_rp_id=_host(request),
            expected_origin=origin_of(request),
            credential_public_key=bytes(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=person is None,
        )
    except (WebAuthnException, ValueError, LookupError, TypeError, AttributeError):
        text = _("This passkey was not accepted. Try again, or sign in with your password.")
        raise PasskeyError(text) from None
    Passkey.objects.filter(pk=passkey.pk).update(sign_count=proof.new_sign_count, last_used_at=timezone.now())
    return passkey.person


@transaction.atomic
def remove(person: User, passkey_id: int) -> None:
    """Forget a passkey of the person."""
    for passkey in person.passkeys.filter(pk=passkey_id):
        passkey.delete()
        people.note(person, person, "removed a passkey", passkey.name)


def _host(request: HttpRequest) -> str:
    """The portal's name as the visitor's browser has it, without a port: a passkey is for it alone."""
    host = request.get_host()
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def _descriptors(passkeys: Iterable[Passkey]) -> list[Any]:
    from webauthn import base64url_to_bytes
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

    return [PublicKeyCredentialDescriptor(base64url_to_bytes(each.credential)) for each in passkeys]


def _remembered(request: HttpRequest, options: Any) -> Json:
    """The options as JSON, once the session has their challenge."""
    import webauthn

    request.session[CHALLENGE] = b64encode(options.challenge).decode()
    return cast(Json, json.loads(webauthn.options_to_json(options)))


def _challenge(request: HttpRequest) -> bytes:
    """The challenge that was sent to this browser, once."""
    challenge = request.session.pop(CHALLENGE, "")
    if not challenge:
        raise PasskeyError(_("This took too long. Try again."))
    return b64decode(challenge)


def _named_in(answer: str, person: User | None) -> Passkey | None:
    """The passkey that an answer says it is of; none that came past the portal."""
    try:
        parsed = json.loads(answer[:LONGEST_ANSWER])
        credential = str(parsed["id"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not (credential.isascii() and credential.isprintable()):  # what no database looks for
        return None
    named = Passkey.objects.filter(credential=credential).select_related("person")
    passkey = (named.filter(person=person) if person else named).first()
    return passkey if passkey and watched.is_written(passkey) else None
