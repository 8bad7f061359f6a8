"""Drafts, and searches for them, that name columns which are gone."""

from __future__ import annotations

from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils import timezone

from dpportal.datasets.gone_columns import GoneColumns
from dpportal.jobs.memoised import StoredQuestion
from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from dpportal.releases.products.queries.strategies import STRATEGIES

# Of a draft that begins anew. What it costs, and how many people there are, is of no column.
NOTHING_CHOSEN: Json = {
    "title": "",
    "columns": [],
    "parameters": {},
    "mechanism": "",
    "is_method_proposed": False,
    "plan_json": None,
    "skipped_steps": [],
}


def forget(gone: GoneColumns) -> None:
    """Have such drafts begin anew, so that they keep neither names nor values; the wizard asks for columns again."""
    drafts = Release.objects.filter(dataset=gone.dataset, state=Release.State.DRAFT)
    outdated = [draft.pk for draft in drafts if gone.are_in(draft.title, draft.columns, draft.parameters)]
    drafts.filter(pk__in=outdated).update(**NOTHING_CHOSEN, changed_at=timezone.now())
    for search in STRATEGIES.jobs().iterator(chunk_size=100):
        if _names(search, gone) and not _is_confirmed(search):
            search.delete()


def _names(search: StoredQuestion, gone: GoneColumns) -> bool:
    attributes = search.question.get("domain", ())
    return any({each["name"], each.get("source")} & gone.names for each in attributes)


def _is_confirmed(search: StoredQuestion) -> bool:
    """Whether a release, perhaps of another dataset, was confirmed with the strategy that it found."""
    arrays = (search.answer or {}).get("arrays", "")
    plans = Release.objects.filter(Release.IS_CONFIRMED).annotate(plan=Cast("plan_json", TextField()))
    return bool(arrays) and plans.filter(plan__contains=arrays).exists()
