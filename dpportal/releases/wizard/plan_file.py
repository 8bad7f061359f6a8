"""A draft as a file: what `manage.py release` repeats without a browser."""

from __future__ import annotations

import json
from typing import Any

import tomli_w
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from dpportal.accounts.permissions import curator_required
from dpportal.datasets import codebooks, take_codebook
from dpportal.platform.json_types import Json
from dpportal.releases.access import own_release
from dpportal.releases.models import Release
from dpportal.releases.wizard import choosing

UNIT = ("neighbours", "unit_column", "max_rows", "ignore_case")


def as_toml(draft: Release) -> str:
    """Table, declaration, product, method and cost of a draft."""
    version = draft.dataset.current_domain()
    declaration = {
        "unit": {name: getattr(version, name) for name in UNIT} if version else {},
        "columns": json.loads(codebooks.as_json(take_codebook.written(draft.dataset))),
    }
    chosen = choosing.as_chosen(draft)
    chosen["method"]["counted_in"] = draft.priced_in or None
    facts: Json = {
        "table": {"dataset": str(draft.dataset.pk)},
        "release": chosen,
        "declaration": declaration,
    }
    about = _(
        "# Run it with: python manage.py release plan.toml\n"
        "# --plan-only prints cost and expected error, and spends nothing. The same records with the same choices are\n"
        "# paid for once, however often it is run; --again makes and pays for another release. A table in a database\n"
        "# is counted as it is now, and paid for each time.\n"
        '# For a new table, write file = "people.csv" and name = "People" in place of the dataset.\n'
    )
    return f"{about}\n{tomli_w.dumps(_without_nothing(facts))}"


def _without_nothing(value: Any) -> Any:
    """The same without what is None, which TOML cannot say."""
    if isinstance(value, dict):
        return {name: _without_nothing(one) for name, one in value.items() if one is not None}
    return [_without_nothing(one) for one in value] if isinstance(value, list | tuple) else value


@curator_required
@require_GET
@own_release
def download(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """The file of a draft."""
    answer = HttpResponse(as_toml(draft), content_type="application/toml; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="plan.toml"'
    return answer
