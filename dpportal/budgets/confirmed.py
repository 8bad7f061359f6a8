"""Whether what is drawn or signed is what was confirmed and paid for, whatever the database says meanwhile.

Whoever has the database alone can change rows for the moment in which a worker reads them: a plan with less noise would
tell true counts. A worker therefore compares what it holds in memory with digests that only the portal's key makes.
"""

from __future__ import annotations

from fractions import Fraction

from django.db import models

from dpportal.budgets import ledger_lines
from dpportal.budgets.account_amounts import require_amounts
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import frozen_declarations
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.datasets.sealing import owner_of
from dpportal.history import chain, watched
from dpportal.history.imprints import ForgedRowError
from dpportal.platform.json_digest import json_digest
from mechanisms.accounting import Loss

# Fields of a dataset that say which rows are counted, and how they are read.
TABLE = ("table", "source_id", "relations", "options")


def require_stored(
    publication: type[models.Model], key: object, plan: object, refused: type[Exception]
) -> None:
    """Raise `refused` unless the plan is stored as it was written just now, before anything is done by it.

    plan: as JSON. A trigger that somebody added could have changed it on its way.
    """
    stored = publication._base_manager.values_list("plan_json", flat=True).get(pk=key)
    if json_digest(stored) != json_digest(plan):
        raise refused(str(ForgedRowError(f"{publication._meta.model_name} {key}")))


def require_confirmed(publication: ChargedPublication, loss: Loss) -> None:
    """Raise ForgedRowError unless declaration and charge are what the portal wrote, and this loss was paid.

    publication: as `watched.written` gave it. loss: of the plan that it holds.
    """
    assert publication.domain_version is not None and publication.charge is not None
    require_paid(publication.charge, publication.pk, publication.domain_version, publication.dataset, loss)


def _require_pays(charge: LedgerEntry, key: object, dataset: Dataset) -> None:
    """Raise ForgedRowError unless a line is a charge for what has this key, of an account of the dataset."""
    is_own = (charge.key, charge.dataset_id, charge.budget.dataset_id) == (key, dataset.pk, dataset.pk)
    if not (is_own and charge.is_charge and charge.state != LedgerEntry.State.VOID):
        raise ForgedRowError(f"line {charge.pk}")


def require_paid(
    charge: LedgerEntry, key: object, version: DomainVersion, dataset: Dataset, loss: Loss
) -> None:
    """The same of a charge, a declaration and the dataset whose table is read: another's is not paid by this charge.

    key: of what is paid for.
    """
    watched.require_fields(dataset, *TABLE)
    if dataset.table and owner_of(dataset.table) != dataset.pk:
        raise ForgedRowError(f"dataset {dataset.pk}")
    frozen_declarations.require_written(version)
    watched.require_written(charge.budget)
    is_paid = (Fraction(charge.amount), Fraction(charge.delta), charge.budget.definition) == (
        loss.amount,
        loss.delta,
        loss.definition,
    )
    if not (is_paid and chain.is_linked(ledger_lines.LINE, charge)):
        raise ForgedRowError(f"line {charge.pk}")
    require_amounts([charge.budget])
    _require_pays(charge, key, dataset)
