"""A release from a file: table, declaration, product, method and cost, without a browser or web server.

A run that stopped is run again with the same file. A table that is there already is known by the digest of its content:
the run goes on with that dataset and with the draft that lies there, and pays for no release of it twice. Nor does one
that names a dataset, unless that is asked for or its table lies in a database, where it may have changed.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.core.exceptions import NON_FIELD_ERRORS
from django.core.files import File
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.api import release_file_schema
from dpportal.api.declaration_schemas import Unit
from dpportal.api.planning import plan_shown
from dpportal.api.planning_schemas import PlanShown
from dpportal.api.problems import REFUSALS
from dpportal.api.searching import searching, worked_out
from dpportal.datasets import codebooks, services as datasets, take_codebook
from dpportal.datasets.access import right_of
from dpportal.datasets.declared import declared_of
from dpportal.datasets.import_job import CONVERSIONS, dataset_of_file
from dpportal.datasets.models import Dataset, DomainVersion, Right
from dpportal.datasets.same_table import same_table, usable_copy
from dpportal.datasets.unit_form import UnitForm
from dpportal.platform.form_data import form_data
from dpportal.platform.json_types import Json
from dpportal.releases import drafts, services
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from dpportal.releases.wizard import choosing
from dpportal.releases.wizard.choosing import DraftChoiceError
from dpportal.tables.faults import UploadFault
from mechanisms.domain import DomainError

PARTS = {"table", "declaration", "release"}
POLL_SECONDS = 0.5


class ReleaseFileError(Exception):
    """A file that makes no release; the message says what to write."""


REFUSED = (*REFUSALS, DraftChoiceError, codebooks.CodebookError, DomainError, ReleaseFileError)


def read(path: Path) -> Json:
    """What a file says. Raises ReleaseFileError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ReleaseFileError(_("%(file)s cannot be read.") % {"file": fault.filename}) from None
    except ValueError as fault:
        raise ReleaseFileError(_("This is no TOML: %(fault)s.") % {"fault": fault}) from None
    if unknown := set(document) - PARTS:
        text = _("%(part)s is no part of a release. There are: table, declaration, release.")
        raise ReleaseFileError(text % {"part": f"[{min(unknown)}]"})
    try:
        checked = release_file_schema.checked(document)
    except ValueError as mistakes:
        raise ReleaseFileError(str(mistakes)) from None
    table = checked.get("table", {})
    if ("dataset" in table) == ("file" in table):
        raise ReleaseFileError(_("Name in [table] either a dataset of the portal, by its id, or a file."))
    return checked


def plan(document: Json, folder: Path, by: User | None) -> PlanShown:
    """What a release costs and how wrong it will be. Nothing is kept, and no true count is looked at.

    folder: in which a table's file is named. by: who releases; of a dataset, its owner if nobody is named.
    """
    declared = _declared_before(document, folder, by)

    @transaction.atomic
    def planned() -> PlanShown:
        dataset, person = declared or (
            _known(document, by) if "dataset" in document["table"] else (_imagined(document, by), _named(by))
        )
        _declare(dataset, document, person)
        shown = plan_shown(_draft(dataset, document, person))
        transaction.set_rollback(True)
        return shown

    return worked_out(planned)


@dataclass(frozen=True)
class FinishedRun:
    """What a file has made. is_new: whether this run paid for it, and not an earlier one."""

    release: Release
    is_new: bool


def run(document: Json, folder: Path, by: User | None, *, again: bool = False) -> FinishedRun:
    """Make the release, and spend its cost. Raises ReleaseFileError, and what services refuse.

    One that was made of the same records and with the same choices is taken, and nothing is spent. again: makes and
    pays for another one all the same.
    """
    if "dataset" in document["table"]:
        return _finished(*_known(document, by), document, again=again)
    person = _named(by)
    dataset = _uploaded(document, folder, person)
    with _naming(dataset):
        return _finished(dataset, person, document, again=again)


def _finished(dataset: Dataset, person: User, document: Json, *, again: bool) -> FinishedRun:
    _declare(dataset, document, person)
    draft, reviewed = worked_out(lambda: _reviewed(dataset, document, person))
    # A table in a database is counted as it is now.
    pays_each_time = again or dataset.is_remote
    earlier = None if pays_each_time else _paid(draft)
    if earlier is None:
        draft = ("file" in document["table"] and _lying(draft)) or draft
        draft.save()
        with searching(), transaction.atomic():
            # Of two runs at the same time, one waits and takes what the other has paid for.
            datasets.lock_dataset(dataset)
            earlier = None if pays_each_time else _paid(draft)
            if earlier is None:
                services.request_release(draft, reviewed=reviewed, by=person)
    return FinishedRun(_ready(earlier or draft), is_new=earlier is None)


def _reviewed(dataset: Dataset, document: Json, person: User) -> tuple[Release, str]:
    """The release, not saved, and the digest of its plan."""
    draft = _draft(dataset, document, person)
    return draft, plan_shown(draft).reviewed


def _paid(draft: Release) -> Release | None:
    """The newest release with the same plan and title that was paid for and did not fail."""
    version, plan = drafts.plan_of(draft)
    title = draft.title or draft.proposed_title
    paid = (Release.State.REQUESTED, Release.State.MEASURED, Release.State.READY)
    alike = Release.objects.filter(
        dataset=draft.dataset,
        domain_version=version,
        created_by=draft.created_by,
        title=title,
        state__in=paid,
    )
    stored = plan.to_json()
    return next((each for each in alike.order_by("-requested_at") if each.plan_json == stored), None)


def _lying(draft: Release) -> Release | None:
    """A draft of the same person with the same choices, which an earlier run has left."""
    same = {name: getattr(draft, name) for name in ("dataset", "created_by", *choosing.EVERYTHING)}
    return Release.objects.filter(state=Release.State.DRAFT, **same).first()


def _ready(release: Release) -> Release:
    """The release once it is ready. Raises ReleaseFileError where its job was given up."""
    # Here, unless a worker is faster.
    RELEASES.run(release.pk)
    while (current := Release.objects.select_related("job").get(pk=release.pk)).job.active:
        time.sleep(POLL_SECONDS)
    if not current.is_ready:
        raise ReleaseFileError(current.job.failure)
    return current


@contextmanager
def _naming(dataset: Dataset) -> Iterator[None]:
    """Has a refusal say which dataset the file has become, and that the next run goes on with it."""
    try:
        yield
    except REFUSED as refusal:
        text = _(
            "%(why)s\nThe file is the dataset “%(name)s” now, with the id %(id)s. Its page is %(page)s. Run the same "
            "file again once this is done: nothing is uploaded twice."
        )
        page = reverse("datasets:home", args=[dataset.pk])
        named = {"why": refusal, "name": dataset.name, "id": dataset.pk, "page": page}
        raise ReleaseFileError(text % named) from None


def missing_table(document: Json, folder: Path) -> str:
    """That the file of the table is not where it is named, and what to do; empty if it is, or none is named."""
    name = document["table"].get("file")
    if name is None or (folder / name).is_file():
        return ""
    text = _(
        "table.file: There is no file %(file)s. Names are looked for in the folder of the plan: put the table there, "
        "or write its whole path."
    )
    return text % {"file": folder / name}


def _named(by: User | None) -> User:
    if by is None:
        raise ReleaseFileError(_("Say who releases: --as NAME, the name that a curator signs in with."))
    return by


def _known(document: Json, by: User | None) -> tuple[Dataset, User]:
    """A dataset of the portal, and who releases from it."""
    try:
        dataset = Dataset.objects.filter(pk=UUID(str(document["table"]["dataset"]))).first()
    except ValueError:
        dataset = None
    if dataset is None:
        raise ReleaseFileError(_("This portal has no dataset of that id."))
    person = by or dataset.owner
    dataset.right = right_of(person, dataset)
    if not (person.is_curator and dataset.can_release):
        raise ReleaseFileError(_("This person may not release from this dataset."))
    return dataset, person


def _declared_before(document: Json, folder: Path, by: User | None) -> tuple[Dataset, User] | None:
    """The dataset that a file's table is already, where the plan leaves its declaration to that; else None."""
    if "dataset" in document["table"] or document.get("declaration", {}).get("columns"):
        return None
    person = _named(by)
    try:
        earlier = (
            None
            if missing_table(document, folder)
            else dataset_of_file(folder / document["table"]["file"], person)
        )
    except UploadFault as fault:
        raise ReleaseFileError(str(fault)) from None
    if earlier is None:
        raise ReleaseFileError(
            missing_table(document, folder)
            or _(
                "Nothing is declared: you have no dataset of this table yet. Write its columns below "
                "[declaration.columns], or upload and declare it first."
            )
        )
    earlier.right = Right.OWN
    return earlier, person


def _imagined(document: Json, by: User | None) -> Dataset:
    """A dataset with the columns that are declared, of a file that nobody reads; for a plan."""
    columns = [{"name": name} for name in document.get("declaration", {}).get("columns", {})]
    state = Dataset.State.STORED
    dataset = Dataset(owner=_named(by), name="plan", state=state, columns=columns, unit_declared=True)
    dataset.right = Right.OWN
    dataset.save()
    return dataset


def _uploaded(document: Json, folder: Path, by: User) -> Dataset:
    """A new dataset of the file, once it is read."""
    table_name, path = document["table"].get("name", ""), folder / document["table"]["file"]
    draft = Dataset(name=table_name)
    draft.right = Right.OWN
    with ExitStack() as stack:
        if missing := missing_table(document, folder):
            raise ReleaseFileError(missing)
        try:
            content = stack.enter_context(path.open("rb"))
        except OSError:
            raise ReleaseFileError(_("%(file)s cannot be read.") % {"file": path}) from None
        datasets.create_dataset(draft, File(content, name=path.name), {}, by)
    CONVERSIONS.run(draft.pk)
    while (dataset := Dataset.objects.get(pk=draft.pk)).is_converting:
        time.sleep(POLL_SECONDS)
    if not dataset.has_records:
        dataset = _dataset_of_table(dataset, by)
    dataset.right = Right.OWN
    return dataset


def _dataset_of_table(upload: Dataset, by: User) -> Dataset:
    """The dataset that has the table of an upload already. The upload, of no use to anybody, is taken off the list.

    Raises ReleaseFileError where the file is no table, or the records of that dataset were deleted.
    """
    twin, copy, failure = same_table(upload, by), usable_copy(upload), upload.conversion.failure
    datasets.remove(upload, by)
    if copy is not None:
        return copy
    if twin is None:
        raise ReleaseFileError(failure)
    text = _(
        "%(title)s The records were deleted from the dataset that has it. Upload it in the browser, and ask an "
        "administrator to allow it again."
    )
    raise ReleaseFileError(text % {"title": twin.title})


def _declare(dataset: Dataset, document: Json, by: User) -> None:
    """Declare what the file says, where it says something new. Days of TOML are days of a codebook."""
    declaration, is_of_file = document.get("declaration", {}), "file" in document["table"]
    if "unit" in declaration or dataset.asks_for_unit:
        _declare_unit(dataset, Unit(**declaration.get("unit", {})).dict(), by, is_of_file=is_of_file)
    if columns := declaration.get("columns"):
        before, written = declared_of(dataset), codebooks.as_json(take_codebook.written(dataset))
        with transaction.atomic():
            taken = take_codebook.take(dataset, json.dumps(columns, default=str).encode(), by)
            _require_there(taken.book.left_out)
            if codebooks.as_json(take_codebook.written(dataset)) != written:
                after = declared_of(dataset)
                is_unchanged = all(after.get(name) == each for name, each in before.items())
                _require_changeable(dataset, is_unchanged=is_unchanged or not is_of_file)


def _require_there(left_out: Sequence[str]) -> None:
    """A name that is mistyped would leave its column declared as it was before, and be paid for so."""
    if left_out:
        text = _("declaration.columns: The table has no column “%(name)s”. Write it as the table has it.")
        raise ReleaseFileError(text % {"name": left_out[0]})


def _declare_unit(dataset: Dataset, unit: Mapping[str, object], by: User, *, is_of_file: bool) -> None:
    instance = dataset.current_domain() or DomainVersion(dataset=dataset)
    form = UnitForm(form_data(unit), instance=instance, dataset=dataset)
    if not form.is_valid():
        raise ReleaseFileError(" ".join(str(text) for texts in form.errors.values() for text in texts))
    # Read anew: the form has written into the other one.
    stored = dataset.current_domain()
    if stored is None or any(getattr(stored, name) != value for name, value in unit.items()):
        is_unchanged = stored is None or dataset.asks_for_unit
        _require_changeable(dataset, is_unchanged=is_unchanged or not is_of_file)
    form.declare(by)


def _require_changeable(dataset: Dataset, *, is_unchanged: bool) -> None:
    """is_unchanged: whether all that was declared before stays so, or may be changed by this file."""
    if not dataset.can_own:
        raise ReleaseFileError(_("This declares what is not declared so, and owners alone may do that."))
    if not is_unchanged:
        raise ReleaseFileError(
            _(
                "This table is a dataset already, and it is declared otherwise there. To change its declaration, write "
                "dataset with its id in place of file and name."
            )
        )


def _draft(dataset: Dataset, document: Json, by: User) -> Release:
    """The release, not saved."""
    if reason := services.why_not_started(dataset):
        raise ReleaseFileError(reason)
    draft = Release(dataset=dataset, created_by=by)
    try:
        choosing.choose(draft, document.get("release", {}))
    except DraftChoiceError as wrong:
        if wrong.is_awaited:
            raise
        raise ReleaseFileError(
            "\n".join(f"{_place(name)}{text}" for name, texts in wrong.placed.items() for text in texts)
        ) from None
    return draft


def _place(name: str) -> str:
    """Where a file says it, such as “release.choices.people: ”; empty for what is wrong of several together."""
    return "" if name.endswith(NON_FIELD_ERRORS) else f"release.{name}: "
