"""What a privacy cost means for one person: a page of the guide to try numbers on, and its figure by itself."""

from __future__ import annotations

from decimal import Decimal

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from dpportal.budgets.amounts import amount_formfield, delta_formfield
from dpportal.budgets.risk import Risk
from dpportal.platform.json_types import Json
from dpportal.publications import cost
from mechanisms.accounting import SYMBOL, Definition, Neighbours

DEFAULTS = {
    "prior": "10",
    "definition": "pure",
    "amount": "1",
    "neighbours": "add-remove",
    "delta_exponent": "6",
}
LEAST_PRIOR, MOST_PRIOR = 0.01, 99.99
MOST_EXPONENT = 20


class RiskForm(forms.Form):
    """Somebody's suspicion, and the cost of what they read."""

    prior = forms.FloatField(
        label=_("A suspicion before, in percent"), min_value=LEAST_PRIOR, max_value=MOST_PRIOR
    )
    definition = forms.ChoiceField(label=_("counted in"), choices=[(d.value, SYMBOL[d]) for d in Definition])
    amount = amount_formfield(_("Privacy cost"))
    neighbours = forms.ChoiceField(
        label=_("What is hidden"),
        choices=[
            (Neighbours.ADD_REMOVE.value, _("whether a person is in the data")),
            (Neighbours.REPLACE_ONE.value, _("what a person's entries say")),
        ],
    )
    delta_exponent = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=MOST_EXPONENT)
    delta = delta_formfield(_("δ, spent besides"), required=False)
    running = forms.BooleanField(widget=forms.HiddenInput, required=False)

    @property
    def risk(self) -> Risk | None:
        """None while something that was typed is no number."""
        if not self.is_valid():
            return None
        given = self.cleaned_data
        return Risk(
            prior=given["prior"] / 100,
            definition=Definition(given["definition"]),
            amount=float(given["amount"]),
            neighbours=Neighbours(given["neighbours"]),
            delta_exponent=given["delta_exponent"],
            whole_orders=given["running"],
            delta=given["delta"] or Decimal(0),
        )


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The form, what it means, and what others have chosen; numbers stand in the address."""
    shown = _shown(request)
    risk = shown["risk"]
    choices = cost.scale(risk.epsilon, risk.pair) if risk else cost.CHOICES
    return render(request, "guide/risk.html", {**shown, "published_choices": choices, "nav_section": "guide"})


@require_safe
def figure(request: HttpRequest) -> HttpResponse:
    """What it means, for a page that changes a number."""
    return render(request, "budgets/_risk.html", _shown(request))


def _shown(request: HttpRequest) -> Json:
    query = QueryDict(mutable=True)
    query.update(DEFAULTS)
    for name in request.GET:
        if given := request.GET.get(name):
            query[name] = given
    form = RiskForm(query)
    return {"form": form, "risk": form.risk}
