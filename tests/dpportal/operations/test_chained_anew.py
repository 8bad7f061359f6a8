"""A history that the database's owner changed and chained anew: checkpoints and the memory say otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry
from dpportal.history import chain, checkpoints, heads
from dpportal.history.models import Link
from dpportal.history.verification import verify
from dpportal.operations import restore_check, sweeping
from tests.dpportal.history.test_chain import unguarded
from tests.dpportal.operations.test_verification import _own_files, refused, said  # noqa: F401 (a fixture)


def chained_anew(change: Callable[[], object]) -> None:
    """What the database's owner can do: change lines, and compute all digests again."""
    events = list(Link.objects.order_by("position").values_list("event", "line"))
    with unguarded():
        change()
        Link.objects.all().delete()
        for event, line in events:
            source = chain.sources[event]
            if row := source.rows().filter(pk=line).first():
                chain.add(source, row)


def test_a_history_that_was_chained_anew_is_seen_and_its_first_line_named(dataset, curator):
    for number in range(5):
        audit.record(curator, f"act {number}", curator)
    checkpoints.write_if_due()
    forged = AuditEntry.objects.get(action="act 3")
    chained_anew(lambda: AuditEntry.objects.filter(pk=forged.pk).update(detail="not so"))
    verify()  # the chain alone says nothing
    position = Link.objects.get(event="audit", line=forged.pk).position
    assert f"Link {position}, audit {forged.pk}, is the first that is not as checkpoint-" in refused()


def test_a_line_between_two_checkpoints_is_named(dataset, curator, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY_LINES", 1)
    for number in range(3):
        audit.record(curator, f"act {number}", curator)
        checkpoints.write_if_due()
    forged = AuditEntry.objects.get(action="act 1")
    chained_anew(lambda: AuditEntry.objects.filter(pk=forged.pk).update(detail="not so"))
    assert f"audit {forged.pk}, is the first" in refused()
    checkpoints.written()[1].unlink()
    assert (
        f"A line up to link {Link.objects.get(event='audit', line=forged.pk).position + 1} is not"
        in refused()
    )


def test_a_tail_that_was_cut_off_is_seen(dataset, curator):
    audit.record(curator, "last", curator)
    checkpoints.write_if_due()
    length = checkpoints.length()
    with unguarded():
        Link.objects.filter(position=length).delete()
        AuditEntry.objects.filter(action="last").delete()
    verify()
    assert f"The history ends at link {length - 1}, and checkpoint-" in refused()


def test_a_tail_that_was_cut_off_in_the_database_alone_is_seen_without_a_checkpoint(
    dataset, curator, settings
):
    audit.record(curator, "last", curator)
    sweeping.sweep_jobs()
    for path in checkpoints.written():
        path.unlink()
    length = checkpoints.length()
    with unguarded():
        Link.objects.filter(position=length).delete()
        AuditEntry.objects.filter(action="last").delete()
    audit.record(curator, "another in its place", curator)
    sweeping._keep_head()  # what the chain lacks is not written over
    lines = refused()
    assert f"Link {length} of {length} is not the one that the portal's memory has" in lines
    assert "went on since, or somebody changed an earlier line" in lines and "--since FILE" in lines
    restore_check.accept()
    assert "All agrees" in said()


def test_a_chain_that_is_shorter_than_the_memory_may_be_an_older_copy_or_cut_off(dataset, curator):
    audit.record(curator, "last", curator)
    sweeping._keep_head()
    length = checkpoints.length()
    with unguarded():
        Link.objects.filter(position=length).delete()
        AuditEntry.objects.filter(action="last").delete()
    lines = refused()
    assert f"ends at link {length - 1}, and the portal's memory has link {length}. Either" in lines
    assert "Only if it agrees" in lines


@pytest.mark.parametrize("take", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["gone", "empty"])
def test_a_history_made_anew_whose_head_was_taken_out_of_the_memory_is_seen(
    dataset, curator, memory_of_its_own, take
):
    """The sweep goes on meanwhile, and writes its checkpoints of the new chain."""
    audit.record(curator, "spent all", curator)
    sweeping.sweep_jobs()
    for path in checkpoints.written():
        path.unlink()
    chained_anew(lambda: AuditEntry.objects.filter(action="spent all").update(action="spent nothing"))
    take(memory_of_its_own / heads.NAME)
    for _ in range(2):
        sweeping.sweep_jobs()
    assert "does not say any more how far the history is: its file history/head" in refused()
    restore_check.accept()
    assert "All agrees" in said()


def test_a_head_that_was_written_over_is_seen_and_a_word_replaces_it(dataset, memory_of_its_own):
    (memory_of_its_own / heads.NAME).write_bytes(b"not sealed by the portal")
    assert "history/head" in refused()
    restore_check.accept()
    assert "All agrees" in said()
