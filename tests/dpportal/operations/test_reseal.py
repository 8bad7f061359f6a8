"""A new key: what former ones sealed opens, is sealed anew by one command, and then needs the former ones no more."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dpportal.budgets import ledger
from dpportal.budgets.charge_journal import charges_of
from dpportal.datasets.models import Conversion
from dpportal.history import heads
from dpportal.operations import reseal
from dpportal.platform import journal
from dpportal.platform.keys import Keyring, key_id
from dpportal.publications import withdrawal_journal
from dpportal.releases import execution, services
from dpportal.streams import vault
from dpportal.streams.execution import Update, publish
from tests.dpportal import building
from tests.dpportal.streams.building import open_stream
from tests.dpportal.streams.true_sums import true_sums

OLD, NEW = "old " * 15, "new " * 15

pytestmark = pytest.mark.django_db


@pytest.fixture
def old(settings, dataset):
    """A stream with a period and a release, all sealed with the old key; returns the stream."""
    mark = journal.mark()
    settings.STREAM_KEYS = Keyring(OLD)
    journal.replace(journal.MARK, {"mark": mark})
    heads.renew()
    stream = open_stream(dataset, amount="0.25")
    publish(stream.pk, [Update(1, (5,), "typed")])
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    services.publish(release, dataset.owner)
    services.withdraw(release, dataset.owner, "A mistake")
    dataset.save()
    Conversion.objects.update(failure="")
    return stream


def resealed() -> str:
    said = StringIO()
    call_command("reseal", stdout=said)
    return said.getvalue()


@pytest.mark.django_db(transaction=True)
def test_after_one_command_the_former_key_is_needed_no_more(old, settings):
    settings.STREAM_KEYS = Keyring(NEW, OLD)
    publish(old.pk, [Update(2, (3,), "typed")])
    said = resealed()
    assert f"all is sealed with the key {key_id(NEW)}" in said
    for kind in ("datasets.dataset.rows", "releases.artifact.sha256", "true sums", "memory"):
        assert kind in said
    settings.STREAM_KEYS = Keyring(NEW)
    old.dataset.refresh_from_db()
    assert old.dataset.rows == building.ROWS
    release = old.dataset.releases.get()
    assert len(release.measurement_sha256) == 64
    assert withdrawal_journal.withdrawal_of(release.pk).because == "A mistake"
    assert true_sums(old.periods.all()) == [[5], [8]]
    assert len(charges_of(old.dataset_id)) == 2
    ledger.require_complete(old.dataset)
    assert publish(old.pk, [Update(3, (1,), "typed")])[0].new


def test_what_is_done_stays_done_when_it_is_interrupted_and_repeated(old, settings, monkeypatch):
    settings.STREAM_KEYS = Keyring(NEW, OLD)
    with monkeypatch.context() as power, pytest.raises(KeyboardInterrupt):
        power.setattr(vault, "reseal_sums", _interrupted)
        reseal.reseal()
    assert "datasets.dataset.rows" not in resealed()
    assert resealed().startswith("0 sealed anew")


def _interrupted(_row):
    raise KeyboardInterrupt


def test_a_key_that_is_missing_is_named(old, settings):
    settings.STREAM_KEYS = Keyring(NEW)
    with pytest.raises(
        CommandError, match=f"sealed with the key {key_id(OLD)}, which the portal does not have"
    ):
        resealed()
    # Pages go on, and what cannot be opened is not lost.
    old.dataset.refresh_from_db()
    assert str(old.dataset.rows) == "–"
    old.dataset.save()
    settings.STREAM_KEYS = Keyring(NEW, OLD)
    old.dataset.refresh_from_db()
    assert old.dataset.rows == building.ROWS
