"""What lets programs in: tokens, what was charged by them, and the keys of requests that were answered."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.program_tokens import ProgramToken
from dpportal.budgets.amounts import AmountField, plain
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.history.watched import WatchedManager
from mechanisms.accounting import SYMBOL, Definition


class Scope(models.TextChoices):
    """What a token opens, of what its person may do. Each opens what those before it open, too."""

    READ = "read", _("Read")
    RELEASE = "release", _("Release, up to an amount")
    ADMINISTER = "administer", _("Administer datasets, and release up to an amount")

    def opens(self, scope: Scope) -> bool:
        """Whether it is enough for what needs another one."""
        ladder = list(type(self))
        return ladder.index(self) >= ladder.index(scope)


class ApiToken(ProgramToken):
    """A token with which programs act for a person. `tokens` writes it.

    limit: how much may be spent by it in all, of ε or ρ as counted_in says; None where nothing may.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(_("name"), max_length=80)
    sha256 = models.CharField(max_length=64, unique=True)
    scope = models.CharField(_("what it opens"), max_length=10, choices=Scope.choices, default=Scope.READ)
    limit = AmountField(null=True)
    counted_in = models.CharField(max_length=5, choices=Budget.Kind.choices, default=Budget.Kind.PURE)
    made_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True)

    objects = WatchedManager()

    class Meta:
        ordering = ["-made_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def symbol(self) -> str:
        return SYMBOL[Definition(self.counted_in)]

    @property
    def limit_text(self) -> str:
        """ε 0.50; empty where nothing may be spent by it."""
        return "" if self.limit is None else f"{self.symbol} {plain(self.limit)}"

    @property
    def is_revoked(self) -> bool:
        return self.revoked_at is not None

    @property
    def works(self) -> bool:
        """Whether it opens anything now."""
        return not (self.is_revoked or self.has_expired)


class TokenCharge(models.Model):
    """That a token had a charge reserved. Written by `spending` only."""

    token = models.ForeignKey(ApiToken, on_delete=models.PROTECT, related_name="charges")
    entry = models.OneToOneField(LedgerEntry, on_delete=models.PROTECT, related_name="+")

    objects = WatchedManager()

    def __str__(self) -> str:
        return f"charge {self.entry_id} of {self.token_id}"


class AnsweredRequest(models.Model):
    """A request with a key that did something: what, with what, and to which object. Written by `repeating` only."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # Digests, keyed by the portal's secret.
    key = models.CharField(max_length=64)
    content = models.CharField(max_length=64)
    act = models.CharField(max_length=100)
    subject = models.UUIDField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "key"], name="one_act_for_a_key")]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"
