"""Workloads in words, for templates."""

from __future__ import annotations

from django import template

from dpportal.releases.products.queries.words import in_words
from mechanisms.matrix.mechanism import QueryPlan

register = template.Library()


@register.filter
def workload_in_words(plan: QueryPlan) -> str:
    """Such as “Every range of age”."""
    domain = plan.domain
    return in_words(plan.workload.text, dict(zip(domain.names, domain.for_readers.names, strict=True)))
