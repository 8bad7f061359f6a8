"""An older copy of the database is put back: nothing that people have seen is drawn again, no charge is forgotten.

In order: each test goes on from where the one before it left the portal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.dpportal.restoring.conftest import Desk

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]


@dataclass(frozen=True)
class Before:
    """What there was when the copy was made, and what people saw after that."""

    tree: str
    one_more: str
    one_more_series: list[list[int]]
    asked: str
    queued: str
    queued_digest: str
    datasets: dict[str, str]
    draft: str
    waiting: str
    waiting_digest: str
    newer: str


@pytest.fixture(scope="module")
def before(desk: Desk) -> Before:
    """Streams and releases go on after the database was copied; then the copy is put back."""
    names = ("streams", "one more", "asked", "queued", "drafted", "both")
    datasets = {name: desk.ask("dataset", name) for name in names}
    tree = desk.ask("opened", datasets["streams"], "binary-tree", "0.5")
    one_more = desk.ask("opened", datasets["one more"], "binary-tree", "0.5")
    asked = desk.ask("requested_opening", datasets["asked"])
    for stream in (tree, one_more):
        desk.ask("publish", stream, 1, 5)
    queued, draft = desk.ask("drafted", datasets["queued"]), desk.ask("drafted", datasets["drafted"])
    waiting = desk.ask("drafted", datasets["both"])
    assert desk.ask("confirmed", queued) == desk.ask("confirmed", waiting) == ""

    desk.copy_database()
    for index, count in enumerate((3, 4, 7), 2):
        desk.ask("publish", tree, index, count)
    desk.ask("publish", one_more, 2, 8)
    assert desk.ask("open_requested", asked)[:2] == ["open", "done"]
    desk.ask("publish", asked, 1, 5)
    digest = desk.ask("executed", queued)[3]
    assert desk.ask("confirmed", draft) == ""
    assert desk.ask("executed", draft)[0] == "ready"
    newer = desk.ask("drafted", datasets["both"])
    assert desk.ask("confirmed", newer) == ""
    assert desk.ask("executed", newer)[0] == "ready"
    waiting_digest = desk.ask("executed", waiting)[3]
    datasets["newer"] = desk.ask("dataset", "Newer than the copy")
    desk.ask("opened", datasets["newer"], "fda", "0.25")
    seen = desk.ask("series", one_more)

    desk.put_back()
    assert [len(desk.ask("series", stream)) for stream in (tree, one_more)] == [1, 1]
    series = (tree, one_more, seen, asked)
    return Before(*series, queued, digest, datasets, draft, waiting, waiting_digest, newer)


def test_nothing_is_drawn_again_even_before_anybody_looked(desk: Desk, before: Before) -> None:
    """The attack: 3, 4 and 7 as the same period of one restored state gave their differences."""
    for count in (3, 4, 7):
        assert "put back from an older copy" in desk.ask("publish", before.tree, 2, count)
    assert len(desk.ask("series", before.tree)) == 1


def test_nothing_is_charged_to_a_ledger_that_lacks_charges(desk: Desk, before: Before) -> None:
    refusal = desk.ask("confirmed", desk.ask("drafted", before.datasets["drafted"]))
    assert "lacks 1 charges of drafted" in refusal and "Health" in refusal
    assert desk.ask("account", before.datasets["drafted"]) == ["5", "0", "0"]


def test_whoever_starts_the_portal_is_told_and_streams_are_closed(desk: Desk, before: Before) -> None:
    said = desk.manage("check_restored")
    assert "drafted: ε = 0.10, Colours by age" in said
    assert "Newer than the copy (the dataset itself is missing): ε = 0.25, Red ones so far" in said
    assert said.count("Closed, since people have seen") == 1
    assert desk.ask("stream_state", before.tree) == ["closed", True, False]
    assert "put back from an older copy" in desk.ask("publish", before.tree, 2, 3)
    # Told once; the page Health goes on telling.
    assert "Closed" not in desk.manage("check_restored")


def test_one_step_behind_goes_on_with_the_same_answer(desk: Desk, before: Before) -> None:
    """It cannot be told from a crash between memory and database, and what was decided is kept."""
    assert desk.ask("stream_state", before.one_more) == ["open", False, True]
    assert desk.ask("publish", before.one_more, 2, 9) == [before.one_more_series[1][1], False]
    assert desk.ask("series", before.one_more) == before.one_more_series
    assert desk.ask("publish", before.one_more, 2, 8) == [before.one_more_series[1][1], False]
    assert desk.ask("publish", before.one_more, 3, 1)[1]


def test_a_stream_that_people_saw_is_not_opened_anew(desk: Desk, before: Before) -> None:
    state, job, failure = desk.ask("open_requested", before.asked)
    assert (state, job) == ("failed", "failed") and "Open a new running count" in failure
    # What was seen stays spent.
    assert desk.ask("account", before.datasets["asked"]) == ["5", "0.5", "0"]


def test_a_release_is_not_measured_again(desk: Desk, before: Before) -> None:
    assert desk.ask("executed", before.queued) == ["ready", "done", "spent", before.queued_digest, ""]


def test_no_file_that_the_memory_names_is_swept(desk: Desk, before: Before) -> None:
    files = [
        desk.world.files / "releases" / release / "measurement" for release in (before.waiting, before.newer)
    ]
    measured = [list(folder.rglob("*.npy")) for folder in files]
    desk.ask("sweep_files")
    assert [list(folder.rglob("*.npy")) for folder in files] == measured and all(measured)


def test_a_measured_release_waits_until_missing_charges_are_entered(desk: Desk, before: Before) -> None:
    assert desk.ask("executed", before.waiting) == ["requested", "queued", "reserved", "", ""]
    desk.ask("enter_missing", before.datasets["both"])
    done = ["ready", "done", "spent", before.waiting_digest, ""]
    assert desk.ask("executed", before.waiting) == done
    assert desk.ask("account", before.datasets["both"]) == ["5", "0.2", "0"]


def test_missing_charges_are_entered_and_work_goes_on(desk: Desk, before: Before) -> None:
    dataset = before.datasets["drafted"]
    desk.ask("enter_missing", dataset)
    assert desk.ask("account", dataset) == ["5", "0.1", "0"]
    assert "Make a new draft" in desk.ask("confirmed", before.draft)
    again = desk.ask("drafted", dataset)
    assert desk.ask("confirmed", again) == ""
    assert desk.ask("executed", again)[0] == "ready"
    desk.ask("enter_missing", before.datasets["newer"])
    assert desk.manage("check_restored") == "Database and memory agree.\n"


def test_a_lost_memory_stops_publishing_until_an_administrator_confirms(desk: Desk, before: Before) -> None:
    desk.memory.rename(desk.memory.with_name("elsewhere"))
    refusal = desk.ask("publish", before.one_more, 4, 1)
    assert "memory is missing" in refusal and "check_restored --accept" in refusal
    assert "check_restored --accept" in desk.ask("confirmed", desk.ask("drafted", before.datasets["drafted"]))
    assert "memory is lost" in desk.manage("check_restored")
    assert desk.manage("check_restored", "--accept") == "Database and memory agree.\n"
    assert desk.ask("publish", before.one_more, 4, 1)[1]


def test_a_memory_that_was_edited_or_swapped_is_noticed(desk: Desk, before: Before) -> None:
    kept = newest(desk, before.one_more)
    sealed = kept.read_bytes()
    charges = (desk.memory / "charges").glob("*/*")
    swapped = next(content for path in charges if (content := path.read_bytes()))
    for other in (sealed[:-1] + bytes([sealed[-1] ^ 1]), swapped):
        kept.write_bytes(other)
        assert "memory was changed" in desk.ask("publish", before.one_more, 5, 1)
        assert f"one more: {'Red ones so far'}" in desk.manage("check_restored")
    kept.write_bytes(sealed)
    assert desk.ask("publish", before.one_more, 5, 1)[1]


def newest(desk: Desk, stream: str) -> Path:
    """The file that decided a stream's newest periods."""
    files = (desk.memory / "streams" / stream).iterdir()
    return max((path for path in files if path.name.isdigit()), key=lambda path: int(path.name))
