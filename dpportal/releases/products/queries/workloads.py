"""A workload from its text form, with the uploaded matrices that it may name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np

from dpportal.releases.products.queries import matrices
from dpportal.releases.products.queries.matrices import UploadedMatrix
from mechanisms.domain import Domain
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import EVERYTHING, Workload

_DIGEST = re.compile(r'"([0-9a-f]{64})"')


def digests(text: str) -> list[str]:
    """The SHA-256 of every uploaded matrix that a text form names."""
    return _DIGEST.findall(text)


@lru_cache(maxsize=32)
def read(text: str, domain: Domain) -> Workload:
    """The workload that a text form describes, the same object for the same text. Raises PlanError or MatrixError."""
    given = {digest: _explicit(matrices.load(digest)) for digest in digests(text)}
    return read_workload(text, domain, given)


def _explicit(matrix: UploadedMatrix) -> Explicit:
    return Explicit(matrix.rows, matrix.names)


def first_labels(workload: Workload, domain: Domain, number: int) -> list[str]:
    """The first queries in words."""
    return list(islice(workload.labels(domain), number))


def label_of(workload: Workload, domain: Domain, number: int) -> str:
    """One query in words, by its number from 1."""
    term, start = next(
        (term, place.start) for term, place in workload.offsets() if place.start < number <= place.stop
    )
    factors = sorted(term.factors.items())
    places = np.unravel_index(number - 1 - start, [factor.queries for _axis, factor in factors])
    phrases = (
        next(islice(factor.phrases(domain.attributes[axis]), int(place), None))
        for (axis, factor), place in zip(factors, places, strict=True)
    )
    return ", ".join(filter(None, phrases)) or EVERYTHING


def labels_at(workload: Workload, domain: Domain, places: Sequence[int]) -> Iterator[str]:
    """Some of the queries in words, by ascending place."""
    shown = set(places)
    last = max(shown, default=-1)
    yield from (
        label for place, label in enumerate(islice(workload.labels(domain), last + 1)) if place in shown
    )
