"""Account forms."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm, PasswordResetForm
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry, Role, User

ASKED = "asked for a new password"
BETWEEN_MAILS = timedelta(minutes=10)


class SignInForm(AuthenticationForm):
    """Name and password; one message for either being wrong."""

    error_messages = {
        "invalid_login": _(
            "This name and password do not belong together. Check capital letters, or ask an administrator "
            "for a new password."
        ),
        "inactive": _("This account is switched off. Ask an administrator to open it again."),
    }


class UserForm(BaseUserCreationForm):
    """A new user with a role, for the admin."""

    role = forms.ChoiceField(choices=Role.choices)

    class Meta:
        model = User
        fields = ["username", "email", "role"]


class DisplayNameForm(forms.ModelForm):
    """The name that stands on what a person publishes."""

    class Meta:
        model = User
        fields = ["display_name"]

    def clean_display_name(self) -> str:
        """Refuse the sign-in name, which is what this name is there to hide."""
        name: str = self.cleaned_data["display_name"]
        if name.casefold() == self.instance.get_username().casefold():
            raise forms.ValidationError(
                _("This is the name that you sign in with, which nobody should learn. Choose another.")
            )
        return name


class ForgottenForm(PasswordResetForm):
    """The address to send a link to; a person gets one in ten minutes, however often it is asked for."""

    def get_users(self, email: str) -> Iterator[User]:
        """The people to send a link to, without those who were sent one just now."""
        lately = AuditEntry.objects.filter(action=ASKED, at__gte=timezone.now() - BETWEEN_MAILS)
        sent = set(lately.values_list("by", flat=True))
        return (user for user in super().get_users(email) if user.pk not in sent)

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send it, and record that it was asked for."""
        _subject, _body, context = args[:3]
        audit.record(context["user"], ASKED, context["user"])
        super().send_mail(*args, **kwargs)
