"""A person's own account."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from dpportal.accounts.forms import DisplayNameForm
from dpportal.accounts.models import User


@login_required
def display_name(request: HttpRequest) -> HttpResponse:
    """The name under which a person publishes."""
    # A copy, so that a name that is refused does not stand in the page's menu.
    person = User.objects.get(pk=request.user.pk)
    form = DisplayNameForm(request.POST or None, instance=person)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved. What you publish says “%s”.") % person.public_name)
        return redirect("accounts:display_name")
    return render(request, "accounts/display_name.html", {"form": form})
