"""A measured release's result and its public page: post-processing only."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
from django.core.files.storage import default_storage
from django.utils.translation import override

from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.platform.language_layers import in_reader_language, languages, layered
from dpportal.releases.models import Release
from dpportal.releases.products import AnyReconstructed, confirmed_plan, presenter_of, runner_of
from dpportal.releases.products.shared import stored_estimates
from dpportal.releases.reader_warning import warned_level
from mechanisms.protocol import Measurement


class DamagedMeasurementError(Exception):
    """The stored measurement is not the one that was committed."""


def reconstruct(release: Release) -> AnyReconstructed:
    """Read the committed measurement, check that it is the one, and post-process it.

    Once its files were made from it, what was kept then decides where another machine would find others. Before that
    nothing counts: what is kept could be of a measurement that was lost with an older copy of the database.
    """
    with storage.local_path(release.measurement) as path:
        if storage.sha256(path) != release.measurement_sha256:
            raise DamagedMeasurementError
        # Mapped, so that the numbers of many cells are in memory only where they are worked on.
        values = np.asarray(np.load(path, mmap_mode="r"))
    runner, plan, measurement = runner_of(release), confirmed_plan(release), Measurement(values)
    if release.is_ready and stored_estimates.has_estimates(release):
        with stored_estimates.estimates(release) as stored:
            return AnyReconstructed(release, plan, runner.reconstruct(plan, measurement, stored))
    return AnyReconstructed(release, plan, runner.reconstruct(plan, measurement))


def page_of(reconstructed: AnyReconstructed) -> Json:
    """What the public page shows, in every language."""
    presenter, pages = presenter_of(reconstructed.release), {}
    with reconstructed.release.counting():
        for code in languages():
            with override(code):
                page = presenter.page(reconstructed)
                level = warned_level(reconstructed.release, reconstructed.plan, page)
                pages[code] = {**page, **({"warned": level} if level else {})}
    return layered(pages)


def store_page(reconstructed: AnyReconstructed, page: Json) -> str:
    """Store what the public page shows of what `page_of` has, and what answers a reader's questions there.

    Returns the page's name, for the release's row: a worker that wakes late writes one that no row points to.
    """
    presenter = presenter_of(reconstructed.release)
    name = storage.random_name(f"releases/{reconstructed.release.pk}/page", ".json")
    estimates = presenter.stored_estimates(reconstructed)
    if estimates is not None:
        stored_estimates.keep_estimates(name, estimates)
    with storage.scratch_folder() as scratch:
        path = scratch / "public.json"
        path.write_text(json.dumps(_in_each_language(page, presenter.stored)))
        return storage.keep(path, name)


def _in_each_language(page: Json, changed: Callable[[Json], Json]) -> Json:
    """A page of `page_of`, changed in each of its languages."""
    pages = {}
    for code in languages():
        with override(code):
            pages[code] = changed(in_reader_language(page))
    return layered(pages)


def stored_page(release: Release) -> Json:
    """What `store_page` stored, in the reader's language."""
    with default_storage.open(page_name(release)) as file:
        page: Json = json.load(file)
    return in_reader_language(page)


def page_name(release: Release) -> str:
    """Where what the public page shows is stored."""
    # Where it lies that was written under one name, until the release's files are written again.
    return release.result or f"releases/{release.pk}/public.json"
