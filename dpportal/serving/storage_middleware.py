"""The page of a request that needs files while the storage does not answer, or lacks them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from dpportal.platform import storage
from dpportal.platform.middleware import Middleware
from dpportal.platform.sealing_faults import FileGoneFault
from dpportal.platform.storage import StorageFault
from dpportal.platform.unavailable import UnavailableResponse


class StorageUnreachable(Middleware):
    """Answers with a page that says so, instead of one that says that something broke."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, OSError):
            exception = storage.fault_of(exception) or exception
        if not isinstance(exception, StorageFault | FileGoneFault):
            return None
        context = {"title": _("The files cannot be reached now"), "reason": str(exception)}
        return UnavailableResponse(render_to_string("503.html", context, request), str(exception))
