"""The wizard's answers while a curator is still choosing; nothing is saved and no data is read."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from dpportal.accounts.permissions import curator_required
from dpportal.budgets.amounts import amount_formfield
from dpportal.budgets.cost_dial import announce, with_cost
from dpportal.platform.typed_numbers import decimal_text, integer_text
from dpportal.publications.search_progress import chosen_by_hand, from_workers
from dpportal.releases import drafts, services
from dpportal.releases.access import own_release
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError, planner_of, product_of
from dpportal.releases.products.queries.form import WorkloadForm
from dpportal.releases.wizard import choices
from dpportal.releases.wizard.forms import MethodForm


@curator_required
@require_POST
@own_release
def cells(request: HttpRequest, draft: Release) -> HttpResponse:
    """How many cells the ticked columns make."""
    people = integer_text(request.POST.get("people", ""))
    estimate = int(people) if people.isascii() and people.isdigit() and len(people) < 12 else None
    context = choices.cells(choices.declared_columns(draft), request.POST.getlist("columns"), estimate)
    return render(request, "releases/histogram/_cells.html", {**context, "release": draft})


@curator_required
@require_POST
@from_workers
@own_release
def offers(request: HttpRequest, draft: Release) -> HttpResponse:
    """The methods side by side at the cost now in the form, or, where nobody chose that, at what is usual by now."""
    try:
        budget, searches = drafts.budget_of(draft), services.ask_strategies(draft)
        simulation, posted = services.ask_simulation(draft), request.POST
        amount = choices.updated_proposal(draft, posted)
    except DraftError as error:
        return render(
            request, product_of(draft).template("_offers.html"), {"release": draft, "refusal": error.message}
        )
    planner = planner_of(draft)
    form = MethodForm(
        chosen_by_hand(posted if amount is None else with_cost(posted, amount)),
        mechanisms=planner.methods,
        automatic=planner.has_automatic,
    )
    context = {"release": draft, **choices.methods(draft, budget, form, searches, simulation)}
    response = render(request, product_of(draft).template("_offers.html"), context)
    announce(response, amount)
    return response


@curator_required
@require_GET
@own_release
def searches(request: HttpRequest, draft: Release) -> HttpResponse:
    """How far the search for strategies is; when one has ended, the page's list of methods is asked for anew."""
    try:
        active = choices.active_searches(draft, services.ask_strategies(draft))
    except DraftError as error:
        return render(
            request, "releases/queries/_searches.html", {"release": draft, "refusal": error.message}
        )
    context = {"release": draft, "searches": active, "is_ready": "ready" in request.GET}
    response = render(request, "releases/queries/_searches.html", context)
    if str(len(active)) != request.GET.get("active"):
        response["HX-Trigger"] = "strategies:found"
    return response


@curator_required
@require_GET
@own_release
def simulation(request: HttpRequest, draft: Release) -> HttpResponse:
    """What was simulated for the draft's shape, at the asked cost; asks for itself again while it is worked out."""
    try:
        amount = amount_formfield().clean(decimal_text(request.GET.get("amount", "")))
        shown = choices.simulated(draft, services.ask_simulation(draft), amount)
    except ValidationError as error:
        shown = {"refusal": error.messages[0]}
    except DraftError as error:
        shown = {"refusal": error.message}
    response = render(request, "releases/microdata/_simulation.html", {"release": draft, **shown})
    if (simulated := shown.get("simulation")) and not simulated.active:
        # What is recommended follows from it.
        response["HX-Trigger"] = "simulation:found"
    return response


@curator_required
@require_POST
@own_release
def workload(request: HttpRequest, draft: Release) -> HttpResponse:
    """The size of the workload now in the form, its text form, and its first queries in words."""
    form = WorkloadForm(request.POST, declared=choices.declared_columns(draft), draft=draft)
    context: dict[str, object] = {"refusals": []}
    if form.is_valid():
        context["workload"] = form.described()
    else:
        context["refusals"] = [str(text) for errors in form.errors.values() for text in errors]
    return render(request, "releases/queries/_workload.html", context)
