"""Pages of a dataset: list, upload, home, first rows, erasing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Max, prefetch_related_objects
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dpportal.accounts import audit
from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import (
    attach_table,
    demo_marker,
    derived,
    file_lines,
    receipts,
    records,
    retention,
    services,
)
from dpportal.datasets.access import open_datasets, with_dataset, with_listed_right
from dpportal.datasets.buttons import button, change_reading
from dpportal.datasets.description_forms import RenameForm
from dpportal.datasets.encoding_choice import guess_shown
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.first_rows import MOST_ROWS as PREVIEW_ROWS, first_rows as seen_rows
from dpportal.datasets.first_steps import FirstSteps
from dpportal.datasets.forms import RemoteTableForm, UploadForm
from dpportal.datasets.header_choice import doubted_names
from dpportal.datasets.identifying import first_question
from dpportal.datasets.missing_words import undeclared_words
from dpportal.datasets.models import Dataset, DomainVersion, Right
from dpportal.datasets.parse_options_forms import LONGEST_SHEET, ReadingForm, reading_form
from dpportal.datasets.protection import Protection
from dpportal.datasets.same_table import same_table
from dpportal.datasets.sharing_views import shared_with
from dpportal.platform.json_types import Json
from dpportal.serving.files import refusal as upload_refusal, takes_files
from dpportal.tables.connections.models import SharedTable

PAGE_SIZE = 25


@curator_required
@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """The datasets that a person may open, newest first."""
    datasets = open_datasets(request).with_states().select_related("owner")
    datasets = datasets.annotate(last_release=Max("releases__measured_at")).order_by("-created_at")
    datasets = datasets.prefetch_related("budget_requests")
    page = Paginator(datasets, PAGE_SIZE).get_page(request.GET.get("page"))
    for dataset in page:
        with_listed_right(request, dataset)
    requests = [answer for dataset in page for answer in dataset.budget_requests.all()]
    context = {
        "page_obj": page,
        "granted": [
            a
            for a in requests
            if a.is_granted and not a.seen and a.by_id == request.user.pk and a.can_continue
        ],
        "demonstration": (is_coming := demo_marker.is_pending()),
        "is_demonstration_read": is_coming
        and Dataset.objects.filter(pk=demo_marker.DATASET, state=Dataset.State.STORED).exists(),
        "first_steps": FirstSteps.of(current_user(request)),
        "nav_section": "datasets",
        "form": UploadForm(),
        "limit": settings.MAX_UPLOAD_BYTES,
        "direct": bool(settings.DIRECT_UPLOADS),
        "offered": SharedTable.offered_to(current_user(request)).exists(),
    }
    return render(request, "datasets/list.html", context)


@takes_files()
@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest) -> HttpResponseBase:
    """The upload form. A script that asks for JSON is told where to go on, or the errors of each field.

    These with 200, as to the page's script any sentence is an answer: browsers note other statuses as faults.
    """
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST":
        if refusal := upload_refusal(request):
            form.errors.clear()
            form.add_error("file", refusal)
        elif form.is_valid():
            draft, file = form.save(commit=False), form.cleaned_data["file"]
            try:
                dataset = services.create_dataset(
                    draft, file, form.options().to_json(), current_user(request)
                )
            except DatasetError as refused:
                form.add_error("file", str(refused))
            else:
                return _uploaded(request, dataset)
    if form.errors and _wants_json(request):
        return JsonResponse({"errors": form.errors})
    context = {
        "form": form,
        "nav_section": "datasets",
        "limit": settings.MAX_UPLOAD_BYTES,
        "direct": bool(settings.DIRECT_UPLOADS),
        "offered": SharedTable.offered_to(current_user(request)).exists(),
    }
    return render(request, "datasets/upload.html", context, status=422 if form.errors else 200)


@curator_required
@require_http_methods(["GET", "POST"])
def connect_table(request: HttpRequest) -> HttpResponseBase:
    """A dataset of a table that stays in its own database, from those that are offered to the curator."""
    offered = SharedTable.offered_to(current_user(request))
    form = RemoteTableForm(request.POST or None, offered=offered)
    if request.method == "POST" and form.is_valid():
        try:
            dataset = attach_table.connect(
                form.save(commit=False), form.cleaned_data["table"], current_user(request)
            )
        except DatasetError as refused:
            form.add_error("table", str(refused))
        else:
            return redirect("datasets:home", dataset.pk)
    context = {"form": form, "offered": offered, "nav_section": "datasets"}
    return render(request, "datasets/connect_table.html", context, status=422 if form.errors else 200)


def _uploaded(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    if _wants_json(request):
        return JsonResponse({"location": reverse("datasets:home", args=[dataset.pk])}, status=201)
    return redirect("datasets:home", dataset.pk)


def _wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


@curator_required
@require_GET
@with_dataset(Right.SEE)
def home(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """A dataset: its budgets, its facts, and what was made of it."""
    # The page reads them in several places.
    prefetch_related_objects([dataset], "budgets")
    domain = dataset.current_domain()
    releases, drafts = dataset.releases.confirmed(), dataset.releases.drafts()
    streams, stream_drafts = dataset.streams.exclude(state="draft"), dataset.streams.filter(state="draft")
    if not dataset.can_release:  # drafts, and what failed
        releases, drafts = releases.filter(state="ready"), drafts.none()
        streams, stream_drafts = streams.filter(opened_at__isnull=False), stream_drafts.none()
    shown = list(releases.select_related("job", "charge__budget")[:PAGE_SIZE])
    context: Json = {
        "dataset": dataset,
        "domain": domain,
        "releases": shown,
        "release_count": releases.count(),
        "drafts": drafts[:PAGE_SIZE],
        "streams": streams,
        "stream_drafts": stream_drafts,
        **shared_with(dataset, current_user(request)),
        **_declared(dataset, domain),
        "people": dataset.releases.estimated_people(),
        "who": Protection.of(domain),
        "last_day": retention.last_day(dataset),
        "days_left": retention.days_left(dataset),
        "receipt": receipts.receipt_of(dataset.pk) if dataset.is_erased and dataset.can_own else None,
        "database_vendor": connection.vendor,
        "erases_soon": retention.is_near(dataset),
        **(first_question(dataset) if dataset.asks_for_unit else {}),
        **_sheets(dataset),
        "guess": guess_shown(dataset),
        "doubted": doubted_names(dataset),
        "budget_request": dataset.budget_requests.first(),
        "same_table": same_table(dataset, current_user(request)),
        "nav_section": "datasets",
    }
    if dataset.is_refused and dataset.can_own and dataset.upload:
        context |= _read_so(request, dataset, reading_form(dataset))
    return render(request, "datasets/home.html", context)


def _sheets(dataset: Dataset) -> Json:
    """The sheets of a workbook, by name, and whether the one that was read is hardly the table: one column, of many.

    Of a sheet that was refused the columns are not known: those of the one before it stay.
    """
    names = [(sheet["name"], sheet["name"]) for sheet in dataset.facts.get("sheets", [])]
    is_narrow = dataset.has_rows and len(dataset.columns) == 1
    return {"sheets": names, "seems_notes": len(names) > 1 and is_narrow}


def _declared(dataset: Dataset, domain: DomainVersion | None) -> Json:
    """What is declared, and the columns whose values were chosen privately."""
    declarations = [(row, row.declared()) for row in domain.attributes.all()] if domain else []
    measured = dataset.value_choices.exclude(measured_at=None)
    by_column = {row.column: attribute for row, attribute in declarations}
    chosen = {
        each.column for each in measured if each.column in by_column and each.declares(by_column[each.column])
    }
    return {"declarations": declarations, "chosen": chosen}


@curator_required
@require_GET
@with_dataset(Right.OWN)
def progress(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """The live part of the home page while a file is read; tells htmx where to go when it has ended.

    How far that is says how large the table is, so it is for owners alone.
    """
    response = render(request, "datasets/_conversion.html", {"dataset": dataset})
    if dataset.conversion.active:
        return response
    is_declared = dataset.domain_versions.filter(attributes__isnull=False).exists()
    if dataset.has_rows and dataset.unit_declared and not is_declared:
        response["HX-Redirect"] = reverse("datasets:domain", args=[dataset.pk])
    else:
        response["HX-Refresh"] = "true"
    return response


@curator_required
@require_GET
@with_dataset(Right.OWN)
def first_rows(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """The first rows of the table, for its owner; the look is on record."""
    try:
        rows = seen_rows(dataset, PREVIEW_ROWS, current_user(request))
    except DatasetError as refusal:
        messages.info(request, str(refusal))
        return redirect("datasets:home", dataset.pk)
    context = {
        "dataset": dataset,
        "columns": derived.described_columns(dataset),
        "rows": rows,
        "guess": guess_shown(dataset),
        "nav_section": "datasets",
    }
    return render(request, "datasets/first_rows.html", context)


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def reading(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """How the file is read; can be changed until the first release or running count."""
    form = reading_form(dataset, request.POST if request.method == "POST" else None)
    way = request.POST.get("look", "")
    if request.method == "POST" and not way and form.is_valid():
        try:
            services.change_parse_options(dataset, form.options(), current_user(request))
        except DatasetError as refusal:
            messages.error(request, str(refusal))
        else:
            dataset.refresh_from_db()
            messages.success(request, _saved_text(dataset))
        return redirect("datasets:home", dataset.pk)
    context = {
        "dataset": dataset,
        "nav_section": "datasets",
        "missing_words": undeclared_words(dataset),
        "guess": guess_shown(dataset),
        **_read_so(request, dataset, form, way == "anew"),
    }
    return render(request, "datasets/reading.html", context, status=422 if form.errors else 200)


def _saved_text(dataset: Dataset) -> str:
    """After how the file is read was changed; rows are named where there are any to look at."""
    if dataset.has_rows:
        return _("Saved: how the file is read. Look at the first rows to see that it is right.")
    return _("Saved: how the file is read. It is read again now.")


def _read_so(request: HttpRequest, dataset: Dataset, form: ReadingForm, is_new: bool = False) -> Json:
    """The form of how a file is read, with its lines where they can be shown; that look is on record."""
    if not file_lines.can_be_seen(dataset):
        return {"form": form}
    audit.record(current_user(request), "viewed first rows", dataset)
    lines = file_lines.shown_lines(dataset, form, is_new=is_new)
    return {"lines": lines, "form": lines.form}


@curator_required
@require_POST
@with_dataset(Right.OWN)
def sheet(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Read another sheet of a workbook; what stands around its table is proposed anew."""
    options = replace(
        records.options_of(dataset),
        sheet=request.POST.get("sheet", "")[:LONGEST_SHEET] or None,
        title_lines=None,
        header_lines=None,
        fewest_filled=0,
        note_words=(),
    )
    return change_reading(request, dataset, options)


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def edit(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Rename or describe a dataset."""
    form = RenameForm(request.POST or None, instance=dataset)
    if request.method == "POST" and form.is_valid():
        form.keep(current_user(request))
        return redirect("datasets:home", dataset.pk)
    return render(
        request, "datasets/edit.html", {"dataset": dataset, "form": form, "nav_section": "datasets"}
    )


_button = partial(button, with_dataset(Right.OWN), back="datasets:home", refusals=(DatasetError,))
erase = _button(services.erase, gettext_lazy("The records are deleted. Releases and the ledger stay."))
cancel = _button(services.cancel_reading, gettext_lazy("Reading the file is cancelled."))
read_again = _button(services.read_again, gettext_lazy("The file is being read again."))


@curator_required
@require_POST
@with_dataset(Right.OWN)
def remove(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Take an upload off the list that was not loaded."""
    try:
        services.remove(dataset, current_user(request))
    except DatasetError as refusal:
        messages.error(request, str(refusal))
    return redirect("datasets:list")
