"""How often publications are read: a number for each, and nothing about who reads."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from uuid import UUID

from django.db import DatabaseError
from django.db.models import F
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dpportal.catalogue.models import Readership

log = logging.getLogger(__name__)

READ = {"releases:public", "releases:explore", "releases:download", "streams:public", "streams:download"}
# Programs that read everything that they find. Those that people download with, such as curl and R, count.
ROBOT = re.compile(r"bot|crawl|spider|slurp|preview|monitor|scan", re.IGNORECASE)
# A page does not wait for the database each time: what is counted within so many seconds is written together.
WRITTEN_EVERY_SECONDS = 20.0


class Tally:
    """What was counted in this process and not written yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[UUID] = Counter()
        self._written = -WRITTEN_EVERY_SECONDS

    def add(self, publication: UUID) -> None:
        """Count once, and write if that was not done for a while. What a killed process had not written is lost."""
        with self._lock:
            self._counts[publication] += 1
            is_due = time.monotonic() - self._written >= WRITTEN_EVERY_SECONDS
        if is_due:
            self.write()

    def write(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, Counter()
            self._written = time.monotonic()
        try:
            rows = [Readership(publication=publication) for publication in counts]
            Readership.objects.bulk_create(rows, ignore_conflicts=True)
            for publication, times in counts.items():
                Readership.objects.filter(pk=publication).update(times=F("times") + times)
        except DatabaseError as error:  # a page is worth more than its count
            log.warning("readers were not counted: %s", type(error).__name__)


tally = Tally()


def counted(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: count what strangers were given of a publication. Neither curators nor robots count."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        match = request.resolver_match
        if match and match.view_name in READ and response.status_code == 200 and _is_reader(request):
            tally.add(match.kwargs.get("release_id") or match.kwargs["stream_id"])
        return response

    return handle


def _is_reader(request: HttpRequest) -> bool:
    program = request.headers.get("User-Agent", "")
    ahead = request.headers.get("Sec-Purpose", "")
    is_robot = not program or ROBOT.search(program) is not None or "prefetch" in ahead
    return request.method == "GET" and not is_robot and not request.user.is_authenticated


def most_read(publications: Iterable[UUID], number: int) -> list[UUID]:
    """Those that were read most, at most so many; none that was never read."""
    known = set(publications)
    ranked = Readership.objects.filter(times__gt=0).order_by("-times", "pk").values_list("pk", flat=True)
    read = (pk for pk in ranked.iterator() if pk in known)
    return [pk for pk, _place in zip(read, range(number), strict=False)]
