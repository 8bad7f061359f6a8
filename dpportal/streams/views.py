"""Pages of a confirmed stream for its curator: the series, adding periods, compare, publishing; and the list."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.core.files.base import ContentFile
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Q
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST, require_safe

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import User
from dpportal.accounts.permissions import curator_required, current_user
from dpportal.accounts.recent_sign_in import is_recent, sign_in_again
from dpportal.datasets.access import open_datasets, shows_own, with_listed_right
from dpportal.datasets.buttons import button
from dpportal.datasets.models import Right
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_a_row
from dpportal.publications.draft import PUBLIC
from dpportal.serving.files import refusal as upload_refusal, takes_files
from dpportal.streams import (
    comparison,
    correction_rule,
    downloads,
    execution,
    series_view,
    services,
    tokens,
)
from dpportal.streams.access import own_stream
from dpportal.streams.execution import PeriodRefusedError, Update
from dpportal.streams.forms import ManyForm, PeriodForm, RecordsForm
from dpportal.streams.measure import largest_increment
from dpportal.streams.models import Period, Stream, StreamJob
from dpportal.streams.preview import preview_of
from dpportal.streams.services import StreamError
from dpportal.streams.vault import VaultError

# Counts of periods: a year of days in a hundred series is half of it.
MANY_BYTES = 16 * 2**20

PAGE_SIZE = 25
MAX_TYPED = 50


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """A curator's own streams and drafts, and for everyone what is published."""
    own = shows_own(request)
    seen = Q(dataset__in=open_datasets(request), opened_at__isnull=False)
    mine = Q(dataset__in=open_datasets(request, Right.RELEASE)) | seen
    visible = mine if own else PUBLIC
    shown = downloads.with_newest(Stream.objects.filter(visible)).select_related("dataset", "charge__budget")
    shown = shown.defer(*Stream.UNLISTED)
    drafts = list(shown.filter(state=Stream.State.DRAFT).order_by("-changed_at")[:PAGE_SIZE]) if own else []
    opened = shown.exclude(state=Stream.State.DRAFT).order_by("-created_at")
    page = Paginator(opened, PAGE_SIZE).get_page(request.GET.get("page"))
    for stream in [*drafts, *page]:
        with_listed_right(request, stream.dataset)
    context = {"page_obj": page, "nav_section": "streams", "own": own, "drafts": drafts}
    return render(request, "streams/list.html", context)


@curator_required
@require_GET
@own_stream
def home(request: HttpRequest, stream: Stream) -> HttpResponseBase:
    """A stream for its curators: its state, its periods, and the next one."""
    if stream.is_draft:
        return redirect("streams:counted", stream.pk)
    return _home(request, stream)


@curator_required
@require_GET
@own_stream
def live(request: HttpRequest, stream: Stream) -> HttpResponse:
    """What changes by itself: jobs, the newest periods, the period due. Nothing new is answered with 204."""
    context = _live(stream, current_user(request), request.GET.get("forms_due", ""))
    if request.GET.get("seen") == context["mark"]:
        return HttpResponse(status=204)
    context |= _shown(stream, request.GET)
    response = render(request, "streams/_live.html", {"stream": stream, "alone": True, **context})
    if request.GET.get("state") != stream.state:
        response["HX-Refresh"] = "true"  # what can be done changes with the state
    return response


@curator_required
@require_POST
@own_stream
def add(request: HttpRequest, stream: Stream) -> HttpResponseBase:
    """Publish a period whose counts were typed."""
    form = PeriodForm(request.POST, stream=stream)

    def publish() -> str:
        update = Update(form.cleaned_data["index"], form.increments, Period.Source.TYPED)
        with transaction.atomic():
            [published] = execution.publish(stream.pk, [update], by=current_user(request))
            if not published.new:
                return _tell_published(request, stream, update.index)
            audit.record(
                current_user(request),
                "published by hand",
                stream,
                clause(execution.PERIOD, index=update.index),
            )
        done = _("Period %(label)s was added.") % {"label": stream.calendar.name(update.index)}
        return f"{done} {_clipped_text(stream, published.clipped)}".strip()

    return _add(request, stream, "typed", form, publish)


@takes_files()
@require_POST
@own_stream
def add_records(request: HttpRequest, stream: Stream) -> HttpResponseBase:
    """Have a file of a period's records counted."""
    form = RecordsForm(request.POST, request.FILES, auto_id="records_%s")
    if refusal := upload_refusal(request):
        form.errors.clear()
        form.add_error("file", refusal)

    def queue() -> str:
        index = form.cleaned_data["index"]
        if stream.periods.filter(index=index).exists():
            return _tell_published(request, stream, index)
        execution.check_order(stream, index, stream.periods.count() + 1)
        services.queue_records(stream, index, form.cleaned_data["file"], current_user(request))
        return _("The file is being counted; the period appears below.")

    return _add(request, stream, "records", form, queue)


@takes_files(MANY_BYTES)
@require_POST
@own_stream
def add_many(request: HttpRequest, stream: Stream) -> HttpResponseBase:
    """Have many periods published, from a file or pasted."""
    form = ManyForm(request.POST, request.FILES, stream=stream)

    def queue() -> str:
        pasted = ContentFile(form.cleaned_data["pasted"].encode(), "pasted.csv")
        file = form.cleaned_data["file"] or pasted
        services.queue_counts(stream, file, form.options, current_user(request), confirmed=False)
        return _("The periods are being checked. Nothing is published before you have seen which ones.")

    return _add(request, stream, "many", form, queue)


@curator_required
@require_POST
@own_stream
def token(request: HttpRequest, stream: Stream) -> HttpResponseBase:
    """Make a token and show it, this once."""
    if not is_recent(request):
        return sign_in_again(request, reverse("streams:home", args=[stream.pk]))
    try:
        fresh = services.renew_token(stream, current_user(request))
    except StreamError as refusal:
        messages.error(request, str(refusal))
        return redirect("streams:home", stream.pk)
    context = {
        "stream": stream,
        "dataset": stream.dataset,
        "token": fresh,
        "address": request.build_absolute_uri(f"/streams/{stream.pk}/periods"),
        "example": json.dumps(_example(stream), ensure_ascii=False),
        "limit": tokens.REQUESTS_PER_MINUTE,
        "largest": largest_increment(stream),
        "nav_section": "streams",
    }
    return render(request, "streams/token.html", context)


@curator_required
@require_GET
@own_stream
def compare(request: HttpRequest, stream: Stream) -> HttpResponseBase:
    """The newest periods beside the true running counts; the look is recorded."""
    try:
        compared = comparison.comparison_for(stream, current_user(request), request.GET.get("count", ""))
    except VaultError as shut:
        messages.error(request, str(shut))
        return redirect("streams:home", stream.pk)
    except comparison.NothingToCompareError as nothing:
        messages.info(request, str(nothing))
        return redirect("streams:home", stream.pk)
    context = {
        "stream": stream,
        "dataset": stream.dataset,
        "budget": stream.account,
        **compared,
        "nav_section": "streams",
    }
    return render(request, "streams/compare.html", context)


def _tell_published(request: HttpRequest, stream: Stream, index: int) -> str:
    """That a period stays as it is, whatever was sent for it, and where what is late goes. No good news, so none."""
    stays = _("Period %(label)s is published already and stays as it is. What you sent for it was not used.")
    parts = [stays % {"label": stream.calendar.name(index)}]
    if stream.is_open:
        due = stream.calendar.name(stream.periods.count() + 1)
        parts.append(_("A late record goes into the next period, %(next)s.") % {"next": due})
        parts.append(correction_rule.rule(stream.plan.loss))
    messages.info(request, in_a_row(parts))
    return ""


def _clipped_text(stream: Stream, clipped: int) -> str:
    """How many typed counts were beyond the declared largest; empty if none was."""
    if not clipped:
        return ""
    text = ngettext(
        "%(count)s count was larger than %(largest)s, the largest that was declared, and was taken as that.",
        "%(count)s counts were larger than %(largest)s, the largest that was declared, and were taken as that.",
        clipped,
    )
    return text % {"count": f"{clipped:,}", "largest": f"{largest_increment(stream):,}"}


def _home(request: HttpRequest, stream: Stream, **bound: BaseForm) -> HttpResponse:
    """The stream's page, with a form that has to be corrected if there is one."""
    context = {
        "stream": stream,
        "dataset": stream.dataset,
        "budget": stream.account,
        **_live(stream, current_user(request)),
        **_shown(stream, request.GET),
        **_forms(stream, bound),
        "corrections": correction_rule.rule(stream.plan.loss) if stream.is_open else "",
        "nav_section": "streams",
    }
    return render(request, "streams/home.html", context, status=422 if bound else 200)


def _forms(stream: Stream, bound: Mapping[str, BaseForm]) -> Json:
    if not stream.is_open:
        return {}
    initial = {"index": stream.periods.count() + 1}
    typed = len(stream.labels) <= MAX_TYPED
    version = stream.domain_version
    counts_people = not stream.dataset.is_tableless and (version is None or not version.unit_column)
    return {
        "typed": bound.get("typed") or (PeriodForm(stream=stream, initial=initial) if typed else None),
        "records": bound.get("records")
        or (RecordsForm(initial=initial, auto_id="records_%s") if counts_people else None),
        "many": bound.get("many") or ManyForm(stream=stream),
    }


def _live(stream: Stream, by: User, forms_due: str = "") -> Json:
    """What the live part of the page shows beside the series. mark: changes whenever any of that or the series does.

    news_query: with which it asks whether that is so. forms_due: the period that the page's forms are for; they keep
    it, so that what is typed in them never goes into another period than its author saw, and the live part says when
    that one is published.
    """
    job = stream.jobs.order_by("-queued_at").first()
    if job is not None and not job.active and not job.seen and job.created_by_id == by.pk:
        StreamJob.objects.filter(pk=job.pk).update(seen=True)
    count = stream.periods.count()
    preview = preview_of(job)
    seen = [stream.state, count, job and (job.pk, job.state, job.step, job.progress)]
    due = count + 1
    form_period = int(forms_due) if forms_due.isdecimal() and len(forms_due) < 10 else due
    mark = hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
    return {
        "job": job,
        "preview": preview,
        "due": due,
        "forms_due": form_period,
        "due_label": stream.calendar.name(due),
        "is_due": stream.is_open and not stream.calendar.is_future(due),
        "due_start": stream.calendar.start(due),
        "mark": mark,
        "news_query": urlencode({"state": stream.state, "forms_due": form_period, "seen": mark}),
    }


def _shown(stream: Stream, query: QueryDict) -> Json:
    if not stream.was_opened:
        return {}
    shown = series_view.shown(stream, query)
    return {**shown, "figures": series_view.figures(stream, shown["chosen"], shown["period_count"])}


def _example(stream: Stream) -> Json:
    """A body that a program may send next."""
    labels: list[str] = stream.labels
    counts: int | dict[str, int] = 12 if labels == [""] else dict.fromkeys(labels, 12)
    due = stream.periods.count() + 1
    period: int | str = due if stream.first_day is None else stream.calendar.label(due)
    return {"period": period, "counts": counts}


def _add(
    request: HttpRequest, stream: Stream, name: str, form: BaseForm, act: Callable[[], str]
) -> HttpResponseBase:
    """Do with a form of periods what `act` does; a form in which something is wrong is shown again.

    So is one that could not be taken just now. Where its period is refused, the page is for the one that is due.
    """
    if not form.is_valid():
        return _home(request, stream, **{name: form})
    try:
        if done := act():
            messages.success(request, done)
    except PeriodRefusedError as refusal:
        messages.error(request, str(refusal))
    except (StreamError, VaultError) as refusal:
        messages.error(request, str(refusal))
        return _home(request, stream, **{name: form})
    return redirect("streams:home", stream.pk)


_button = partial(
    button, own_stream, back="streams:home", refusals=(PeriodRefusedError, StreamError, VaultError)
)
confirm_file = _button(
    services.confirm_file, gettext_lazy("The file is being published; its periods appear below.")
)
drop_file = _button(services.drop_file, gettext_lazy("The file is deleted. Nothing of it is published."))
stop = _button(services.stop, gettext_lazy("Stopped, and the file deleted. What is published of it stays."))
close = _button(
    services.close,
    gettext_lazy("The running count is closed and its secret noise deleted. What is published stays."),
)
