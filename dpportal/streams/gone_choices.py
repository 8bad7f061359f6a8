"""Drafts of running counts that name columns which are gone."""

from __future__ import annotations

from django.utils import timezone

from dpportal.datasets.gone_columns import GoneColumns
from dpportal.platform.json_types import Json
from dpportal.streams.models import Stream

# In the place of a column's name: without one every row would count. No plan is made until another is chosen.
GONE = "?"


def forget(gone: GoneColumns) -> None:
    """Have such drafts keep neither names nor values; the wizard asks for the column again."""
    drafts = Stream.objects.filter(dataset=gone.dataset, state=Stream.State.DRAFT)
    for draft in drafts:
        if gone.are_in(draft.name, draft.description, draft.column, draft.summed):
            drafts.filter(pk=draft.pk).update(**_remaining_choices(draft, gone), changed_at=timezone.now())


def _remaining_choices(draft: Stream, gone: GoneColumns) -> Json:
    """A name that was written may have a column's in it; then the draft is called after its dataset."""
    return {
        "name": str(gone.dataset)[:160] if gone.are_in(draft.name) else draft.name,
        "description": "" if gone.are_in(draft.description) else draft.description,
        "column": draft.column and GONE,
        "summed": draft.summed and GONE,
        "cells": [],
        "labels": [],
        "mechanism": "",
        "is_method_proposed": False,
        "plan_json": None,
    }
