"""Pages of confirmed releases for their curator: job, compare; and the list."""

from __future__ import annotations

import csv
from functools import partial

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST, require_safe

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.budgets import requests
from dpportal.charts.report import stilled
from dpportal.datasets.access import open_datasets, shows_own, with_listed_right
from dpportal.datasets.buttons import button
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.notifications import ended_jobs, shared_with
from dpportal.jobs.claims import JobState
from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.publications.descriptions import styles
from dpportal.publications.draft import PUBLIC
from dpportal.publications.steps import StepState
from dpportal.releases import services
from dpportal.releases.access import own_release, tables_for
from dpportal.releases.comparing import NotComparedError, comparison_for
from dpportal.releases.database_time import database_time
from dpportal.releases.forms import TitleForm
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.privacy_statement import promise
from dpportal.releases.products import ReleasePlan, confirmed_plan, method_title, presenter_of, product_of
from dpportal.releases.row_retention import RowRetention, rows_counted
from dpportal.releases.services import ReleaseError
from dpportal.serving.chinese_spacing import spaced_page
from mechanisms.inert_text import inert

PAGE_SIZE = 25
ANSWERS_SHOWN = 5
JOB_STEPS = ("counting", "measuring", "reconstructing", "bundling")
STEP_LABELS = {
    "queued": gettext_lazy("Queued"),
    "counting": gettext_lazy("Counting rows"),
    "measuring": gettext_lazy("Measuring with noise"),
    "reconstructing": gettext_lazy("Post-processing"),
    "bundling": gettext_lazy("Writing the downloads"),
}


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """A curator's own releases and drafts, and for everyone what is published."""
    own = shows_own(request)
    finished = Q(dataset__in=open_datasets(request), state=Release.State.READY)
    mine = Q(dataset__in=open_datasets(request, Right.RELEASE)) | finished
    listed = mine if own else PUBLIC
    shown = Release.objects.filter(listed).select_related("charge__budget", "dataset__owner", "job")
    shown = shown.defer(*Release.UNLISTED)
    drafts = list(shown.drafts()[:PAGE_SIZE]) if own else []
    shown = shown.confirmed() if own else shown.order_by("-published_at", "-created_at")
    page = Paginator(shown, PAGE_SIZE).get_page(request.GET.get("page"))
    for release in [*drafts, *page]:
        with_listed_right(request, release.dataset)
    context = {"page_obj": page, "nav_section": "releases", "own": own, "drafts": drafts}
    return render(request, "releases/list.html", context)


@curator_required
@require_GET
def finished(request: HttpRequest) -> HttpResponseBase:
    """The bell: the curator's ended jobs, answers about budgets, what is shared; looking at them clears the number."""
    kinds = ended_jobs(current_user(request))
    newest = [job for ended in kinds for job in ended[:PAGE_SIZE]]
    latest = sorted(newest, key=lambda job: job.finished_at, reverse=True)[:PAGE_SIZE]
    for ended in kinds:
        ended.filter(seen=False).update(seen=True)
    answers, shares = requests.answered(current_user(request)), shared_with(current_user(request))
    context = {
        "jobs": latest,
        "answers": list(answers[:ANSWERS_SHOWN]),
        "shares": list(shares[:ANSWERS_SHOWN]),
        "nav_section": "releases",
    }
    for notified in (answers, shares):
        notified.filter(seen=False).update(seen=True)
    return render(request, "releases/finished.html", context)


@curator_required
@require_GET
@own_release
def job(request: HttpRequest, release: Release) -> HttpResponseBase:
    """The job's page; asked by htmx, its live part only."""
    if release.is_draft:
        return redirect("releases:product", release.pk)
    live = bool(getattr(request, "htmx", False))
    if not release.job.active and release.created_by_id == current_user(request).pk:
        ReleaseJob.objects.filter(pk=release.pk, seen=False).update(seen=True)
    context = {
        "release": release,
        "dataset": release.dataset,
        "budget": release.account,
        "job": release.job,
        "steps": _job_steps(release.job),
        "database_time": database_time(release) if release.job.active else None,
        "no_space": release.job.state == JobState.QUEUED and storage.is_full(),
        "nav_section": "releases",
    }
    response = render(request, "releases/_job.html" if live else "releases/job.html", context)
    if live and not release.job.active:
        if release.is_public:
            response["HX-Redirect"] = release.get_absolute_url()
        else:
            response["HX-Refresh"] = "true"  # the budget strip changes with the end of the job
    return response


_button = partial(button, own_release, back="releases:job", refusals=(ReleaseError,))
cancel = _button(
    services.cancel,
    gettext_lazy("Cancelled. The reserved budget is free again."),
)
resume = _button(services.resume, gettext_lazy("The post-processing is queued again."))


@curator_required
@require_POST
@own_release
def again(request: HttpRequest, release: Release) -> HttpResponseBase:
    """A draft with the same choices; of another of the curator's tables where one is named."""
    named = request.POST.get("dataset", "")
    other = (
        next((table for table in tables_for(request, release) if str(table.pk) == named), None)
        if named
        else None
    )
    if named and other is None:
        messages.error(request, _("Choose a table in which the same columns are declared."))
        return redirect("releases:compare", release.pk)
    draft = services.duplicate(release, current_user(request), other)
    if other is not None:
        _say_what_differs(request, release, other)
    elif draft.title:
        messages.info(request, _("The title is that of the other release: change it with the columns."))
    return redirect("releases:product", draft.pk)


def _say_what_differs(request: HttpRequest, release: Release, other: Dataset) -> None:
    """The choices were made for a table that may be declared otherwise."""
    cells = _("%(column)s (%(own)s cells before, %(there)s now)")
    differ = [
        cells % {"column": column, "own": own, "there": there}
        for column, own, there in services.changed_columns(release, other)
    ]
    names = {"name": other.name, "columns": listed(differ)}
    if differ:
        messages.warning(request, _("“%(name)s” declares these columns otherwise: %(columns)s.") % names)
    if release.account and other.budgets.exists() and not services.same_budget_kind(release, other):
        not_taken = _("The cost in %(symbol)s is not taken over: the budget of “%(name)s” is another kind.")
        messages.warning(request, not_taken % {**names, "symbol": release.account.symbol})
    messages.info(
        request,
        _("The choices are those for “%(name)s”, the estimate of the number of people too: check it.")
        % {"name": release.dataset.name},
    )


@curator_required
@require_POST
@own_release
def rename(request: HttpRequest, release: Release) -> HttpResponseBase:
    """Give a release another title."""
    form = TitleForm(request.POST)
    if form.is_valid():
        services.rename(release, form.cleaned_data["title"], current_user(request))
        messages.success(request, _("Renamed."))
    else:
        messages.error(request, " ".join(str(text) for texts in form.errors.values() for text in texts))
    page = "review" if release.is_draft else "compare" if release.is_ready else "job"
    return redirect(f"releases:{page}", release.pk)


@gzip_page
@spaced_page
@curator_required
@require_GET
@own_release
def compare(request: HttpRequest, release: Release) -> HttpResponseBase:
    """Released beside true counts, for those who may see them; the look is on record."""
    comparison = _comparison(request, release)
    if comparison is None:
        return redirect("releases:job", release.pk)
    plan = confirmed_plan(release)
    context: Json = {
        **_compared(release, comparison, plan),
        "dataset": release.dataset,
        "budget": release.account,
        "verdict": presenter_of(release).verdict(comparison),
        "method_title": method_title(release.product, plan.mechanism),
        "retention": RowRetention.of(release),
        "rows_counted": rows_counted(comparison),
        "shown_names": release.domain.shown_names,
        "other_tables": tables_for(request, release),
        "nav_section": "releases",
    }
    return render(request, "releases/compare.html", context)


@curator_required
@require_GET
@own_release
def compare_csv(request: HttpRequest, release: Release) -> HttpResponseBase:
    """The compare page's table, true counts included, for the curator."""
    comparison = _comparison(request, release)
    if comparison is None:
        return redirect("releases:job", release.pk)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="confidential-comparison-{release.pk}.csv"'
    writer = csv.writer(response)
    for row in (comparison["header"], *comparison["table"]):
        writer.writerow([inert(cell) if isinstance(cell, str) else cell for cell in row])
    return response


@curator_required
@require_GET
@own_release
def compare_report(request: HttpRequest, release: Release) -> HttpResponseBase:
    """The comparison as a file by itself, true counts included, for the curator."""
    if release.is_draft or not product_of(release).has_report:
        raise Http404
    comparison = _comparison(request, release)
    if comparison is None:
        return redirect("releases:job", release.pk)
    context: Json = {
        **_compared(release, comparison, confirmed_plan(release)),
        "styles": styles(),
        "maps": stilled(list(comparison["figures"].values())),
    }
    response = render(request, product_of(release).template("report.html"), context)
    response["Content-Disposition"] = f'attachment; filename="confidential-quality-{release.pk}.html"'
    return response


def _compared(release: Release, comparison: Json, plan: ReleasePlan) -> Json:
    """What the compare page and its file both show."""
    return {
        "release": release,
        "product": product_of(release),
        "plan": plan,
        "statement": promise(release, plan.loss, release.other_promises),
        "comparison": comparison,
    }


def _comparison(request: HttpRequest, release: Release) -> Json | None:
    """The stored comparison; None with a message where there is none, or where it is not shown."""
    try:
        return comparison_for(release, current_user(request))
    except NotComparedError as refusal:
        messages.info(request, str(refusal))
        return None


def _job_steps(job: ReleaseJob) -> list[Json]:
    """The job's steps with their states, for the step list."""
    names = ("queued", *JOB_STEPS)
    here = names.index(job.step) if job.step in names else 0
    if job.state == JobState.DONE:
        here = len(names)
    broken = job.state in (JobState.FAILED, JobState.CANCELLED)
    states = [StepState.FAILED if i == here and broken else StepState.of(i, here) for i in range(len(names))]
    return [{"label": STEP_LABELS[n], "state": state} for n, state in zip(names, states, strict=True)]
