"""The list of acts that wait for a second person, and the administrator's answers."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from dpportal.accounts.permissions import administrator_required, current_user
from dpportal.approvals import acts, services
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalError
from dpportal.budgets.forms import ReasonForm
from dpportal.budgets.second_person import rule_text
from dpportal.platform.json_types import Json
from dpportal.publications.search_progress import from_workers

ANSWERED_SHOWN = 50


@administrator_required
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """What waits, and what was answered lately."""
    answered = Approval.objects.exclude(state=Approval.State.WAITING).select_related("by", "answered_by")
    context: Json = {
        "waiting": [_shown(each) for each in services.waiting()],
        "answered": [_shown(each) for each in answered[:ANSWERED_SHOWN]],
        "rule": rule_text(),
        "nav_section": "office",
    }
    return render(request, "approvals.html", context)


def _shown(approval: Approval) -> Json:
    return {"approval": approval, "title": acts.act_of(approval).title}


@administrator_required
@require_POST
@from_workers
def approve(request: HttpRequest, approval_id: int) -> HttpResponseBase:
    """Have it done. A plan whose searches were outdated by an update of the portal waits for new ones."""
    approval = get_object_or_404(Approval, pk=approval_id)
    services.rehearse(approval)
    if request.searches.awaited:  # type: ignore[attr-defined]
        text = _("What this plan needs is being worked out anew. Approve it again in a minute.")
        messages.warning(request, text)
        return redirect("approvals")
    try:
        answered = services.approve(approval, current_user(request))
    except ApprovalError as fault:
        messages.error(request, str(fault))
    else:
        if answered.state == Approval.State.APPROVED:
            messages.success(request, _("Approved, and done."))
        else:
            messages.warning(request, _("Nothing was done: %s") % answered.answer)
    return redirect("approvals")


@administrator_required
@require_POST
def refuse(request: HttpRequest, approval_id: int) -> HttpResponse:
    """Say no, with a reason."""
    approval, form = get_object_or_404(Approval, pk=approval_id), ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say in a sentence why; whoever asked sees it."))
        return redirect("approvals")
    try:
        services.refuse(approval, current_user(request), form.cleaned_data["reason"])
        messages.success(request, _("Refused. Whoever asked is told."))
    except ApprovalError as fault:
        messages.error(request, str(fault))
    return redirect("approvals")
