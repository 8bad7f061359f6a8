"""A measured release's result, and the public figure drawn from it: post-processing only."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
from django.core.files.storage import default_storage

from dpportal import storage
from dpportal.releases import charts
from dpportal.releases.models import Release
from mechanisms import registry
from mechanisms.mechanism import Measurement, Plan, Result

MAX_TABLE_CELLS = 2000


class DamagedMeasurementError(Exception):
    """The stored measurement is not the one that was committed."""


def reconstruct(release: Release) -> Result:
    """Read the committed measurement, check that it is the one, and post-process it."""
    with storage.local_path(release.measurement) as path:
        if storage.sha256(path) != release.measurement_sha256:
            raise DamagedMeasurementError
        values = np.load(path)
    return registry.mechanism(release.mechanism).reconstruct(release.plan, Measurement(values))


def repeatable_digest(release: Release) -> bytes:
    """The public seed of the release's post-processing: the measurement's own digest."""
    return hashlib.sha256(release.measurement_sha256.encode()).digest()


def interval(plan: Plan, result: Result) -> int | None:
    """The half width, in whole rows, of an interval that holds for every cell; None where there is none."""
    if result.half_width is not None:
        return math.ceil(float(result.half_width.max()))
    return plan.half_width


def whole(raw: np.ndarray) -> np.ndarray:
    """Estimates as whole rows, as pages show them."""
    return np.rint(raw).astype(np.int64)


def keep_figures(release: Release, result: Result) -> None:
    """Draw the public chart and table once, so that no page waits for it."""
    plan = release.plan
    figure = charts.counts_figure(
        plan.domain, raw=whole(result.raw), counts=result.counts, half_width=interval(plan, result)
    )
    shown = {
        "figure": {"json": figure.json, "title": figure.title, "caption": figure.caption},
        "table": first_cells(release, result),
        "cells": plan.domain.size,
        "interval": interval(plan, result),
    }
    with storage.scratch_folder() as scratch:
        path = scratch / "public.json"
        path.write_text(json.dumps(shown))
        storage.keep(path, _name(release))


def kept_figures(release: Release) -> dict[str, Any]:
    """What `keep_figures` stored."""
    with default_storage.open(_name(release)) as file:
        return json.load(file)


def first_cells(release: Release, result: Result) -> list[list[Any]]:
    """Rows of the page's table for the first cells: labels, noisy count, count, and the interval if there is one."""
    plan = release.plan
    size = min(plan.domain.size, MAX_TABLE_CELLS)
    places = np.unravel_index(np.arange(size), plan.domain.shape)
    labels = [
        [names[i] for i in place]
        for names, place in zip((a.labels() for a in plan.domain.attributes), places, strict=True)
    ]
    raw, half_width = whole(result.raw[:size]), interval(plan, result)
    numbers = [raw.tolist(), result.counts[:size].tolist()]
    if half_width is not None:
        numbers += [(raw - half_width).tolist(), (raw + half_width).tolist()]
    return [list(row) for row in zip(*labels, *numbers, strict=True)]


def _name(release: Release) -> str:
    return f"releases/{release.pk}/public.json"
