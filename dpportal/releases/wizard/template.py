"""A file to fill in: the cells of some columns in their order, for whoever writes a matrix of queries."""

from __future__ import annotations

import csv
from itertools import product
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from dpportal.accounts.permissions import curator_required
from dpportal.releases.access import release_for
from dpportal.releases.wizard.choices import declared_columns
from mechanisms.domain import Domain

MAX_CELLS = 100_000
BETWEEN = " · "


@curator_required
@require_GET
def matrix(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    """CSV with a header of the cells and one query, that for the number of all people; other lines are to be added."""
    draft = release_for(request, release_id)
    declared = declared_columns(draft)
    domain = declared.project([name for name in declared.names if name in request.GET.getlist("columns")])
    if not domain.attributes or domain.size > MAX_CELLS:
        text = _("Tick columns that make at most %(most)s cells first, then take the template.")
        messages.error(request, text % {"most": f"{MAX_CELLS:,}"})
        return redirect("releases:columns", draft.pk)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="queries.csv"'
    lines = csv.writer(response, lineterminator="\n")
    lines.writerow([_("query"), *cells_in_order(domain)])
    lines.writerow([_("Everybody"), *[1] * domain.size])
    return response


def cells_in_order(domain: Domain) -> list[str]:
    """The name of every cell, as matrices have them: the last column changes fastest."""
    return [BETWEEN.join(labels) for labels in product(*(a.labels() for a in domain.attributes))]
