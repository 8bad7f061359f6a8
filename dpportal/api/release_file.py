"""A release from a file: table, declaration, product, method and cost, without a browser or web server."""

from __future__ import annotations

import json
import shutil
import time
import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.api.planning import plan_shown
from dpportal.api.schemas import PlanShown, Unit
from dpportal.datasets import codebooks, services as datasets, take_codebook
from dpportal.datasets.access import right_of
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset, DomainVersion, Right
from dpportal.datasets.unit_form import UnitForm
from dpportal.platform.form_data import form_data
from dpportal.platform.json_types import Json
from dpportal.releases import services
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from dpportal.releases.wizard import choosing

PARTS = {"table", "declaration", "release"}
POLL_SECONDS = 0.5


class ReleaseFileError(Exception):
    """A file that makes no release; the message says what to write."""


def read(path: Path) -> Json:
    """What a file says. Raises ReleaseFileError."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ReleaseFileError(_("%(file)s cannot be read.") % {"file": fault.filename}) from None
    except ValueError as fault:
        raise ReleaseFileError(_("This is no TOML: %(fault)s.") % {"fault": fault}) from None
    if unknown := set(said) - PARTS:
        text = _("%(part)s is no part of a release. There are: table, declaration, release.")
        raise ReleaseFileError(text % {"part": f"[{min(unknown)}]"})
    table = said.get("table", {})
    if ("dataset" in table) == ("file" in table):
        raise ReleaseFileError(_("Name in [table] either a dataset of the portal, by its id, or a file."))
    return said


def plan(said: Json, folder: Path, by: User | None) -> PlanShown:
    """What a release costs and how wrong it will be. Nothing is kept, and no data is looked at.

    folder: in which a table's file is named. by: who releases; of a dataset, its owner if nobody is named.
    """
    with transaction.atomic():
        dataset, person = _known(said, by) if "dataset" in said["table"] else (_imagined(said, by), by)
        assert person is not None
        _declare(dataset, said.get("declaration", {}), person)
        shown = plan_shown(_draft(dataset, said, person))
        transaction.set_rollback(True)
    return shown


def run(said: Json, folder: Path, by: User | None) -> Release:
    """Make the release, and spend its cost. Raises ReleaseFileError, and what services refuse."""
    known = "dataset" in said["table"]
    dataset, person = _known(said, by) if known else (_uploaded(said, folder, _named(by)), _named(by))
    _declare(dataset, said.get("declaration", {}), person)
    draft = _draft(dataset, said, person)
    draft.save(force_insert=True)
    services.request_release(draft, reviewed=plan_shown(draft).reviewed, by=person)
    # Here, unless a worker is faster.
    RELEASES.run(draft.pk)
    while (release := Release.objects.select_related("job").get(pk=draft.pk)).job.active:
        time.sleep(POLL_SECONDS)
    if not release.is_ready:
        raise ReleaseFileError(release.job.failure)
    return release


def write_bundle(release: Release, path: Path) -> Path:
    """Everything of a finished release in one file. path: the file, or a folder for it."""
    archive = release.artifacts.get(name__endswith=".zip")
    target = path / archive.name if path.is_dir() else path
    with default_storage.open(archive.stored) as bundle, target.open("xb") as file:
        shutil.copyfileobj(bundle, file)
    return target


def _named(by: User | None) -> User:
    if by is None:
        raise ReleaseFileError(_("Say who releases: --as NAME, the name that a curator signs in with."))
    return by


def _known(said: Json, by: User | None) -> tuple[Dataset, User]:
    """A dataset of the portal, and who releases from it."""
    try:
        found = Dataset.objects.filter(pk=UUID(str(said["table"]["dataset"]))).first()
    except ValueError:
        found = None
    if found is None:
        raise ReleaseFileError(_("This portal has no dataset of that id."))
    person = by or found.owner
    found.right = right_of(person, found)
    if not (person.is_curator and found.can_release):
        raise ReleaseFileError(_("This person may not release from this dataset."))
    return found, person


def _imagined(said: Json, by: User | None) -> Dataset:
    """A dataset with the columns that are declared, of a file that nobody reads; for a plan."""
    columns = [{"name": name} for name in said.get("declaration", {}).get("columns", {})]
    state = Dataset.State.STORED
    dataset = Dataset(owner=_named(by), name="plan", state=state, columns=columns, unit_declared=True)
    dataset.right = Right.OWN
    dataset.save()
    return dataset


def _uploaded(said: Json, folder: Path, by: User) -> Dataset:
    """A new dataset of the file, once it is read."""
    said_name, path = said["table"].get("name", ""), folder / str(said["table"]["file"])
    draft = Dataset(name=str(said_name)[:120])
    draft.right = Right.OWN
    with ExitStack() as stack:
        try:
            content = stack.enter_context(path.open("rb"))
        except OSError as fault:
            raise ReleaseFileError(_("%(file)s cannot be read.") % {"file": fault.filename}) from None
        datasets.create_dataset(draft, File(content, name=path.name), {}, by)
    CONVERSIONS.run(draft.pk)
    while (found := Dataset.objects.get(pk=draft.pk)).is_converting:
        time.sleep(POLL_SECONDS)
    if not found.has_records:
        raise ReleaseFileError(found.conversion.failure or _("A table like this one is there already."))
    found.right = Right.OWN
    return found


def _declare(dataset: Dataset, declaration: Mapping[str, Any], by: User) -> None:
    """Declare what the file says, where it says something new."""
    if "unit" in declaration or dataset.asks_for_unit:
        unit = Unit(**declaration.get("unit", {})).dict()
        current = dataset.current_domain() or DomainVersion(dataset=dataset)
        form = UnitForm(form_data(unit), instance=current, dataset=dataset)
        if not form.is_valid():
            raise ReleaseFileError(" ".join(str(text) for texts in form.errors.values() for text in texts))
        _require_owner(dataset, current, unit)
        form.declare(by)
    if columns := declaration.get("columns"):
        before = codebooks.as_json(take_codebook.written(dataset))
        with transaction.atomic():
            take_codebook.take(dataset, json.dumps(columns).encode(), by)
            if codebooks.as_json(take_codebook.written(dataset)) != before:
                _require_own(dataset)


def _require_owner(dataset: Dataset, current: DomainVersion, unit: Mapping[str, object]) -> None:
    stored = dataset.current_domain()
    if stored is None or any(getattr(stored, name) != value for name, value in unit.items()):
        _require_own(dataset)


def _require_own(dataset: Dataset) -> None:
    if not dataset.can_own:
        raise ReleaseFileError(_("This declares what is not declared so, and owners alone may do that."))


def _draft(dataset: Dataset, said: Json, by: User) -> Release:
    """The release, not saved."""
    if reason := services.why_not_started(dataset):
        raise ReleaseFileError(reason)
    draft = Release(dataset=dataset, created_by=by)
    choosing.choose(draft, said.get("release", {}))
    return draft
