"""A workload from its text form, with the uploaded matrices that it may name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from mechanisms.domain import Domain
from mechanisms.matrix.workload import Workload

_DIGEST = re.compile(r'"([0-9a-f]{64})"')


def digests(text: str) -> list[str]:
    """The SHA-256 of every uploaded matrix that a text form names."""
    return _DIGEST.findall(text)


def read(text: str, domain: Domain) -> Workload:
    """The workload that a text form describes. Raises PlanError or MatrixError."""
    raise NotImplementedError


def first_labels(workload: Workload, domain: Domain, number: int) -> list[str]:
    """The first queries in words."""
    return list(islice(workload.labels(domain), number))


def labels_at(workload: Workload, domain: Domain, places: Sequence[int]) -> Iterator[str]:
    """Some of the queries in words, by ascending place."""
    wanted = set(places)
    last = max(wanted, default=-1)
    yield from (
        label for place, label in enumerate(islice(workload.labels(domain), last + 1)) if place in wanted
    )
