"""The page's part on which a curator says that a column's values are areas on a map."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dpportal.accounts.permissions import current_user
from dpportal.datasets import geojson
from dpportal.datasets.area_files import NOT_DECLARED, TakenAreas, take_areas
from dpportal.datasets.area_map import remove_areas
from dpportal.datasets.declared import declared_of
from dpportal.datasets.domain_views import column_of
from dpportal.platform.listed_names import listed
from dpportal.serving.files import refusal as upload_refusal, takes_files
from mechanisms.domain import Categorical

LONGEST_CREDIT = 200


@takes_files(geojson.MAX_BYTES)
@require_POST
def areas(request: HttpRequest, dataset_id: UUID, position: int) -> HttpResponseBase:
    """Take a GeoJSON file for a column, or its map away."""
    dataset, column = column_of(request, dataset_id, position)
    declared, by = declared_of(dataset).get(column), current_user(request)
    here, file = redirect("datasets:column", dataset.pk, position), request.FILES.get("areas")
    if "remove" in request.POST:
        remove_areas(dataset, column, by)
        messages.success(request, _("The map is gone; what was published stays without it."))
    elif not isinstance(declared, Categorical):
        messages.error(request, NOT_DECLARED)
    elif file is None:
        messages.error(request, upload_refusal(request) or _("Choose a GeoJSON file first."))
    else:
        try:
            content, credit = file.read(geojson.MAX_BYTES + 1), request.POST.get("credit", "").strip()
            taken = take_areas(dataset, column, content, credit[:LONGEST_CREDIT], by)
        except geojson.GeoJsonError as wrong:
            messages.error(request, str(wrong))
            return here
        _remark(request, taken)
    return here


def _remark(request: HttpRequest, taken: TakenAreas) -> None:
    """How many values have an area, and which have none."""
    text = _("Saved: %(known)s of %(all)s values are areas on the map.")
    messages.success(request, text % {"known": taken.known, "all": taken.known + len(taken.lacking)})
    if taken.lacking:
        named = listed([*taken.lacking[:10], *["…"] * (len(taken.lacking) > 10)])
        messages.warning(request, _("No area of the file is called: %(values)s.") % {"values": named})
