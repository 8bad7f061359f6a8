"""What was withdrawn, as it is remembered outside the database: a numbered file for each change of its publicity.

A database that was put back from an older copy has publications as public that people have taken back since. The
newest file of a publication says how it was left: withdrawn, and why, or public again. Of one that was never withdrawn
there is none. A file is created once the transaction has committed that it tells of, so a commit that fails leaves
nothing here; where somebody dies between the two, the next look remembers what the database says. Whether that is older
or newer than a withdrawal here, the times of both tell.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.publications.draft import Publication

FOLDER = "withdrawn"


@dataclass(frozen=True)
class Withdrawal:
    """How a publication was left. published_at, withdrawn_at: in ISO's form. because: what stands in place of it."""

    published_at: str
    withdrawn_at: str
    because: str

    @classmethod
    def of(cls, publication: Publication) -> Withdrawal:
        """That of one which is withdrawn in the database."""
        published, withdrawn = publication.published_at, publication.withdrawn_at
        assert published is not None and withdrawn is not None
        return cls(published.isoformat(), withdrawn.isoformat(), publication.withdrawn_because)

    @property
    def at(self) -> datetime:
        return datetime.fromisoformat(self.withdrawn_at)

    def is_newer(self, than: datetime | None) -> bool:
        """Whether it was withdrawn so after a moment; True where there is none."""
        return than is None or self.at > than

    @property
    def fields(self) -> dict[str, datetime | str]:
        """What a withdrawn publication has in the database."""
        return {
            "published_at": datetime.fromisoformat(self.published_at),
            "withdrawn_at": self.at,
            "withdrawn_because": self.because,
        }


def withdrawal_of(publication_id: UUID) -> Withdrawal | None:
    """How it was withdrawn; None where it never was, or is public again. Raises MemoryFaultError."""
    newest = _newest(publication_id)
    content = journal.recall(_name(publication_id, newest)) if newest else {"withdrawal": None}
    if not content:  # emptied, which nothing of the portal does
        raise MemoryFaultError(journal.remedy())
    return Withdrawal(**content["withdrawal"]) if content["withdrawal"] else None


def remember(publication_id: UUID, withdrawal: Withdrawal | None) -> None:
    """Remember that it is withdrawn, or with None that it is public again, whatever was remembered before.

    In a transaction that holds its row, which says so. Raises MemoryFaultError.
    """
    number, content = _newest(publication_id) + 1, {"withdrawal": asdict(withdrawal) if withdrawal else None}
    while not journal.create(_name(publication_id, number), content):
        number += 1


def known_ids() -> set[UUID]:
    """Which publications were ever withdrawn. Raises MemoryFaultError."""
    return {UUID(name) for name in journal.names(FOLDER)}


def _newest(publication_id: UUID) -> int:
    """The number of its newest file, 0 if there is none: numbers go on, since no file is ever written over."""
    return max(map(int, journal.names(f"{FOLDER}/{publication_id}")), default=0)


def _name(publication_id: UUID, number: int) -> str:
    return f"{FOLDER}/{publication_id}/{number}"
