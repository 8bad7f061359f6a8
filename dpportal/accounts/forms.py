"""Account forms."""

from django import forms
from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.models import Role, User


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
