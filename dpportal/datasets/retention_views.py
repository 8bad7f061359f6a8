"""The page on which an owner chooses the day of erasure."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.http import require_http_methods

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import retention
from dpportal.datasets.access import with_dataset
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, Right


class DayForm(forms.Form):
    """The day, or none: a form that sends neither says nothing."""

    day = forms.DateField(
        label=gettext_lazy("Delete the records on"),
        required=False,
        help_text=gettext_lazy("Leave it empty to keep them until somebody deletes them."),
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def clean(self) -> dict[str, Any]:
        if "day" not in self.data:
            raise forms.ValidationError(_("The day did not arrive. Send the form again."))
        return super().clean() or {}


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def choose_day(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Choose when the records are deleted by themselves; on record."""
    initial = {"day": dataset.erase_on.isoformat() if dataset.erase_on else ""}
    form = DayForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            retention.choose_day(dataset, form.cleaned_data["day"], current_user(request))
        except DatasetError as refusal:
            form.add_error("day", str(refusal))
        else:
            messages.success(request, _("Saved."))
            return redirect("datasets:home", dataset.pk)
    context = {
        "dataset": dataset,
        "form": form,
        "warned_days": retention.WARNED_DAYS,
        "notice_days": retention.NOTICE_DAYS,
        "nav_section": "datasets",
    }
    return render(request, "datasets/retention.html", context, status=422 if form.errors else 200)
