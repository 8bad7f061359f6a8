"""People and things that most tests of the portal need."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import TransactionTestCase
from django.utils import translation

from dpportal.accounts.models import Role, User
from dpportal.datasets.models import Dataset
from dpportal.history import heads
from dpportal.jobs import broker, readiness
from dpportal.operations import restore_check
from dpportal.platform import journal, triggers
from dpportal.releases import execution
from dpportal.releases.models import Release
from tests.dpportal import building, recorded_acts
from tests.dpportal.small_world import SmallWorld

world = SmallWorld()


@pytest.fixture(scope="session", autouse=True)
def tables_can_be_emptied() -> Iterator[None]:
    """Tests with transactions of their own end with empty tables, which triggers refuse; then they are
    there again."""
    empty = TransactionTestCase._fixture_teardown

    def teardown(case: TransactionTestCase) -> None:
        for guard in triggers.guards.values():
            guard.remove("default")
        empty(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", teardown)
        yield


@pytest.fixture(scope="session", autouse=True)
def acts_are_recorded() -> Iterator[None]:
    with recorded_acts.watching():
        yield


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk() -> Iterator[None]:
    """What a test has written need not outlive a power cut; a killed process has lost nothing either way.

    Portals and workers that are processes of their own wait as they do anywhere.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        yield


@pytest.fixture(autouse=True)
def language_of_the_settings() -> Iterator[None]:
    """A visitor's language ends with the test in which somebody chose it."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def memory_of_its_own(django_db_setup, tmp_path_factory, settings) -> Path:
    """What a test has remembered goes with what it wrote to the database. The mark goes with the database itself."""
    cache.delete_many([restore_check.TROUBLES, broker.REACHABLE])
    readiness._latest.clear()
    journal.new_mark()
    heads.begin()
    folder: Path = tmp_path_factory.mktemp("memory")
    shutil.copy(settings.MEMORY_DIR / journal.MARK, folder / journal.MARK)
    (folder / heads.NAME).parent.mkdir()
    shutil.copy(settings.MEMORY_DIR / heads.NAME, folder / heads.NAME)
    settings.MEMORY_DIR = folder
    settings.CHECKPOINTS_DIR = tmp_path_factory.mktemp("checkpoints")
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    """Before the transaction of a test begins there is, around it, what it shares with the others of its file."""
    if fixturedef.argname == "_django_db_helper":
        blocker = request.getfixturevalue("django_db_blocker")
        with blocker.unblock():
            world.prepare(request._pyfuncitem)


@pytest.fixture(scope="session", autouse=True)
def world_ends(django_db_setup, django_db_blocker) -> Iterator[None]:
    yield
    with django_db_blocker.unblock():
        world.end()


@pytest.fixture
def curator(db) -> User:
    return world.of_test.curator if world.of_test else building.person("curator", Role.CURATOR)


@pytest.fixture
def other_curator(db) -> User:
    return building.person("other", Role.CURATOR)


@pytest.fixture
def administrator(db) -> User:
    return (
        world.of_test.administrator if world.of_test else building.person("administrator", Role.ADMINISTRATOR)
    )


@pytest.fixture
def analyst(db) -> User:
    return building.person("analyst", Role.ANALYST)


@pytest.fixture
def dataset(curator, administrator) -> Dataset:
    """The curator's stored table with a budget of ε = 1."""
    if world.of_test:
        return world.stored()
    return building.granted(building.stored_dataset(curator), administrator)


@pytest.fixture
def draft(dataset) -> Release:
    """A draft at ε = 0.1 with nothing left to choose."""
    return building.complete_draft(dataset)


@pytest.fixture
def requested(dataset) -> Release:
    """A confirmed release at ε = 0.1; its job is queued."""
    return building.requested_release(dataset)


@pytest.fixture
def ready(requested) -> Release:
    """A finished release, not published."""
    execution.RELEASES.run(requested.pk)
    requested.refresh_from_db()
    return requested
