"""The two people and the dataset that most tests begin with: made once for those of a file that follow each other.

They lie in a transaction around those tests, each of which is taken back to where it began. What a test is given are
copies of its own.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from dpportal.accounts.models import Role, User
from dpportal.datasets import records
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from tests.dpportal import building

# The fixtures that give it to a test, if no other file has its own under their names.
FIXTURES = ("dataset", "curator", "administrator")
HERE = "tests/dpportal"


@dataclass(frozen=True)
class Members:
    """The curator's stored table with a budget of ε = 1."""

    curator: User
    administrator: User
    dataset: Dataset


def made() -> Members:
    curator = building.person("curator", Role.CURATOR)
    administrator = building.person("administrator", Role.ADMINISTRATOR)
    dataset = building.granted(building.stored_dataset(curator), administrator)
    return Members(curator, administrator, dataset)


class SmallWorld:
    """One for each process. of_test: the members that the running test was given, or None where it makes its own."""

    def __init__(self) -> None:
        self.of_test: Members | None = None
        self._members: Members | None = None
        self._module: ModuleType | None = None
        self._transaction: transaction.Atomic | None = None
        self._files: dict[str, bytes] = {}

    def prepare(self, item: pytest.Function) -> None:
        """Before the transaction of a test: let there be the world if it begins with that, and else none."""
        begins_with_it = _begins_with_it(item) and _is_on_disk()
        if self._module is not item.module or not begins_with_it:
            self.end()
        if begins_with_it and self._members is None:
            self._begin(item.module)
        self.of_test = copy.deepcopy(self._members)

    def end(self) -> None:
        """Take it back."""
        if self._transaction is not None:
            transaction.set_rollback(True)
            self._transaction.__exit__(None, None, None)
        self._members = self._module = self._transaction = self.of_test = None

    def stored(self) -> Dataset:
        """The dataset of a test, with its files where that test has files: what another has left there is gone."""
        assert self.of_test is not None
        storage.delete_all(records.folder(self.of_test.dataset.pk))
        for name, content in self._files.items():
            default_storage.save(name, ContentFile(content))
        return self.of_test.dataset

    def _begin(self, module: ModuleType) -> None:
        self._transaction = transaction.atomic()
        # As those of Django's own test cases: code that looks for a transaction of its own finds none.
        self._transaction._from_testcase = True
        self._transaction.__enter__()
        self._members, self._module = made(), module
        name = self._members.dataset.table
        self._files = {name: Path(default_storage.path(name)).read_bytes()}
        storage.delete_all(records.folder(self._members.dataset.pk))


def _is_on_disk() -> bool:
    """Whether files lie in a folder, and not in a store of objects that a test has for itself."""
    try:
        return bool(default_storage.path("any"))
    except NotImplementedError:
        return False


def _begins_with_it(item: pytest.Function) -> bool:
    """Whether a test in one transaction takes the dataset of all tests, rather than one of its file's."""
    marker = item.get_closest_marker("django_db")
    has_transactions = marker is not None and (marker.args or marker.kwargs)
    if has_transactions or {"transactional_db", "live_server"} & set(item.fixturenames):
        return False
    definitions = item._fixtureinfo.name2fixturedefs
    return all(name in definitions and definitions[name][-1].baseid == HERE for name in FIXTURES)
