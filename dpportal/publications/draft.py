"""From choices to the public: what releases and streams have in common."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _

# What everyone sees.
PUBLIC = models.Q(published_at__isnull=False, withdrawn_at=None)


class Publication(models.Model):
    """A draft whose choices are saved one by one, that is then paid for, shown, and perhaps withdrawn.

    A subclass has the fields dataset, state with the value DRAFT, and the one that PUBLISHABLE_SINCE names.

    supersedes: the older one that this one is read instead of. withdrawn_because: what stands in place of the page.
    """

    DRAFT = "draft"
    # Of the time from which on there was something to publish.
    PUBLISHABLE_SINCE: ClassVar[str]
    # Fields that no list shows, and that can be as large as the domain: megabytes of a plan of many cells.
    UNLISTED: ClassVar[tuple[str, ...]] = ("plan_json",)
    # What the history has of it once it is confirmed, beside a subclass's own fields.
    CONFIRMED: ClassVar[tuple[str, ...]] = (
        *("dataset", "created_by", "mechanism", "plan_json"),
        *("created_at", "requested_at", "compared_at", "published_at", "withdrawn_at", "withdrawn_because"),
        *("doi", "supersedes", "supersedes_since", "state"),
    )
    IS_CONFIRMED: ClassVar[models.Q] = models.Q(requested_at__isnull=False)

    # The steps of a draft whose choices the portal made, and whose pages nobody sent.
    skipped_steps: Sequence[str] = ()

    if TYPE_CHECKING:
        # Models of rooms above this one.
        dataset: Any
        account: Any
        amount: Decimal | None
        get_absolute_url: Callable[[], str]
        state: str

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    mechanism = models.CharField(max_length=60, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    # Of the confirmation, from which on the plan is frozen.
    requested_at = models.DateTimeField(null=True)
    plan_json = models.JSONField(null=True)
    published_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_because = models.CharField(_("reason"), max_length=500, blank=True)
    # When somebody first looked at the true counts beside it.
    compared_at = models.DateTimeField(null=True)
    doi = models.CharField(_("DOI"), max_length=200, blank=True)
    supersedes = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="successors"
    )
    # When that was chosen.
    supersedes_since = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["published_at", "withdrawn_at"])]

    @property
    def is_draft(self) -> bool:
        """Whether it can still be changed, and nothing was reserved for it."""
        return self.state == self.DRAFT

    @property
    def is_publishable(self) -> bool:
        """Whether there is something to publish."""
        return self.publishable_at is not None

    @property
    def publishable_at(self) -> datetime | None:
        """Since when there is."""
        at: datetime | None = getattr(self, self.PUBLISHABLE_SINCE)
        return at

    @property
    def is_public(self) -> bool:
        return self.published_at is not None and self.withdrawn_at is None

    @property
    def withheld(self) -> str:
        """How it was kept from readers after somebody had seen the true counts beside it; empty if it was not.

        Whoever decides by the true error tells something of the data by deciding, which no privacy cost covers.
        """
        seen = self.compared_at
        if seen is None:
            return ""
        if self.published_at is None:
            text = _("Not published after its comparison with the true counts was seen on %(day)s.")
        elif self.withdrawn_at is not None and self.withdrawn_at >= seen:
            text = _("Withdrawn after its comparison with the true counts was seen on %(day)s.")
        elif (newer := self.successor) and newer._replaces_since() >= seen:
            text = _("Replaced after its comparison with the true counts was seen on %(day)s.")
        else:
            return ""
        return str(text) % {"day": date_format(seen, "DATETIME_FORMAT")}

    @property
    def successor(self) -> Self | None:
        """The newest public one that is read instead of this one."""
        public = self._rows().filter(PUBLIC, supersedes=self).defer(*self.UNLISTED)
        return public.order_by(f"-{self.PUBLISHABLE_SINCE}").first()

    def _replaces_since(self) -> datetime:
        """Since when readers are sent from the older one to it: of what is public, and replaces one."""
        return max(at for at in (self.published_at, self.supersedes_since) if at)

    def earlier(self, datasets: models.QuerySet[models.Model]) -> models.QuerySet[Self]:
        """What was published of these datasets and made before it, so that no two replace each other."""
        before = {f"{self.PUBLISHABLE_SINCE}__lt": self.publishable_at}
        own = self._rows().filter(dataset__in=datasets, published_at__isnull=False, **before)
        return own.order_by(f"-{self.PUBLISHABLE_SINCE}")

    def keep(self, chosen: Iterable[str]) -> bool:
        """Save the fields of these names; False if the draft was confirmed meanwhile, and nothing is kept."""
        if self._state.adding:
            self.save()
            return True
        values = {name: getattr(self, name) for name in chosen}
        drafts = self._rows().filter(models.Q(state=self.DRAFT), pk=self.pk)
        return drafts.update(**values, changed_at=timezone.now()) == 1

    def _rows(self) -> models.Manager[Self]:
        """All of its kind."""
        return type(self)._default_manager
