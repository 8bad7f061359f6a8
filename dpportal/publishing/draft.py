"""From choices to the public: what releases and streams have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from datetime import datetime


class Publication(models.Model):
    """A draft whose choices are saved one by one, that is then paid for, shown, and perhaps withdrawn.

    A subclass has the fields dataset, state with the value DRAFT, changed_at, published_at and withdrawn_at.
    """

    DRAFT = "draft"

    if TYPE_CHECKING:
        dataset: Any
        account: Any
        state: str
        published_at: datetime | None
        withdrawn_at: datetime | None

    class Meta:
        abstract = True

    @property
    def is_draft(self) -> bool:
        return self.state == self.DRAFT

    @property
    def is_public(self) -> bool:
        return self.published_at is not None and self.withdrawn_at is None

    def keep(self, chosen: Iterable[str]) -> bool:
        """Save the fields of these names; False if the draft was confirmed meanwhile, and nothing is kept."""
        if self._state.adding:
            self.save()
            return True
        values = {name: getattr(self, name) for name in chosen}
        rows: Any = type(self)._default_manager
        drafts = rows.filter(pk=self.pk, state=self.DRAFT)
        return drafts.update(**values, changed_at=timezone.now()) == 1
