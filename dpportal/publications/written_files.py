"""What the files of a publication say besides its numbers, and how long they stay once its page says something else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from dpportal.platform.json_digest import json_digest
from dpportal.platform.json_types import Json
from dpportal.publications.draft import Publication
from dpportal.publications.metadata import About


class TextDigests(NamedTuple):
    """Digests of what files say besides numbers.

    texts: of all but amounts. promises: of what closes them once it is another: what else people were promised, and
    what the dataset's owner permits to be said of it; empty without either. spending: of how much was spent beside.
    """

    texts: str
    promises: str
    spending: str


def promises_digest(others: Json, about: About) -> str:
    """See `TextDigests`. others: what else was promised, in facts."""
    promises = (others, about.facts())
    return json_digest(promises) if any(promises) else ""


@dataclass(frozen=True)
class WrittenFiles:
    """The present files of a publication. said: what they say; its texts are empty where there are none.

    known_at: when a worker read it, or readers were first given it, whichever is later; None where that is not known.
    has_failed: whether writing them anew failed.
    """

    digests: TextDigests
    known_at: datetime | None
    has_failed: bool

    def stay(self, publication: Publication, now: TextDigests) -> bool:
        """Whether readers are given them, until there are others where the page says something else by now.

        They are not where people were promised something else since, which no file may leave out, or where what they
        say of the dataset is permitted no more; where writing failed, since they would say for long what is not so any
        more; and where they were written before publication and other texts were published, since readers never knew
        what they say.
        """
        if not self.digests.texts or self.digests == now:
            return bool(self.digests.texts)
        if self.has_failed or self.digests.texts == now.texts:
            return not self.has_failed
        return self.digests.promises == now.promises and self._were_public(publication)

    def _were_public(self, publication: Publication) -> bool:
        """Whether what they say was for everyone, or is for nobody but curators now."""
        published = publication.published_at
        known = self.known_at is not None and published is not None and self.known_at >= published
        return not publication.is_public or known
