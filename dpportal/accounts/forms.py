"""Account forms."""

from typing import Any

from django import forms
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from dpportal.accounts import mailing
from dpportal.accounts.addresses import client_network
from dpportal.accounts.models import Passkey, Role, User
from dpportal.accounts.origins import settled_origin
from dpportal.accounts.password_strength import GUESSABLE


class SignInForm(AuthenticationForm):
    """Name and password; one message for either being wrong."""

    error_messages = {
        "invalid_login": _(
            "This name and password do not belong together. Check capital letters, or ask an administrator "
            "for a new password."
        ),
        "inactive": _("This account is switched off. Ask an administrator to open it again."),
    }


class CodeForm(forms.Form):
    """A code of an authenticator app, or a recovery code."""

    code = forms.CharField(
        label=_("code"),
        max_length=60,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )


class PasskeyForm(forms.ModelForm[Passkey]):
    """What a device has made, and what its person calls it."""

    answer = forms.CharField(widget=forms.HiddenInput)

    class Meta:
        model = Passkey
        fields = ["name"]


class SecondFactorRuleForm(forms.Form):
    """The roles whose people need a second factor."""

    roles = forms.MultipleChoiceField(
        label=_("who needs a second factor"),
        choices=Role.choices,
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "People without one are led to set it up, and nothing else opens before, in sessions that are open now, "
            "too; their tokens for programs open nothing until then. Whoever signs in by your institution's own "
            "sign-in is asked there, not here."
        ),
    )


class DisplayNameForm(forms.ModelForm[User]):
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


class PersonForm(forms.ModelForm[User]):
    """A person as an administrator changes them: one administrator stays, since only the server makes the first."""

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        was = self.instance.role == Role.ADMINISTRATOR and self.instance.is_active
        stays = cleaned.get("role") == Role.ADMINISTRATOR and cleaned.get("is_active")
        others = User.objects.administrators().exclude(pk=self.instance.pk)
        if self.instance.pk and was and not stays and not others.exists():
            raise forms.ValidationError(
                _("Nobody else is an administrator. Make another person one first, who can sign in.")
            )
        return cleaned


class NewPasswordForm(SetPasswordForm):  # type: ignore[type-arg] # generic for mypy alone
    """A new password; what is wrong with it is said beside it, and not where it is repeated."""

    def validate_password_for_user(self, user: User, *_names: str, **_others: Any) -> None:
        super().validate_password_for_user(user, "new_password1")
        for error in self.errors.get("new_password1", forms.utils.ErrorList()).as_data():
            if error.code == GUESSABLE:
                error.message = _(
                    "Others would guess this too soon. Take another, as it says over the field."
                )


class PasswordForm(NewPasswordForm, PasswordChangeForm):
    """A new password that is not the old one."""

    def clean_new_password1(self) -> str:
        password: str = self.cleaned_data["new_password1"]
        if self.user.check_password(password):
            raise forms.ValidationError(_("This is the password that you have. Choose another."))
        return password


class ForgottenForm(PasswordResetForm):
    """The address to send a link to; a worker finds out whose it is."""

    def save(self, *_args: object, request: HttpRequest | None = None, **_kwargs: object) -> None:
        """Have a link sent."""
        assert request is not None
        network = client_network(request) or ""
        mailing.request_reset(self.cleaned_data["email"], settled_origin(request), network)
