"""The table in which all columns are declared at once, and the live picture of a row of it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import domain_fit, services, table_forms
from dpportal.datasets.access import open_datasets, with_dataset
from dpportal.datasets.declared import declared_of
from dpportal.datasets.domain_views import column_of, context_of
from dpportal.datasets.labels import shared_other_text, shares_other
from dpportal.datasets.missing_words import declare_ticked, undeclared_words
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.protection import Protection
from dpportal.datasets.table_forms import EstimateForm
from dpportal.datasets.unlike_rows import unlike_text
from mechanisms.domain import DomainError


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def overview(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """All columns with what is declared of them, each to be edited in its place."""
    context = context_of(dataset)
    page = Paginator(context["columns"], table_forms.PAGE_COLUMNS).get_page(request.GET.get("page"))
    data = request.POST if request.method == "POST" else None
    suggests = not context["declared_count"]
    rows = list(table_forms.rows(list(page.object_list), data, suggests=suggests))
    estimate = EstimateForm(data, initial={"people": dataset.releases.estimated_people()})
    wrong = [row.line["name"] for row in rows if data is not None and not row.form.is_valid()]
    is_wrong = bool(wrong) or not (data is None or estimate.is_valid())
    if data is not None and not is_wrong:
        if _save(request, dataset, rows, estimate.cleaned_data["people"]):
            declare_ticked(request, dataset)
            _warn_unlike(request, dataset, rows)
            return _onward(request, dataset, data.get("next", ""), page.number)
        is_wrong = True
    words = undeclared_words(dataset)
    others = open_datasets(request).filter(domain_versions__attributes__isnull=False)
    context |= {
        "rows": rows,
        "fills": suggests and any(row.fills for row in rows),
        "page_obj": page,
        "is_wrong": is_wrong,
        "wrong": wrong,
        "estimate": estimate,
        "others": others.exclude(pk=dataset.pk).distinct(),
        "who": Protection.of(dataset.current_domain()),
        "missing_words": words,
        # Who has declared something has seen the question, and left as values what is still asked.
        "ticked_words": data.getlist("words") if data is not None else words if suggests else [],
    }
    return render(request, "datasets/domain.html", context, status=422 if is_wrong else 200)


def _save(request: HttpRequest, dataset: Dataset, rows: list[table_forms.Row], people: int | None) -> bool:
    """Declare what the rows say otherwise, and keep the estimate, or none of it; whether it was done."""
    changed = [row for row in rows if row.form.has_changed_or_is_invalid()]
    attributes = [row.attribute for row in changed if row.attribute]
    ignored = [row.line["name"] for row in changed if row.attribute is None]
    try:
        services.declare_all(dataset, attributes, ignored=ignored, by=current_user(request))
    except DomainError as error:
        messages.error(request, str(error))
        return False
    if people:
        dataset.releases.keep_estimate(people, dataset, current_user(request))
    text = ngettext("Saved: %(count)s column.", "Saved: %(count)s columns.", len(changed))
    if changed:
        messages.success(request, text % {"count": len(changed)})
    if sharing := [attribute.name for attribute in attributes if shares_other(attribute)]:
        messages.warning(request, shared_other_text(sharing))
    return True


def _warn_unlike(request: HttpRequest, dataset: Dataset, rows: list[table_forms.Row]) -> None:
    """Say which of the saved columns do not look like what they are declared as, once the words for missing are."""
    dataset.refresh_from_db()
    attributes = [row.attribute for row in rows if row.form.has_changed_or_is_invalid() and row.attribute]
    if unlike := unlike_text(dataset, attributes):
        messages.warning(request, unlike)


def _onward(request: HttpRequest, dataset: Dataset, way: str, page: int) -> HttpResponseBase:
    """Where a curator goes from the table; a draft is begun by the same request, sent on."""
    if way == "release" and declared_of(dataset):
        if not (dataset.is_remote or domain_fit.why_not(dataset, current_user(request))):
            # So that the review can say what does not fit, before anything is spent.
            domain_fit.ask(dataset)
        return redirect("releases:start", dataset.pk, preserve_request=True)
    if way == "release":
        messages.error(request, _("Declare at least one column first: its kind, and its values or limits."))
    if way == "fit" and dataset.has_records:
        # Posted on, so that a worker begins to look; where nothing is declared the page says so.
        return redirect("datasets:fit", dataset.pk, preserve_request=True)
    here = reverse("datasets:domain", args=[dataset.pk])
    return redirect(f"{here}?page={page + (way == 'page')}")


@curator_required
@require_POST
def row_cells(request: HttpRequest, dataset_id: UUID, position: int) -> HttpResponse:
    """The live picture of what a row now says; saves nothing and reads no data."""
    dataset, _name = column_of(request, dataset_id, position)
    context = context_of(dataset)
    line = context["columns"][position]
    row = table_forms.row(line, request.POST, suggests=not context["declared_count"])
    return render(request, "datasets/_row_cells.html", {"dataset": dataset, "row": row, "live": True})
