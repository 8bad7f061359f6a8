"""A connected database, and the tables of it that curators may make datasets of."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.approvals import acts
from dpportal.history.watched import WatchedManager
from dpportal.platform.two_people import DEFINITIONS
from dpportal.tables.engines import credentials
from dpportal.tables.engines.server import Encryption

LONGEST_SECONDS = 3000


class Connection(models.Model):
    """A database that an administrator connected. Its password is known by name only."""

    class Kind(models.TextChoices):
        POSTGRESQL = "postgresql", "PostgreSQL"
        SPARK = "spark", _("Spark, by Spark Connect")
        CLICKHOUSE = "clickhouse", _("ClickHouse, by HTTP")

    name = models.CharField(_("name"), max_length=80, unique=True)
    kind = models.CharField(
        _("kind"),
        max_length=20,
        choices=Kind.choices,
        default=Kind.POSTGRESQL,
        help_text=_(
            "PostgreSQL and ClickHouse hold each session to reading. Spark cannot: the portal sends it SELECT alone, "
            "and its user or token should be allowed to read nothing but the tables that are offered."
        ),
    )
    host = models.CharField(_("host"), max_length=255)
    port = models.PositiveIntegerField(
        _("port"),
        default=5432,
        validators=[MinValueValidator(1), MaxValueValidator(65535)],
        help_text=_(
            "Of PostgreSQL usually 5432, of Spark Connect 15002, of ClickHouse 8443, or 8123 not encrypted."
        ),
    )
    database = models.CharField(
        _("database"),
        max_length=128,
        blank=True,
        help_text=_("Of Spark the catalog. Of Spark and ClickHouse their own one if left empty."),
    )
    user = models.CharField(
        _("user"),
        max_length=128,
        blank=True,
        help_text=_("Best one that may read nothing but the tables that are offered."),
    )
    credential = models.CharField(
        _("credential"),
        max_length=40,
        blank=True,
        validators=[RegexValidator(rf"\A{credentials.NAME}\Z")],
        help_text=_(
            "The name of the password, or of Spark's bearer token, small letters, digits and _: the portal reads it "
            "from the environment variable DPPORTAL_CREDENTIAL_ and the name in capitals, or from the file of that "
            "name in the folder for credentials. There it says itself for which host, port and encryption it is. It "
            "is never kept in the portal's database."
        ),
    )
    encryption = models.CharField(
        _("encryption"), max_length=12, choices=Encryption.choices, default=Encryption.VERIFIED
    )
    seconds = models.PositiveIntegerField(
        _("longest query in seconds"),
        default=600,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_SECONDS)],
    )
    most_rows = models.PositiveBigIntegerField(
        _("most rows read by a query"),
        default=10**9,
        help_text=_("As the database expects before it runs the query; one that expects more is refused."),
    )
    most_bytes = models.PositiveBigIntegerField(
        _("most bytes read by a query"),
        default=10**12,
        help_text=_("As the database expects before it runs the query; one that expects more is refused."),
    )
    all_curators = models.BooleanField(_("for all curators"), default=False)
    curators = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        verbose_name=_("curators"),
        blank=True,
        related_name="connections",
        limit_choices_to={"role": "curator"},
        help_text=_("Who may make datasets of its tables, unless all may."),
    )

    objects = WatchedManager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.kind == self.Kind.SPARK and self.encryption == Encryption.ENCRYPTED:
            raise ValidationError({"encryption": _("An encrypted connection to Spark is always verified.")})
        if lacking := [name for name in NEEDED.get(self.kind, ()) if not getattr(self, name)]:
            needs = _("%(engine)s needs this.") % {"engine": self.get_kind_display().partition(",")[0]}
            raise ValidationError(dict.fromkeys(lacking, needs))

    @property
    def address(self) -> str:
        """Of its server, in one spelling."""
        return f"{self.host.lower()}:{self.port}"


# What an administrator finds written, by engine: a field's name and what it usually is.
USUAL: dict[str, dict[str, str]] = {
    Connection.Kind.POSTGRESQL: {"port": "5432", "schema": "public"},
    Connection.Kind.SPARK: {"port": "15002", "schema": ""},
    Connection.Kind.CLICKHOUSE: {"port": "8443", "schema": ""},
}
# What an engine needs beside an address.
NEEDED: dict[str, tuple[str, ...]] = {
    Connection.Kind.POSTGRESQL: ("database", "user", "credential"),
    Connection.Kind.SPARK: ("credential",),
    Connection.Kind.CLICKHOUSE: ("user", "credential"),
}


# What a table is, and what an administrator vouches for; a change of either may need a second one.
DEFINING = ("schema", "table", "query", "vouched")


class SharedTable(models.Model):
    """A table of a connection, or a query, of which curators may make a dataset. Nothing of it is copied."""

    connection = models.ForeignKey(Connection, on_delete=models.PROTECT, related_name="tables")
    title = models.CharField(
        _("title"), max_length=120, help_text=_("Public: releases name the table by it.")
    )
    schema = models.CharField(
        _("schema"),
        max_length=128,
        blank=True,
        help_text=_("Of ClickHouse the table's database. The connection's own one if left empty."),
    )
    table = models.CharField(_("table or view"), max_length=128, blank=True)
    query = models.TextField(
        _("query"), blank=True, help_text=_("Instead of a table: one SELECT, without a semicolon.")
    )
    vouched = models.TextField(
        _("signed word"),
        blank=True,
        help_text=_(
            "Needed only where a view or query joins, limits, samples, sorts into windows or sums up rows, or calls "
            "functions that may: why no person's rows decide on rows of others in it. It is recorded with your name."
        ),
    )
    is_offered = models.BooleanField(_("offered"), default=True)

    objects = WatchedManager()

    class Meta:
        verbose_name = _("table")
        ordering = ["connection__name", "title"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(table="") & ~Q(query="")) | (~Q(table="") & Q(query="")),
                name="a_table_or_a_query",
            ),
            models.UniqueConstraint(fields=["connection", "title"], name="one_title_of_a_connection"),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.connection})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if acts.is_needed(DEFINITIONS) and self.changes_definition():
            acts.require(DEFINITIONS, self.pk)
        super().save(*args, **kwargs)

    def clean(self) -> None:
        if bool(self.table) == bool(self.query.strip()):
            raise ValidationError(_("Name a table, or write a query; not both."))

    def changes_definition(self) -> bool:
        """Whether it is to be another table than the stored one, or has another word."""
        stored = SharedTable.objects.filter(pk=self.pk).values(*DEFINING).first()
        return stored is not None and any(stored[name] != getattr(self, name) for name in DEFINING)

    @property
    def declared(self) -> str:
        """What of the database it is, in one text."""
        return f"query {self.query.strip()}" if self.query else f"table {self.schema}.{self.table}"

    @classmethod
    def offered_to(cls, curator: User) -> models.QuerySet[SharedTable]:
        """The tables of which this person may make datasets."""
        may = Q(connection__all_curators=True) | Q(connection__curators=curator)
        return cls.objects.filter(may, is_offered=True).select_related("connection").distinct()
