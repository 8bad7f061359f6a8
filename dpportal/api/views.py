"""The page of a person's own tokens."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.accounts.recent_sign_in import is_recent, sign_in_again
from dpportal.api import spending, tokens
from dpportal.api.forms import TokenForm
from dpportal.api.models import ApiToken, Scope


@curator_required
@require_http_methods(["GET", "POST"])
def own_tokens(request: HttpRequest) -> HttpResponse:
    """The tokens that there are, and the form of a new one, whose text is shown this once."""
    by, fresh = current_user(request), ""
    form = TokenForm(request.POST or None)
    if form.is_valid() and not is_recent(request):
        return sign_in_again(request, reverse("tokens:list"))
    if form.is_valid():
        cleaned = form.cleaned_data
        _token, fresh = tokens.make(
            by,
            cleaned["name"],
            Scope(cleaned["scope"]),
            cleaned["days"],
            cleaned["limit"],
            cleaned["counted_in"],
        )
        form = TokenForm()
    rows = ApiToken.objects.filter(by=by)
    context = {
        "form": form,
        "fresh": fresh,
        "tokens": [{"token": token, "spent": spending.spent_by(token)} for token in rows],
        "limit": tokens.REQUESTS_PER_MINUTE,
    }
    return render(request, "api/tokens.html", context, status=422 if form.errors else 200)


@curator_required
@require_POST
def revoke(request: HttpRequest, token_id: UUID) -> HttpResponseBase:
    """End one of the person's own tokens."""
    token = get_object_or_404(ApiToken, pk=token_id, by=current_user(request))
    if tokens.revoke(token, current_user(request)):
        messages.success(request, _("Revoked. Programs that send this token are refused from now on."))
    return redirect("tokens:list")
