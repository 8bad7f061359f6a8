"""The forms of webhooks, of mail, and of the hosts that may be called."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.notices import hosts, outbound
from dpportal.notices.events import CHOICES
from dpportal.notices.internet_addresses import may_be_called, written_address
from dpportal.notices.models import AllowedHost
from dpportal.notices.outbound import HTTPS_PORT, HostRefusedError
from dpportal.platform.form_types import CleanedData


class KindsForm(forms.Form):
    """The events that a webhook hears of."""

    kinds = forms.MultipleChoiceField(
        label=_("tell it of"),
        choices=CHOICES,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one.")},
    )


class WebhookForm(KindsForm):
    """A new webhook."""

    address = forms.CharField(
        label=_("address"),
        max_length=500,
        help_text=_("Such as https://hooks.example/portal. An administrator has to allow its host first."),
        error_messages={"required": _("Type the address at which your program listens.")},
    )
    field_order = ("address", "kinds")

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"]
        try:
            hosts.allowing(outbound.place_of(address))
        except (ValueError, HostRefusedError) as refusal:
            raise forms.ValidationError(str(refusal)) from None
        return address


class MailForm(forms.Form):
    """The events of which a person wants mail."""

    kinds = forms.MultipleChoiceField(
        label=_("send me mail when"), choices=CHOICES, widget=forms.CheckboxSelectMultiple, required=False
    )


class HostForm(forms.ModelForm[AllowedHost]):
    """A host that webhooks may call."""

    class Meta:
        model = AllowedHost
        fields = ("host", "port", "plain", "private")
        help_texts = {
            "host": _("Its exact name, such as hooks.example; other names below it are not meant."),
            "plain": _("Without encryption, whoever is on the way can read what is sent."),
            "private": _(
                "For a receiver in your own network: its name may then lead to addresses such as 10.0.0.7 or 127.0.0.1."
            ),
        }

    def clean_host(self) -> str:
        typed: str = self.cleaned_data["host"].strip()
        wrong = forms.ValidationError(_("Type a name only, such as hooks.example."))
        if "*" in typed:
            raise forms.ValidationError(
                _("A “*” would allow hosts that nobody looked at. Add each host by its exact name.")
            )
        try:
            place = outbound.place_of(f"https://{typed}")
        except ValueError:
            raise wrong from None
        if (place.target, place.port) != ("/", HTTPS_PORT):
            raise wrong
        return place.host

    def clean_port(self) -> int:
        port: int = self.cleaned_data["port"]
        if not 0 < port < 2**16:
            raise forms.ValidationError(_("A port is a number from 1 to 65535."))
        return port

    def clean(self) -> CleanedData:
        data: dict[str, Any] = super().clean() or {}
        host, port = data.get("host"), data.get("port")
        if host and port and AllowedHost.objects.filter(host=host, port=port).exists():
            self.add_error("host", _("This host is allowed already. Remove its line first, to change it."))
        elif host and (reason := _why_never_called(host, private=data.get("private", False))):
            self.add_error("host", reason)
        return data


def _why_never_called(host: str, *, private: bool) -> str:
    """Of a host whose address needs no look-up, and would be refused whenever something is sent; else empty."""
    address = written_address(host)
    if address is None or may_be_called(address, private=private):
        return ""
    if may_be_called(address, private=True):
        text = gettext(
            "%(host)s is inside: this machine itself, or a private network. Type the name of a host outside, or tick "
            "“also in a private network” if your own receiver is there."
        )
    else:
        text = gettext(
            "%(host)s is never called: nothing that is meant to receive messages is at this address, and some clouds "
            "answer there with a machine’s secrets. Type the name of your receiver."
        )
    return text % {"host": host}
