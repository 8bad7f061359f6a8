"""The pages of signing in: a name and a password, then a second factor where the person has one; or a passkey."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST

from dpportal.accounts import locking, mailing, sign_ins
from dpportal.accounts.factors import passkeys, second_step
from dpportal.accounts.factors.overview import Factors, has_any
from dpportal.accounts.factors.passkeys import PasskeyError
from dpportal.accounts.forms import CodeForm, SignInForm
from dpportal.accounts.models import User
from dpportal.accounts.sign_ins import How
from dpportal.platform.json_types import Json


class SignIn(views.LoginView):
    """Name and password. Whoever has a second factor is asked for it next, and is nobody until then."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        person = form.get_user()
        assert isinstance(person, User)
        if has_any(person):
            second_step.begin(self.request, person, self.get_redirect_url())
            return redirect("accounts:second_step")
        return super().form_valid(form)

    def get_context_data(self, **kwargs: object) -> Json:
        more: Json = {
            "mail_is_sent": mailing.is_on(),
            "passkeys_can_be_used": passkeys.can_be_used(self.request),
            "provider": settings.IDENTITY_PROVIDER,
        }
        return super().get_context_data(**kwargs) | more


class AdminSignIn(SignIn):
    """The same at the admin's own address, which sends there whoever is no administrator."""

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        person = request.user
        if isinstance(person, User) and not person.is_administrator:
            raise Http404
        return super().dispatch(request, *args, **kwargs)


def second_step_page(request: HttpRequest) -> HttpResponse:
    """A code of the app or a recovery code, or a passkey by its button."""
    person = second_step.waiting(request)
    if person is None:
        return redirect("accounts:sign_in")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and not locking.turns_away(request, person):
        if how := second_step.proved_by(request, person, form.cleaned_data["code"]):
            return _signed_in(request, person, how)
        form.add_error(
            "code", _("This is no code of now. Wait for the next one, and check the clock of its device.")
        )
    can_use = passkeys.can_be_used(request)
    context = {"form": form, "factors": Factors.of(person), "passkeys_can_be_used": can_use}
    return render(request, "accounts/second_step.html", context)


def _signed_in(request: HttpRequest, person: User, how: How) -> HttpResponse:
    following = second_step.following(request)
    sign_ins.begin(request, person, how)
    return redirect(following or resolve_url(settings.LOGIN_REDIRECT_URL))


@require_POST
def passkey_options(request: HttpRequest) -> JsonResponse:
    """The challenge that a device is to sign."""
    person = second_step.waiting(request)
    if person is None:
        request.session.set_expiry(second_step.SECONDS)
    return JsonResponse(passkeys.options_to_sign_in(request, person))


class PasskeySignIn(views.RedirectURLMixin, View):
    """Signs in by a device's answer: as the second factor, or as both at once."""

    http_method_names = ["post"]
    next_page = settings.LOGIN_REDIRECT_URL

    def post(self, request: HttpRequest) -> HttpResponse:
        waiting = second_step.waiting(request)
        if waiting and locking.turns_away(request, waiting):
            return redirect("accounts:second_step")
        try:
            person = passkeys.signed_in_by(request, request.POST.get("answer", ""), waiting)
        except PasskeyError as fault:
            if waiting:
                second_step.refuse(request, waiting)
            messages.error(request, str(fault))
            return redirect("accounts:second_step" if waiting else "accounts:sign_in")
        if not person.is_active:
            messages.error(request, str(SignInForm.error_messages["inactive"]))
            return redirect("accounts:sign_in")
        following = second_step.following(request) if waiting else self.get_redirect_url()
        sign_ins.begin(request, person, How.KEY if waiting else How.PASSKEY)
        return redirect(following or self.get_default_redirect_url())
