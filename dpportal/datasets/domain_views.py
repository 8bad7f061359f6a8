"""Pages on which a curator declares what is publicly known: all columns, each of them, and the unit."""

from __future__ import annotations

import math
from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts import audit
from dpportal.accounts.permissions import curator_required, current_user
from dpportal.approvals import acts, services as approvals
from dpportal.datasets import derived, proposals, protection_change, records, services
from dpportal.datasets.access import dataset_for, with_dataset
from dpportal.datasets.area_map import AreaMap
from dpportal.datasets.cell_strip import strip
from dpportal.datasets.coarser import can_be_coarser
from dpportal.datasets.common_values import common_values, round_numbers
from dpportal.datasets.declared import declared_of, filled_of
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.fill_column import NEEDS_CONFIRMATION, fill
from dpportal.datasets.forms import AttributeForm
from dpportal.datasets.identifying import first_question, identifying_columns
from dpportal.datasets.labels import shared_other_text, shares_other
from dpportal.datasets.models import Dataset, DomainVersion, Right
from dpportal.datasets.proposals import proposed_kind
from dpportal.datasets.protection import Protection
from dpportal.datasets.shown_declarations import initial_of
from dpportal.datasets.templatetags.columns import kind_in_words
from dpportal.datasets.typed_days import date_format_of
from dpportal.datasets.unit_form import UnitForm
from dpportal.datasets.unlike_rows import unlike_text, unlike_warning, unreadable_text
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_a_row
from dpportal.platform.two_people import PROTECTION
from dpportal.tables import UploadFault
from mechanisms.accounting import Neighbours
from mechanisms.domain import Attribute, Categorical, Date, DomainError, Integer, Real
from mechanisms.synthesis.bin_error import most_mean_error


@curator_required
@require_http_methods(["GET", "POST"])
def column(request: HttpRequest, dataset_id: UUID, position: int) -> HttpResponseBase:
    """Declare one column, or take its declaration back."""
    dataset, name = column_of(request, dataset_id, position)
    declared = declared_of(dataset).get(name)
    look, date_format = derived.look_of(dataset, name), date_format_of(dataset)
    suggesting = "" if proposals.is_contradicted(name, look) else name
    initial = initial_of(declared, suggesting, derived.truths_of(look))
    form = AttributeForm(
        request.POST or None, initial=initial, column=name, looks=[look], date_format=date_format
    )
    if request.method == "POST" and form.is_valid():
        try:
            attribute = form.attribute()
            services.declare(dataset, name, attribute, by=current_user(request))
        except DomainError as wrong:
            form.add_error(None, str(wrong))
        else:
            messages.success(request, _("Saved: %(column)s.") % {"column": name})
            if attribute and shares_other(attribute):
                messages.warning(request, shared_other_text([name]))
            if attribute and (unlike := unlike_text(dataset, [attribute])):
                messages.warning(request, unlike)
            if "next" in request.POST and position + 1 == len(dataset.columns):
                return redirect("datasets:domain", dataset.pk)
            return redirect("datasets:column", dataset.pk, position + ("next" in request.POST))
    context = {
        **context_of(dataset),
        "form": form,
        "column": name,
        "position": position,
        "attribute": declared,
        "suggested": proposed_kind(suggesting),
        "coarser": [a for a in declared_of(dataset).values() if a.source == name],
        "can_be_coarser": declared is not None and can_be_coarser(declared),
        "can_have_areas": isinstance(declared, Categorical),
        "area_map": AreaMap.objects.filter(dataset=dataset, column=name).first(),
        "unreadable": unreadable_text(form["kind"].value() or "", look, None if form.is_bound else declared),
        **cells_shown(declared),
    }
    return render(request, "datasets/column.html", context, status=422 if form.errors else 200)


@curator_required
@require_POST
def column_cells(request: HttpRequest, dataset_id: UUID, position: int) -> HttpResponse:
    """The live picture of the cells that the form now declares; saves nothing and reads no data."""
    dataset, name = column_of(request, dataset_id, position)
    look = derived.look_of(dataset, name)
    form = AttributeForm(request.POST, column=name, looks=[look], date_format=date_format_of(dataset))
    attribute = form.attribute() if form.is_valid() else None
    context = {**context_of(dataset), "form": form, "attribute": attribute, **cells_shown(attribute)}
    context["unreadable"] = unreadable_text(form["kind"].value() or "", look, attribute)
    return render(request, "datasets/_cells.html", context)


@curator_required
@require_POST
def fill_column(request: HttpRequest, dataset_id: UUID, position: int) -> HttpResponseBase:
    """Take a column's domain from the data: not private, so only after the curator vouches for it."""
    dataset, name = column_of(request, dataset_id, position)
    here = redirect("datasets:column", dataset.pk, position)
    if request.POST.get("public") != "on":
        messages.error(request, NEEDS_CONFIRMATION)
        return here
    try:
        fill(dataset, name, current_user(request))
    except (DatasetError, UploadFault, DomainError) as fault:
        messages.error(request, str(fault))
        return here
    messages.warning(
        request, _("Taken from the data. Check it: releases will say that this column was filled so.")
    )
    return here


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def unit(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Declare who is protected: a row or a person, and what neighbouring tables are."""
    current = dataset.current_domain() or DomainVersion(dataset=dataset)
    accounts = [budget for budget in dataset.budgets.all() if budget.is_fixed]
    account = next((budget for budget in accounts if budget.protection == Protection.of(current)), None)
    several = first_question(dataset)["identifying"] if "several" in request.GET else []
    form = UnitForm(request.POST or None, instance=current, dataset=dataset, identifying=several)
    if request.method == "POST" and form.is_valid():
        declared = {name: form.cleaned_data[name] for name in UnitForm.Meta.fields}
        now = Protection.of(current)
        if protection_change.asks_first(dataset, now):
            protection_change.ask(dataset, declared, now, current_user(request))
            messages.info(request, _("Asked for a second person. Nothing changes before it is approved."))
            return redirect("datasets:unit", dataset.pk)
        form.declare(current_user(request))
        messages.success(request, _("Saved: who is protected."))
        return redirect("datasets:domain", dataset.pk)
    approval = approvals.latest(PROTECTION, dataset.pk)
    context = {**context_of(dataset), "form": form, "accounts": accounts, "account": account}
    context |= {
        "second_person": approval,
        "needs_second_person": bool(accounts) and acts.is_needed(PROTECTION),
    }
    if current.unit_column and dataset.has_rows:
        context["persons"], context["rows"] = records.persons_in_first_rows(dataset, current)
        audit.record(current_user(request), "viewed persons in first rows", dataset)
    return render(request, "datasets/unit.html", context, status=422 if form.errors else 200)


@curator_required
@require_POST
@with_dataset(Right.OWN)
def one_row(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """The answer that each row is one person."""
    services.confirm_one_row(dataset, identifying_columns(dataset), current_user(request))
    return _answered(request, dataset, _("Saved: each row is one person."))


@curator_required
@require_POST
@with_dataset(Right.OWN)
def several_rows(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """The answer that rows with the same value of a column are one person's, of which one row counts."""
    column = request.POST.get("column", "")
    if column not in [c["name"] for c in dataset.columns]:
        messages.error(request, _("Choose the column that identifies a person."))
        return redirect("datasets:unit", dataset.pk)
    neighbours, by = Neighbours.ADD_REMOVE.value, current_user(request)
    services.declare_unit(dataset, neighbours=neighbours, unit_column=column, max_rows=1, by=by)
    text = _("Saved: rows with the same %(column)s are one person's.") % {"column": column}
    return _answered(request, dataset, text)


def _answered(request: HttpRequest, dataset: Dataset, message: str) -> HttpResponseBase:
    """On to the columns, with what was said of the last lines declared, too: then the file is read again first."""
    if "notes" not in request.POST:
        messages.success(request, in_a_row([message, _("Now say what each column can hold.")]))
        return redirect("datasets:domain", dataset.pk)
    messages.success(request, message)
    facts, options = dataset.facts, records.options_of(dataset)
    fewest = max(options.fewest_filled, facts.get("fewest_filled", 0))
    words = {*options.note_words, *facts.get("note_words", ())}
    options = replace(options, fewest_filled=fewest, note_words=tuple(sorted(words)))
    try:
        services.change_parse_options(dataset, options, current_user(request))
    except DatasetError as refusal:
        messages.error(request, str(refusal))
        return redirect("datasets:domain", dataset.pk)
    return redirect("datasets:home", dataset.pk)


def column_of(request: HttpRequest, dataset_id: UUID, position: int) -> tuple[Dataset, str]:
    """The owner's dataset, and its column at this place; or 404."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    if position >= len(dataset.columns):
        raise Http404
    return dataset, dataset.columns[position]["name"]


def context_of(dataset: Dataset) -> Json:
    """What the page of all columns shows of the declaration."""
    declared = declared_of(dataset)
    version = dataset.current_domain()
    filled, date_format = filled_of(dataset), date_format_of(dataset)
    columns = [
        {**_column_shown(i, c, declared.get(c["name"]), c["name"] in filled), "date_format": date_format}
        for i, c in enumerate(derived.described_columns(dataset))
    ]
    for line in columns:
        line["coarser"] = [a.name for a in declared.values() if a.source == line["name"]]
    own = [a for a in declared.values() if not a.source]
    return {
        "dataset": dataset,
        **first_question(dataset),
        "version": version,
        "columns": columns,
        "declared_count": len(own),
        "cells_together": math.prod(a.size for a in own) if own else 0,
        "nav_section": "datasets",
    }


def _column_shown(position: int, column: Json, attribute: Attribute | None, filled: bool) -> Json:
    """A column's line on the list; kind: what its name suggests, unless its first rows contradict that."""
    name, is_contradicted = column["name"], proposals.is_contradicted(column["name"], column)
    declared_kind = kind_in_words(attribute) if attribute else ""
    kind = "" if is_contradicted else dict(AttributeForm.KINDS).get(proposed_kind(name), "")
    line = {"position": position, "name": name, "attribute": attribute, "filled": filled}
    line |= {"look": column, "truths": derived.truths_of(column)}
    # Dates that will not be read stay worth a word when the column is declared; other remarks are to declare it by.
    remark = column.get("remark", "")
    line["warning"] = remark if attribute is None or isinstance(attribute, Date) else ""
    line["warning"] = line["warning"] or unlike_warning(attribute, column)
    return {**line, "kind": kind, "declared_kind": declared_kind, "is_contradicted": is_contradicted}


def cells_shown(attribute: Attribute | None) -> Json:
    """The cells of a declaration to look at, and the one that values go to which fit none."""
    to = attribute.misfits_to if attribute else None
    named = attribute.regular_labels()[to] if attribute and to is not None else ""
    return {
        "strip": strip(attribute) if attribute else None,
        "misfits_to": named,
        "common": common_values(attribute),
        "round": round_numbers(attribute),
        "mean_error": most_mean_error(attribute) if isinstance(attribute, Integer | Real) else 0,
    }
