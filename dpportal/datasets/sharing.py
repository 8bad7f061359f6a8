"""A curator gives others a right to a dataset, and takes it back: each both or neither, and recorded.

What a person asked for stays when their right is taken back: releases, running counts and drafts are the dataset's.
What waits in the queue for them ends without spending, and their programs' tokens open nothing any more.
"""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import CAME_FROM, clause
from dpportal.accounts.models import AuditEntry, Role, User
from dpportal.datasets import services
from dpportal.datasets.access import require_offered, right_of
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, Right, Share
from dpportal.jobs.clock import db_ago

NOBODY = gettext_noop("named nobody to share with")
# As the audit record names them.
RIGHTS = {
    Right.SEE: gettext_noop("see"),
    Right.RELEASE: gettext_noop("release"),
    Right.OWN: gettext_noop("own"),
}


def share(dataset: Dataset, name: str, right: Right, by: User) -> Share:
    """Give a right to the curator of this user name or e-mail address, in place of the one that they have.

    Raises DatasetError, after recording where nobody was found: names are not to be tried out.
    """
    _require_few_tries(by)
    person = _curator(name)
    if person is None:
        audit.record(by, NOBODY, dataset)
        raise DatasetError(
            _(
                "No curator of this portal has exactly this user name or e-mail address. Ask for it and try again."
            )
        )
    while True:
        with suppress(_SharedMeanwhileError):
            return _given(dataset, person, right, by)


class _SharedMeanwhileError(Exception):
    """A share came up before its dataset was locked: whoever releases by it locks it first, so all begins again."""


@transaction.atomic
def _given(dataset: Dataset, person: User, right: Right, by: User) -> Share:
    """The share, locked before its dataset where there is one. Raises DatasetError and _SharedMeanwhileError."""
    own = Share.objects.filter(dataset=dataset, person=person)
    is_locked = _lock(own, dataset)
    _require_owner(dataset, by)
    if person.pk in (dataset.owner_id, by.pk):
        raise DatasetError(_("This is an owner's own dataset already."))
    if right >= Right.RELEASE:
        require_offered(dataset, person, _not_offered)
    if not is_locked and own.exists():
        raise _SharedMeanwhileError
    given, _new = Share.objects.update_or_create(
        dataset=dataset, person=person, defaults={"right": right, "seen": False}
    )
    audit.record(by, "shared", dataset, _shared(person, right))
    return given


def _shared(person: User, right: int) -> str:
    text = gettext_noop("with %(name)s: %(right)s")
    return clause(text, name=person.get_username(), right=RIGHTS[Right(right)])


@transaction.atomic
def take_back(given: Share, by: User) -> None:
    """Take a right back, so that the dataset does not exist for them any more. One may give back one's own, too."""
    _lock(Share.objects.filter(pk=given.pk), given.dataset)
    if given.person_id != by.pk:
        _require_owner(given.dataset, by)
    given.delete()
    audit.record(by, "took back a share", given.dataset, clause(CAME_FROM, name=given.person.get_username()))


def _lock(shares: QuerySet[Share], dataset: Dataset) -> bool:
    """The share before the dataset, as whoever releases by that right locks them; False if there is no share."""
    is_locked = bool(list(shares.select_for_update()))
    services.lock_dataset(dataset)
    return is_locked


def _curator(name: str) -> User | None:
    """The one active curator of this name or address; of several with one address, none is meant."""
    if not name:
        return None
    curators = User.objects.filter(role=Role.CURATOR, is_active=True)
    matches = list(curators.filter(Q(username=name) | Q(email__iexact=name))[:2])
    return matches[0] if len(matches) == 1 else None


def _require_few_tries(by: User) -> None:
    tries = AuditEntry.objects.filter(by=by, action=NOBODY, at__gt=db_ago(24 * 3600)).count()
    if tries >= settings.SHARING_TRIES_PER_DAY:
        raise DatasetError(
            _("Today you named too many people who are not curators here. Try again tomorrow.")
        )


def _require_owner(dataset: Dataset, by: User) -> None:
    """Asked once more where it is done: the right can have been taken back since the page was shown."""
    if right_of(by, dataset) < Right.OWN:
        raise DatasetError(_("Only an owner of a dataset shares it."))


def _not_offered(_text: str) -> DatasetError:
    return DatasetError(
        _(
            "The table of this dataset lies in another database, and administrators do not offer it to this person. "
            "Share it for seeing only, or ask an administrator."
        )
    )
