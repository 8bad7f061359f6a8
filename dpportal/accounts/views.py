"""A person's own account."""

from __future__ import annotations

from functools import wraps

from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dpportal.accounts import mailing, people, reset_links, sessions
from dpportal.accounts.forms import DisplayNameForm, ForgottenForm, NewPasswordForm, PasswordForm
from dpportal.accounts.models import AuditEntry, User
from dpportal.accounts.permissions import View, current_user
from dpportal.accounts.recent_sign_in import recent_sign_in_required
from dpportal.accounts.session_store import stored_key
from dpportal.accounts.sign_ins import How

CHANGES_SHOWN = 50
# Strangers can cause these without end, so they are not listed among the changes.
NO_CHANGES = ("signed in", "failed to sign in", reset_links.LINK_REQUESTED)


def where_mail_is_sent(view: View) -> View:
    """A page that does not exist where the portal sends no mail."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not mailing.is_on():
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


class PasswordView(views.PasswordChangeView):
    """A new password for who knows the old one."""

    template_name = "accounts/password.html"
    form_class = PasswordForm
    success_url = reverse_lazy("accounts:password_changed")

    @transaction.atomic
    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        people.chose_password(form.user)
        sessions.forget_others(form.user, self.request.session.session_key)
        return response


class LinkView(views.PasswordResetConfirmView):
    """A new password for who has a link. Django ends the person's sessions with the old one."""

    template_name = "accounts/replace.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("accounts:replaced")
    extra_context = {"mail_is_sent": mailing.is_on}
    how, alarming = "by a link that was mailed", False

    @transaction.atomic
    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponse:
        response = super().form_valid(form)
        people.chose_password(form.user, self.how, alarming=self.alarming)
        sessions.forget_others(form.user, self.request.session.session_key)
        return response


class SignOutView(views.LogoutView):
    """Ends the session, and has the browser forget what it has kept of the portal's pages."""

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        # What no page has said yet is not for whoever signs in here next.
        list(messages.get_messages(request))
        response = super().post(request, *args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response


sign_out = SignOutView.as_view()
password = PasswordView.as_view()
password_changed = views.PasswordChangeDoneView.as_view(template_name="accounts/password_changed.html")
forgotten = where_mail_is_sent(
    views.PasswordResetView.as_view(
        template_name="accounts/forgotten.html",
        form_class=ForgottenForm,
        success_url=reverse_lazy("accounts:forgotten_sent"),
    )
)
forgotten_sent = where_mail_is_sent(
    views.PasswordResetDoneView.as_view(template_name="accounts/forgotten_sent.html")
)
replace = LinkView.as_view()
choose = LinkView.as_view(
    token_generator=reset_links.shown_tokens, how="by a link that an administrator was shown", alarming=True
)
replaced = views.PasswordResetCompleteView.as_view(template_name="accounts/password_changed.html")


@login_required
def display_name(request: HttpRequest) -> HttpResponse:
    """The name under which a person publishes. "back": the page that asked for it, to which this one leads back."""
    back = request.GET.get("back", "")
    back = back if url_has_allowed_host_and_scheme(back, None) else ""
    # A copy, so that a name that is refused does not stand in the page's menu.
    person = User.objects.get(pk=current_user(request).pk)
    form = DisplayNameForm(request.POST or None, instance=person)
    if request.method == "POST" and form.is_valid():
        people.save(form.save(commit=False), current_user(request), form.changed_data)
        messages.success(request, _("Saved. What you publish says “%s”.") % person.public_name)
        return redirect(back or "accounts:display_name")
    return render(request, "accounts/display_name.html", {"form": form, "back": back})


@login_required
def own_sessions(request: HttpRequest) -> HttpResponse:
    """Where a person is signed in, and who changed what of the account."""
    person = current_user(request)
    changes = AuditEntry.objects.filter(subject=f"user {person.pk}").exclude(action__in=NO_CHANGES)
    context = {
        "sessions": [
            {
                "shown": session,
                "how": How(session.how or How.PASSWORD).label,
                "id": sessions.public_id(session),
                "is_this": session.pk == stored_key(request.session.session_key),
            }
            for session in sessions.open_sessions(person)
        ],
        "changes": changes.select_related("by")[:CHANGES_SHOWN],
        "hours": sessions.longest_hours(),
    }
    if person.unseen_changes:
        User.objects.filter(pk=person.pk).update(unseen_changes=False)
        person.unseen_changes = False
    return render(request, "accounts/sessions.html", context)


@recent_sign_in_required
@require_POST
def end_session(request: HttpRequest) -> HttpResponse:
    """End one session, or all but this one if none is named."""
    person, chosen = current_user(request), request.POST.get("session")
    ended = (
        sessions.end(person, chosen) if chosen else sessions.end_others(person, request.session.session_key)
    )
    messages.success(request, _("Ended.") if ended else _("There was none to end; it had ended before."))
    return redirect("accounts:sessions")
