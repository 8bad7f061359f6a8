"""What several answers of the API have in common: jobs, pages of lists, files, amounts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Field

from dpportal.api.schemas import FileShown, JobShown
from dpportal.budgets.amounts import plain
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.jobs.claims import Job
from dpportal.platform.json_types import Json
from dpportal.publications.downloads import PublishedFile
from dpportal.serving import long_polling
from mechanisms.accounting import SYMBOL, Definition

PAGE_SIZE = 50
PageNumber = Annotated[int, Field(ge=1, le=10**6)]
# How long an answer may wait for the end of a job, in seconds.
Wait = Annotated[float, Field(ge=0, le=long_polling.MOST_SECONDS)]
T = TypeVar("T")


def job_shown(job: Job | None) -> JobShown | None:
    """A job without anything that its table would say."""
    if job is None:
        return None
    return JobShown(state=job.state, step=job.step, percent=job.percent, failure=job.failure)


def page_of(
    request: HttpRequest, rows: QuerySet[Any] | Sequence[T], number: int, show: Callable[[Any], object]
) -> Json:
    """One page of a list, and the address of the next one."""
    page = Paginator(rows, PAGE_SIZE).get_page(number)
    query = request.GET.copy()
    if page.has_next():
        query["page"] = str(page.next_page_number())
    following = f"{request.build_absolute_uri(request.path)}?{query.urlencode()}" if page.has_next() else None
    return {"items": [show(row) for row in page], "count": page.paginator.count, "next": following}


def price_of(draft: ChargedPublication) -> Json:
    """What it costs, and in what that is counted."""
    account, amount = draft.account, draft.amount
    counted = account.definition if account else draft.priced_in
    if amount is None:
        return {"amount": None, "counted_in": None}
    return {"amount": plain(amount), "counted_in": SYMBOL[Definition(counted)] if counted else None}


def files_shown(files: Sequence[PublishedFile], address_of: Callable[[str], str]) -> list[FileShown]:
    """The files of a bundle. address_of: of the file of a name."""
    return [
        FileShown(
            name=file.name,
            about=file.about,
            size=file.size,
            sha256=file.sha256,
            address=address_of(file.name),
        )
        for file in files
    ]
