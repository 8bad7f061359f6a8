"""Declaring several columns at once: alike, from another dataset, or from a codebook; and writing one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import codebooks, derived, services, take_codebook
from dpportal.datasets.access import open_datasets, with_dataset
from dpportal.datasets.common_values import common_values
from dpportal.datasets.declared import copied, declared_of, filled_of, titled_as_before
from dpportal.datasets.domain_views import cells_shown, context_of
from dpportal.datasets.forms import AttributeForm
from dpportal.datasets.labels import shared_other_text, shares_other
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.proposals import is_contradicted, lacks_words, proposed, proposed_kind
from dpportal.datasets.shown_declarations import initial_of
from dpportal.datasets.truths import is_unread
from dpportal.datasets.typed_days import date_format_of
from dpportal.datasets.unlike_rows import unlike_text
from dpportal.platform.listed_names import listed, with_number
from dpportal.serving.files import takes_files
from mechanisms.domain import Attribute, Boolean, DomainError

MOST_NAMED = 20  # columns that a message names


@curator_required
@require_POST
@with_dataset(Right.OWN)
def chosen(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """What is to be done with the columns that were ticked on the list."""
    names = _names(dataset, request.POST.getlist("columns"))
    way = request.POST.get("way", "")
    if not names:
        messages.error(request, _("Choose columns on the list first."))
    elif way == "alike":
        query = urlencode([("columns", position) for position in request.POST.getlist("columns")])
        return redirect(f"{reverse('datasets:several', args=[dataset.pk])}?{query}")
    elif way == "ignored":
        _declare(request, dataset, ignored=names)
    elif way == "yes-or-no":
        _declare_yes_or_no(request, dataset, names)
    elif way == "names":
        _declare_proposed(request, dataset, names)
    return redirect("datasets:domain", dataset.pk)


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def several(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """The form of a column, for several that have the same values."""
    names = _names(dataset, request.GET.getlist("columns"))
    if not names:
        messages.error(request, _("Choose columns on the list first."))
        return redirect("datasets:domain", dataset.pk)
    first = declared_of(dataset).get(names[0])
    looks = [derived.look_of(dataset, name) for name in names]
    truths = {derived.truths_of(look) for look in looks}
    initial = initial_of(first, "text", truths.pop() if len(truths) == 1 else ())
    form = AttributeForm(
        request.POST or None,
        initial=initial,
        column=names[0],
        looks=looks,
        date_format=date_format_of(dataset),
    )
    del form.fields["title"]  # each has its own
    if request.method == "POST" and form.is_valid():
        alike = form.attribute()
        attributes = [replace(alike, name=name) for name in names] if alike else []
        attributes = titled_as_before(dataset, attributes)
        # The form began with what is declared of the first: where that was taken from the data, so are they all.
        filled = names if names[0] in filled_of(dataset) else None
        if _declare(request, dataset, attributes, filled, ignored=() if alike else names):
            return redirect("datasets:domain", dataset.pk)
    position = int(request.GET.getlist("columns")[0])
    context = {**context_of(dataset), "form": form, "names": names, "at": position, "attribute": first}
    context |= cells_shown(first)
    return render(request, "datasets/several.html", context, status=422 if form.errors else 200)


@curator_required
@require_POST
@with_dataset(Right.OWN)
def copy(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Take over what another dataset that the curator sees declares of columns with the same names."""
    source = open_datasets(request).filter(pk__in=_uuids(request.POST.get("source", ""))).first()
    if source is None:
        messages.error(request, _("Choose one of your datasets to copy from."))
        return redirect("datasets:domain", dataset.pk)
    _declare(request, dataset, *copied(source, dataset))
    return redirect("datasets:domain", dataset.pk)


@takes_files(codebooks.MAX_BYTES)
@require_POST
@with_dataset(Right.OWN)
def import_codebook(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Declare what a codebook says of the columns; what it does not name stays as it is."""
    file = request.FILES.get("codebook")
    if file is None:
        messages.error(request, _("Choose a codebook file first."))
        return redirect("datasets:domain", dataset.pk)
    try:
        taken = take_codebook.take(dataset, file.read(codebooks.MAX_BYTES + 1), current_user(request))
    except (codebooks.CodebookError, DomainError) as error:
        messages.error(request, str(error))
    else:
        _say_declared(request, taken.attributes)
        _remark(request, taken.book)
        if taken.unknown:
            text = _(
                "The codebook gives single values of %(columns)s labels, but no limits. Declare these columns as "
                "numbers and import it again: then these values get cells of their own."
            )
            messages.warning(request, text % {"columns": _quoted(taken.unknown)})
    return redirect("datasets:domain", dataset.pk)


@curator_required
@require_GET
@with_dataset(Right.SEE)
def export(request: HttpRequest, dataset: Dataset, ending: str) -> HttpResponse:
    """What is declared, as a codebook that can be imported elsewhere."""
    if ending not in ("csv", "json"):
        raise Http404
    book = take_codebook.written(dataset)
    text = codebooks.as_csv(book) if ending == "csv" else codebooks.as_json(book)
    kind = "text/csv" if ending == "csv" else "application/json"
    named = {"Content-Disposition": f'attachment; filename="codebook-{dataset.pk}.{ending}"'}
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=named)


def _remark(request: HttpRequest, book: codebooks.Codebook) -> None:
    """Say what of a codebook was not declared, or perhaps not as it was meant."""
    if book.left_out:
        messages.warning(request, _left_out(book.left_out))
    if book.missing_codes:
        messages.warning(request, _missing_codes(book.missing_codes))
    if book.joined:
        text = _(
            "Values that the codebook gives the same label are counted together, as one cell: %(columns)s."
        )
        messages.info(request, text % {"columns": _quoted(book.joined)})


def _missing_codes(counts: Sequence[tuple[str, int]]) -> str:
    """What is said of codes that a codebook calls missing: how a table is read says so for all columns at once."""
    text = _(
        "Codes that the codebook calls missing were left out: %(columns)s. Rows that hold one are now values that "
        "are not on the list. Where they are to be missing, add them under “How the file is read”, for all columns."
    )
    shown = [with_number(name[:80], count) for name, count in counts[:MOST_NAMED]]
    return text % {"columns": listed(shown + ["…"] * (len(counts) > MOST_NAMED))}


def _left_out(names: Sequence[str]) -> str:
    """What is said of a codebook's columns that the table does not have: perhaps a name is misspelt."""
    text = ngettext(
        "%(count)s column of the codebook was left out, since the table does not have it: %(names)s.",
        "%(count)s columns of the codebook were left out, since the table does not have them: %(names)s.",
        len(names),
    )
    return text % {"count": len(names), "names": _quoted(names)}


def _quoted(names: Sequence[str]) -> str:
    """The first of some columns' names."""
    shown = [f"“{name[:80]}”" for name in names[:MOST_NAMED]] + ["…"] * (len(names) > MOST_NAMED)
    return listed(shown)


def _declare_yes_or_no(request: HttpRequest, dataset: Dataset, names: list[str]) -> None:
    """Declare those that are read so, and say what is to be done with the others."""
    looks = {name: derived.look_of(dataset, name) for name in names}
    unread = [name for name in names if is_unread(looks[name])]
    attributes = [
        Boolean(name, True, closed=True, values=derived.truths_of(looks[name]))
        for name in names
        if name not in unread
    ]
    if attributes and not _declare(request, dataset, titled_as_before(dataset, attributes), ()):
        return
    if unread:
        text = _(
            "Not declared: %(columns)s. Their first rows hold other texts than those that are read as no and yes. "
            "Choose “Yes or no” in the table and write how the table writes the two, such as nie and tak."
        )
        messages.error(request, text % {"columns": _quoted(unread)})


def _declare_proposed(request: HttpRequest, dataset: Dataset, names: list[str]) -> None:
    looks = {column["name"]: column for column in derived.described_columns(dataset)}
    fitting = [
        name for name in names if not (is_contradicted(name, looks[name]) or lacks_words(name, looks[name]))
    ]
    attributes = [
        attribute for name in fitting if (attribute := proposed(name, derived.truths_of(looks[name])))
    ]
    if attributes and not _declare(request, dataset, titled_as_before(dataset, attributes), ()):
        return
    taken = {attribute.name for attribute in attributes}
    unlike = [name for name in names if is_contradicted(name, looks[name])]
    if unlike:
        text = _("Not taken: %(columns)s. Their first rows look like another kind than their names suggest.")
        messages.warning(request, text % {"columns": _quoted(unlike)})
    kinds = [name for name in names if name not in {*taken, *unlike} and proposed_kind(name)]
    if kinds:
        text = _(
            "Not taken: %(columns)s. Their names suggest a kind, but not their values or limits. Type these in the "
            "table, or import a codebook."
        )
        messages.warning(request, text % {"columns": _quoted(kinds)})
    if unknown := [name for name in names if name not in {*taken, *unlike, *kinds}]:
        text = _("Nothing is suggested for %(columns)s. Declare them in the table.")
        messages.warning(request, text % {"columns": _quoted(unknown)})


def _declare(
    request: HttpRequest,
    dataset: Dataset,
    attributes: Collection[Attribute] = (),
    filled: Collection[str] | None = None,
    ignored: Collection[str] = (),
) -> bool:
    """Declare all of them or, where one is refused, none, and say so. Returns whether it was done.

    filled: as `services.declare_all` takes it.
    """
    try:
        services.declare_all(dataset, attributes, filled=filled, ignored=ignored, by=current_user(request))
    except DomainError as error:
        messages.error(request, str(error))
        return False
    _say_declared(request, attributes, ignored)
    if unlike := unlike_text(dataset, attributes):
        messages.warning(request, unlike)
    return True


def _say_declared(
    request: HttpRequest, attributes: Collection[Attribute], ignored: Collection[str] = ()
) -> None:
    """Say what is declared now, and what may not be as it was meant."""
    text = ngettext("%(count)s column is declared.", "%(count)s columns are declared.", len(attributes))
    if ignored:
        text = ngettext("%(count)s column is ignored.", "%(count)s columns are ignored.", len(ignored))
    messages.success(request, text % {"count": len(attributes) or len(ignored)})
    if sharing := [attribute.name for attribute in attributes if shares_other(attribute)]:
        messages.warning(request, shared_other_text(sharing))
    if numbers := [attribute.name for attribute in attributes if common_values(attribute)]:
        text = _(
            "Is one value common in %(columns)s, such as 0? Then give that value a cell of its own, below."
        )
        messages.info(request, text % {"columns": _quoted(numbers)})


def _names(dataset: Dataset, positions: list[str]) -> list[str]:
    """The columns at the given places of the table. Raises Http404 if there is no such place."""
    if not all(position.isdecimal() and int(position) < len(dataset.columns) for position in positions):
        raise Http404
    return [dataset.columns[int(position)]["name"] for position in positions]


def _uuids(text: str) -> list[UUID]:
    try:
        return [UUID(text)]
    except ValueError:
        return []
