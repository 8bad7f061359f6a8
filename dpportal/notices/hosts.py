"""The hosts that webhooks may call: administrators allow them, each with a line in the record."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.notices.models import AllowedHost
from dpportal.notices.outbound import Destination, HostRefusedError, with_port


@transaction.atomic
def allow(host: AllowedHost, by: User) -> AllowedHost:
    """Let webhooks call a host from now on."""
    host.by = by
    host.save()
    more = [name for name, is_so in (("http", host.plain), ("private network", host.private)) if is_so]
    audit.record(by, "allowed a host for webhooks", host, ", ".join([str(host), *more]))
    return host


@transaction.atomic
def forbid(host: AllowedHost, by: User) -> None:
    """Let webhooks call a host no more; what waits for it is given up when its turn comes."""
    audit.record(by, "no longer allows a host for webhooks", host, str(host))
    host.delete()


def allowing(place: Destination) -> AllowedHost:
    """The line that allows this place. Raises HostRefusedError."""
    line = AllowedHost.objects.filter(host=place.host, port=place.port).first()
    if line is None:
        text = _("Webhooks may not call %(host)s. Ask an administrator to allow this host.")
        raise HostRefusedError(text % {"host": with_port(place.host, place.port)})
    if place.is_plain and not line.plain:
        raise HostRefusedError(_("This host may be called by https only. Type an address that begins so."))
    return line
