"""How often a forgotten password may be asked for: from one network, for one mail address, and by everyone together."""

from __future__ import annotations

import logging

from django.utils.crypto import salted_hmac

from dpportal.accounts.models import OutgoingMail, ResetRequest
from dpportal.jobs.clock import db_ago

log = logging.getLogger(__name__)

# More from a network than for an address, since behind one there may be a whole office.
WINDOW_SECONDS, FROM_NETWORK, FOR_ADDRESS = 900.0, 20, 5
# Many strangers together can ask without end while no worker lives.
MOST_WAITING = 10_000


def forget() -> None:
    """Delete requests that count no longer."""
    ResetRequest.objects.filter(at__lt=db_ago(WINDOW_SECONDS)).delete()


def is_beyond(address: str, network: str) -> bool:
    """Count a request, and say whether it is one too many; then it is not counted.

    network: see `addresses.client_network`. The same statements are made for every answer.
    """
    forget()
    digest = salted_hmac(__name__, address.casefold(), algorithm="sha256").hexdigest()
    request = ResetRequest.objects.create(network=network, address=digest)
    from_network = ResetRequest.objects.filter(network=network).count()
    for_address = ResetRequest.objects.filter(address=digest).count()
    waiting = OutgoingMail.objects.filter(kind=OutgoingMail.Kind.RESET, person=None).count()
    if waiting > MOST_WAITING:
        log.warning("so many requests for a new password wait that another one is dropped")
    # Of a connection without an address nothing tells who it is.
    beyond = (
        (network != "" and from_network > FROM_NETWORK) or for_address > FOR_ADDRESS or waiting > MOST_WAITING
    )
    ResetRequest.objects.filter(pk=request.pk if beyond else 0).delete()
    return beyond
