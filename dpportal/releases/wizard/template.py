"""A file to fill in: the cells of some columns in their order, for whoever writes a matrix of queries."""

from __future__ import annotations

import csv

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from dpportal.accounts.permissions import curator_required
from dpportal.releases.access import own_release
from dpportal.releases.models import Release
from dpportal.releases.products.queries import matrices
from dpportal.releases.wizard.choices import declared_columns


@curator_required
@require_GET
@own_release
def matrix(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """CSV with a header of the cells and one query, that for the number of all people; other lines are to be added."""
    declared = declared_columns(draft)
    domain = declared.project([name for name in declared.names if name in request.GET.getlist("columns")])
    if not domain.attributes or domain.size > matrices.MAX_NAMED:
        text = _("Tick columns that make at most %(most)s cells first, then take the template.")
        messages.error(request, text % {"most": f"{matrices.MAX_NAMED:,}"})
        return redirect("releases:columns", draft.pk)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="queries.csv"'
    lines = csv.writer(response, lineterminator="\n")
    lines.writerow([_("query"), *matrices.cell_names(domain)])
    lines.writerow([_("Everybody"), *[1] * domain.size])
    return response
