"""A database that earlier versions wrote verifies after an update; no new line passes for one of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest
from django.db import IntegrityError, transaction

from dpportal.accounts.models import AuditEntry, User
from dpportal.budgets import ledger
from dpportal.budgets.models import LedgerEntry
from dpportal.history import chain, eras, imprints
from dpportal.history.models import Era, Imprint, Link
from dpportal.history.verification import BrokenChainError, verify
from dpportal.operations import verification
from dpportal.releases.execution import RELEASES
from tests.dpportal import building
from tests.dpportal.history.test_chain import sql, unguarded

pytestmark = pytest.mark.django_db
# What the first version with imprints bound of some kinds; the others are newer.
FIRST = {
    "user": {"username", "role", "is_active", "is_staff", "is_superuser", "email", "password"},
    "declaration": {"dataset_id", "version", "neighbours", "unit_column", "max_rows", "ignore_case"},
    "files of release": set[str](),
}


@pytest.fixture
def earlier(dataset, curator) -> None:
    """A portal whose every line is of the first form that there was, before its update."""
    release = building.requested_release(dataset)
    RELEASES.run(release.pk)
    ledger.spend(building.requested_release(dataset).charge)
    with unguarded():
        events = list(Link.objects.exclude(event="era").order_by("position").values_list("event", "line"))
        Era.objects.all().delete()
        Link.objects.all().delete()
        Imprint.objects.exclude(kind__in=FIRST).delete()
        for imprint in Imprint.objects.all():
            imprint.digests = dict(_first(imprint))
            imprint.save()
        for event, line in events:
            link(event, line)


def _first(imprint: Imprint) -> Iterator[tuple[str, str]]:
    kind = imprints.kinds[imprint.kind]
    state: Mapping[str, object] = dict(kind.states([imprint.subject])).get(imprint.subject, {})
    for part, digest in imprint.digests.items():
        value = state.get(part)
        if part not in kind.parts and isinstance(value, list):
            yield part, imprints._digest(kind.name, imprint.subject, part, value[:2])
        elif part in FIRST[kind.name] or part not in kind.parts:
            yield part, digest


def link(event: str, line: int, form: int = 0) -> None:
    """Link a row in an earlier form, as whoever owns the database can."""
    source = chain.sources[event]
    if row := source.rows().filter(pk=line).first():
        place = Link(event=event, line=line, content=source.contents(row)[form])
        chain.place(place)
        place.save(force_insert=True)


def found() -> str:
    return "\n".join([*verification.broken_chain(), *imprints.differences()])


def test_what_earlier_versions_wrote_agrees_from_the_update_on(earlier, curator):
    assert "run manage.py migrate" in found()
    eras.begin()
    assert found() == ""
    assert Era.objects.get().bound.keys() == {"line", "settled"}
    User.objects.filter(pk=curator.pk).update(display_name="Known from now on")
    assert found() == ""
    links = Link.objects.count()
    eras.begin()  # once only
    assert Link.objects.count() == links


FORGERIES = {
    "an amount": (
        "UPDATE budgets_ledgerentry SET amount = 1 WHERE kind = 'charge'",
        "line .* says something",
    ),
    "a role": ("UPDATE accounts_user SET role = 'administrator' WHERE username = 'curator'", "^role of user"),
    "a file": (
        "UPDATE releases_artifact SET sha256 = 'x' WHERE name = 'README.md'",
        "^README.md of files of release",
    ),
    "no file": ("DELETE FROM releases_artifact WHERE name = 'README.md'", "^README.md of files of release"),
    "a column": (
        "UPDATE datasets_attributedeclaration SET declaration = '{}' WHERE \"column\" = 'age'",
        "^column age of declaration",
    ),
    "a person": (
        "INSERT INTO accounts_user SELECT 1000, password, last_login, is_superuser, 'mole', first_name, last_name, "
        "email, is_staff, is_active, date_joined, role, display_name, must_change_password, unseen_changes, language, "
        "browser_language "
        "FROM accounts_user WHERE username = 'curator'",
        "^user 1000 is not in the history",
    ),
}


def test_an_update_makes_no_forgery_true(earlier):
    """What was changed before it is named after it; what earlier lines do not hold is bound as it is."""
    for statement, words in FORGERIES.values():
        with transaction.atomic():
            sql(statement)
            eras.begin()
            assert re.search(words, found()), statement
            transaction.set_rollback(True)


def test_what_earlier_lines_lacked_is_bound_by_the_era(earlier):
    eras.begin()
    for statement, words in {
        "UPDATE budgets_budget SET definition = 'zcdp'": "A line before link .*, era .*, is not what it was",
        "UPDATE accounts_user SET display_name = 'Other'": "display_name of user",
        "UPDATE releases_artifact SET about = 'Other' WHERE name = 'README.md'": "README.md of files of release",
        "UPDATE history_era SET lines = '{}'": "era .* says something else",
    }.items():
        with transaction.atomic():
            sql(statement)
            assert re.search(words, found()), statement
            transaction.set_rollback(True)


def test_a_new_line_in_an_earlier_form_is_refused(dataset, administrator):
    """A grant that is linked without the kind of its loss."""
    building.granted(dataset, administrator)
    last = Link.objects.latest("position")
    assert last.event == "line"
    with unguarded():
        last.delete()
        link("line", last.line)
    with pytest.raises(BrokenChainError, match=r"line \d+ of link \d+ lacks what lines of its time hold"):
        verify()


def test_no_later_era_goes_back_to_an_earlier_form(dataset):
    """Not even if one follows that says what the present one said."""
    for forms in ({**eras.lines(), "line": 1}, eras.lines()):
        chain.add(eras.LINE, Era.objects.create(lines=forms, things=eras.bound_parts(), sealed=True))
    with pytest.raises(BrokenChainError, match="goes back to an earlier form"):
        verify()


def test_no_later_era_does_without_seals(dataset):
    chain.add(eras.LINE, Era.objects.create(lines=eras.lines(), things=eras.bound_parts()))
    with pytest.raises(BrokenChainError, match="goes back to an earlier form"):
        verify()


def test_links_of_before_there_were_seals_agree_and_none_comes_after_them(earlier, curator):
    """Those that an earlier version wrote have none; from the update on each has one."""
    eras.begin()
    assert found() == ""
    assert (
        not Link.objects.exclude(seal="").filter(position__lt=Link.objects.get(event="era").position).exists()
    )
    assert not Link.objects.filter(seal="", position__gte=Link.objects.get(event="era").position).exists()
    with transaction.atomic():
        link("audit", AuditEntry.objects.create(by=curator, action="agreed", subject="", detail="").pk, -1)
    assert "was not linked by the portal" in found()


def test_a_shorter_imprint_does_not_free_what_it_leaves_out(curator):
    last = Imprint.objects.filter(kind="user", subject=str(curator.pk)).latest("pk")
    kept = {part: digest for part, digest in last.digests.items() if part != "role"}
    chain.add(imprints.LINE, Imprint.objects.create(kind="user", subject=last.subject, digests=kept))
    sql("UPDATE accounts_user SET role = 'administrator' WHERE username = 'curator'")
    assert "role of user" in found()


def test_eras_stay(dataset):
    for forge in (Era.objects.all().delete, lambda: Era.objects.update(lines={})):
        with pytest.raises(IntegrityError, match="never changed or deleted"), transaction.atomic():
            forge()


def test_lines_say_today_what_they_said(dataset):
    """Whoever adds a fact to a line adds a form behind the others, and its names here."""
    entry = LedgerEntry.objects.latest("pk")
    first, second = (set(form(entry)) for form in chain.sources["line"].forms)
    assert second - first == {"of"}
    assert first == {
        *("dataset", "budget", "kind", "state", "amount", "reason", "key", "by", "at", "total_public")
    }
    assert eras.lines() == {"audit": 1, "era": 2, "imprint": 1, "line": 2, "settled": 2}
