"""The look at the fit: asking for it, whether it still says what is declared, and what of it warns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets import stored_fits
from dpportal.datasets.access import why_true_counts_hidden
from dpportal.datasets.domain_fit_job import FITS, fit_digest
from dpportal.datasets.models import Dataset, Fit
from dpportal.jobs.claims import reset_fields
from dpportal.platform import storage
from dpportal.tables.fit import TableFit

WARN_ABOVE = 0.01
MOST = 0.5


@dataclass(frozen=True)
class FitWarning:
    """A share of the rows, 0..1, that fits nothing declared in a column, or names nobody, or is beyond the limit."""

    share: float
    column: str = ""

    @property
    def percent(self) -> str:
        return f"{100 * self.share:.1f}"


def current_digest(dataset: Dataset) -> str | None:
    """The digest of what a look would look at now; None where there is nothing to look at."""
    version = dataset.current_domain()
    domain = version.domain() if version else None
    if version is None or domain is None or not (domain.attributes and dataset.has_records):
        return None
    return fit_digest(dataset, version, domain)


def ask(dataset: Dataset) -> None:
    """Queue a look, unless one at the same declarations is under way, or done of a table that cannot have changed."""
    digest = current_digest(dataset)
    if digest is not None:
        # Looked for while no row is locked: a file server may be slow.
        done = not dataset.is_remote and stored_fits.stored(dataset.pk, digest) is not None
        _queue(dataset, digest, done=done)


@transaction.atomic
def _queue(dataset: Dataset, digest: str, *, done: bool) -> None:
    job, new = Fit.objects.select_for_update().get_or_create(dataset=dataset, defaults={"asked": digest})
    if not new:
        if job.asked == digest and (job.active or done):
            return
        storage.delete_once_committed(stored_fits.name_of(dataset.pk, job.asked))
        Fit.objects.filter(dataset=dataset).update(asked=digest, **reset_fields())
    FITS.hint_on_commit(dataset.pk)


def why_not(dataset: Dataset, person: User) -> str:
    """Why a person cannot look; empty if they can."""
    if not dataset.has_records:
        return _("This dataset has no records to look at.")
    return why_true_counts_hidden(dataset, person)


def shown(dataset: Dataset, to: User) -> TableFit | None:
    """The fit to what is declared now; true numbers, so that they are shown is recorded."""
    result = current(dataset)
    if result is not None:
        audit.record(to, "viewed the fit", dataset)
    return result


def current(dataset: Dataset) -> TableFit | None:
    """The fit to what is declared now; None if nobody looked since."""
    digest = current_digest(dataset)
    return None if digest is None else stored_fits.stored(dataset.pk, digest)


def shown_warnings(dataset: Dataset, columns: Collection[str], to: User) -> list[FitWarning] | None:
    """Where more than 1 % of the rows do not fit these columns or the limit of each person's rows.

    True numbers, for the curator's eyes: that they are shown is recorded. None if nobody looked since the last change;
    to whoever may see no true number, nothing is shown.
    """
    if why_true_counts_hidden(dataset, to):
        return []
    warnings = _warnings(dataset, columns)
    if warnings:
        audit.record(to, "viewed the fit", dataset)
    return warnings


def mostly_misfits(dataset: Dataset, columns: Collection[str], to: User) -> list[str]:
    """The columns in which half of the rows, or more, fit nothing declared; none if nobody looked.

    Nor are there any for whoever may see no true number: whether they are asked about one would tell it.
    """
    if why_true_counts_hidden(dataset, to):
        return []
    return [w.column for w in _warnings(dataset, columns) or [] if w.column and w.share >= MOST]


def _warnings(dataset: Dataset, columns: Collection[str]) -> list[FitWarning] | None:
    result = current(dataset)
    if result is None:
        return None
    beyond = result.persons.beyond + result.persons.without if result.persons else 0
    misfits = [(column.unplaced, column.column) for column in result.columns if column.column in columns]
    warnings = [FitWarning(rows / max(1, result.rows), column) for rows, column in [*misfits, (beyond, "")]]
    return [warning for warning in warnings if warning.share > WARN_ABOVE]
