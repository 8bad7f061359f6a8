"""What is promised of a dataset, for pages on which a promise is about to change."""

from __future__ import annotations

from django import template

from dpportal.budgets import promises
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection

register = template.Library()


@register.filter
def promised_so_far(dataset: Dataset) -> list[str]:
    """What each account in use means for a person."""
    return promises.before_change(dataset)


@register.filter
def promised_to_others(dataset: Dataset, own: Protection) -> list[str]:
    """What is granted for other protections than the one declared now, which is `own`."""
    return [sentence for _key, sentence in promises.before_grant(dataset, own)]


@register.filter
def publishes_total(dataset: Dataset) -> bool:
    """Whether a release makes the number of rows public."""
    return promises.publishes_total(dataset)
