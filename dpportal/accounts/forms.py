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
