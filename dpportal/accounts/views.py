"""A person's own account."""

from __future__ import annotations

from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _

from dpportal.accounts.forms import DisplayNameForm, ForgottenForm, SignInForm
from dpportal.accounts.models import User
from dpportal.accounts.permissions import View, current_user


def mail_is_sent() -> bool:
    """Whether the portal can send mail, and so replace a forgotten password."""
    return bool(settings.EMAIL_URL)


def where_mail_is_sent(view: View) -> View:
    """A page that does not exist where the portal sends no mail."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not mail_is_sent():
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


sign_in = views.LoginView.as_view(
    template_name="accounts/sign_in.html",
    authentication_form=SignInForm,
    redirect_authenticated_user=True,
    extra_context={"mail_is_sent": mail_is_sent},
)
sign_out = views.LogoutView.as_view()
password = views.PasswordChangeView.as_view(
    template_name="accounts/password.html", success_url=reverse_lazy("accounts:password_changed")
)
password_changed = views.PasswordChangeDoneView.as_view(template_name="accounts/password_changed.html")
forgotten = where_mail_is_sent(
    views.PasswordResetView.as_view(
        template_name="accounts/forgotten.html",
        form_class=ForgottenForm,
        subject_template_name="accounts/forgotten_subject.txt",
        email_template_name="accounts/forgotten_mail.txt",
        success_url=reverse_lazy("accounts:forgotten_sent"),
    )
)
forgotten_sent = where_mail_is_sent(
    views.PasswordResetDoneView.as_view(template_name="accounts/forgotten_sent.html")
)
replace = where_mail_is_sent(
    views.PasswordResetConfirmView.as_view(
        template_name="accounts/replace.html", success_url=reverse_lazy("accounts:replaced")
    )
)
replaced = where_mail_is_sent(
    views.PasswordResetCompleteView.as_view(template_name="accounts/password_changed.html")
)


@login_required
def display_name(request: HttpRequest) -> HttpResponse:
    """The name under which a person publishes."""
    # A copy, so that a name that is refused does not stand in the page's menu.
    person = User.objects.get(pk=current_user(request).pk)
    form = DisplayNameForm(request.POST or None, instance=person)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved. What you publish says “%s”.") % person.public_name)
        return redirect("accounts:display_name")
    return render(request, "accounts/display_name.html", {"form": form})
