"""Rights to datasets: the one place that says what a curator may do with one, and with what is made of it.

To everyone without the right a dataset does not exist. Whoever may see it reads the declaration, the ledger and what
was released, public or not: no row, no true count, and not how many rows there are. Whoever may release also drafts,
spends the budget, looks at true counts and publishes, but sees no row. An owner does all, and shares on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext, gettext_noop

from dpportal.accounts.models import User
from dpportal.accounts.permissions import FORMER_OWNER, View, require_publisher, unchanging
from dpportal.datasets.models import Dataset, Datasets, Right, Share
from dpportal.history import watched
from dpportal.publications.draft import Publication
from dpportal.tables.connections.models import SharedTable

P = TypeVar("P", bound=Publication)
T = TypeVar("T")
Opened = Callable[Concatenate[HttpRequest, T, ...], HttpResponseBase]

TAKEN_BACK = gettext_noop(
    "Whoever asked for this may not release from this dataset any more, so nothing is published or spent for them."
)
NOT_OWNED = gettext_noop("Whoever asked does not own this dataset any more.")
NOT_OFFERED = gettext_noop(
    "The table of this dataset lies elsewhere and is not offered to whoever asked for this. Ask an administrator."
)


def open_datasets(request: HttpRequest, right: Right = Right.SEE) -> Datasets:
    """The datasets that the visitor may see, or may do more with; none for anyone who is not a curator."""
    user = request.user
    if isinstance(user, User) and user.is_curator:
        return Dataset.objects.open_to(user, right)
    return Dataset.objects.none()


def replaceable_datasets(request: HttpRequest) -> Datasets:
    """The datasets whose publications the visitor may replace by another one."""
    return open_datasets(request, Right.RELEASE)


def dataset_for(request: HttpRequest, dataset_id: UUID, right: Right) -> Dataset:
    """A dataset to which the visitor has at least this right, or 404."""
    datasets = open_datasets(request, right).select_related("conversion").prefetch_related("budgets")
    dataset = with_right(request, get_object_or_404(datasets, pk=dataset_id))
    _require_right(dataset, right)
    return dataset


def _require_right(dataset: Dataset, right: Right) -> None:
    if dataset.right < right:
        raise Http404


def opening(find: Callable[[HttpRequest, UUID], T]) -> Callable[[Opened[T]], View]:
    """A decorator of views that get what their address names instead of its id. find: raises 404 for strangers."""

    def decorated(view: Opened[T]) -> View:
        @wraps(view)
        def opened(request: HttpRequest, **ids: Any) -> HttpResponseBase:
            first = next(iter(ids))
            return view(request, find(request, ids.pop(first)), **ids)

        return opened

    return decorated


def with_dataset(right: Right) -> Callable[[Opened[Dataset]], View]:
    """For views of a dataset to which the visitor has at least this right; to everyone else it is 404."""
    return opening(lambda request, dataset_id: dataset_for(request, dataset_id, right))


def with_right(request: HttpRequest, dataset: Dataset) -> Dataset:
    """The same dataset, which then knows what the visitor may do with it."""
    return _knowing(request, dataset, right_of)


def with_listed_right(request: HttpRequest, dataset: Dataset) -> Dataset:
    """The same in a list, by what rows say alone, in no more statements however long it is. Pages ask `with_right`."""
    return _knowing(request, dataset, _listed_right_of)


def _knowing(request: HttpRequest, dataset: Dataset, right: Callable[[User, Dataset], int]) -> Dataset:
    user = request.user
    if isinstance(user, User) and user.is_curator:
        dataset.right = right(user, dataset)
    return dataset


def right_of(person: User, dataset: Dataset) -> int:
    """0 for a stranger, and for whoever was made owner or given a share past the portal."""
    if dataset.owner_id == person.pk:
        return Right.OWN if watched.is_written(dataset, "owner_id") and dataset.owner_id == person.pk else 0
    share = Share.objects.filter(dataset=dataset, person=person).first()
    return share.right if share and watched.is_written(share) else 0


def _listed_right_of(person: User, dataset: Dataset) -> int:
    if dataset.owner_id == person.pk:
        return Right.OWN
    return Share.objects.filter(dataset=dataset, person=person).values_list("right", flat=True).first() or 0


def own_publication(request: HttpRequest, rows: QuerySet[P], publication_id: UUID) -> P:
    """One of the rows, a draft too, of a dataset that the visitor may release from; or 404."""
    own = rows.filter(dataset__in=open_datasets(request, Right.RELEASE))
    publication = get_object_or_404(own, pk=publication_id)
    _require_right(with_right(request, publication.dataset), Right.RELEASE)
    if publication.requested_at is not None and not watched.is_written(publication, "dataset_id"):
        raise Http404
    return publication


def may_read(request: HttpRequest, publication: Publication) -> bool:
    """Whether the visitor may see what is there to publish: of a dataset open to them, or public."""
    right = with_right(request, publication.dataset).right
    is_public = publication.is_public and watched.is_written(publication, "published_at", "withdrawn_at")
    is_own = right > 0 and watched.is_written(publication, "dataset_id")
    return publication.is_publishable and (is_public or is_own)


def shows_own(request: HttpRequest) -> bool:
    """Whether a list shows what is open to the visitor, rather than what everyone sees."""
    user = request.user
    is_curator = isinstance(user, User) and user.is_curator
    return is_curator and request.GET.get("show") != "published"


def require_releaser(dataset: Dataset, user_id: int, refused: Callable[[str], Exception]) -> None:
    """Raise `refused` unless this person may release from the dataset now, asked in the transaction that does.

    Until it ends, nobody takes that right from them.
    """
    if dataset.owner_id == user_id and watched.is_written(dataset, "owner_id"):
        require_publisher(user_id, refused)
        return
    [person] = unchanging(User.objects.filter(pk=user_id))
    share = Share.objects.select_for_update(no_key=True).filter(dataset=dataset, person=person).first()
    is_given = share is not None and share.right >= Right.RELEASE and watched.is_written(share)
    if not is_given or not person.may_publish:
        raise refused(gettext(TAKEN_BACK))
    require_offered(dataset, person, refused)
    require_owner(dataset, refused)


def require_declarer(dataset: Dataset, user_id: int, refused: Callable[[str], Exception]) -> None:
    """The same unless this person may declare columns, too: as an owner."""
    require_releaser(dataset, user_id, refused)
    shares = Share.objects.filter(dataset=dataset, person=user_id, right=Right.OWN)
    if dataset.owner_id != user_id and not shares.exists():
        raise refused(gettext(NOT_OWNED))


def require_owner(dataset: Dataset, refused: Callable[[str], Exception]) -> None:
    """Raise `refused` unless somebody who may publish answers for the dataset; none is changed in this transaction."""
    co_owners = dataset.shares.filter(right=Right.OWN).values_list("person", flat=True)
    owners = unchanging(User.objects.filter(pk__in=[dataset.owner_id, *co_owners]))
    if not any(person.may_publish for person in owners):
        raise refused(gettext(FORMER_OWNER))


def require_offered(dataset: Dataset, person: User, refused: Callable[[str], Exception]) -> None:
    """Sharing a dataset opens no table of another database that administrators do not offer to this person."""
    if not is_offered(dataset, person):
        raise refused(gettext(NOT_OFFERED))


def is_offered(dataset: Dataset, person: User) -> bool:
    """Whether a person may have the dataset's table counted; of an upload, always."""
    source = dataset.source_id
    return source is None or SharedTable.offered_to(person).filter(pk=source).exists()


def why_true_counts_hidden(dataset: Dataset, person: User) -> str:
    """Why somebody with whom a dataset is shared is shown no true number of it; empty if they are."""
    shown = dataset.owner_id == person.pk or is_offered(dataset, person)
    return "" if shown else gettext(NOT_OFFERED)
