"""A curator's table, its declared domain in versions, and the job that converts an upload."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.history.watched import WatchedManager, WatchedQuerySet
from dpportal.jobs.sealed_failure import RecordsJob
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.platform.sealed import SealedField
from dpportal.publications.metadata import About
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.formats import leaves_out_rows
from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.domain import Attribute, Domain, attribute_from_json


class Right(models.IntegerChoices):
    """What a curator may do with a dataset: each right includes those before it. What they open says `access`."""

    SEE = 1, _("See")
    RELEASE = 2, _("Release")
    OWN = 3, _("Own")


class Datasets(WatchedQuerySet["Dataset"]):
    """Datasets as lists show them."""

    def open_to(self, person: User, right: Right = Right.SEE) -> Datasets:
        """The datasets that a person uploaded, or has at least this right to."""
        shared = Share.objects.filter(person=person, right__gte=right).values("dataset")
        return self.filter(models.Q(owner=person) | models.Q(pk__in=shared))

    def with_states(self) -> Datasets:
        """Adds `has_domain`, and what else shows their state."""
        versions = DomainVersion.objects.filter(dataset=models.OuterRef("pk"), attributes__isnull=False)
        listed = self.annotate(has_domain=models.Exists(versions))
        return listed.select_related("conversion", "duplicate_of").prefetch_related("budgets")


class Dataset(models.Model):
    """A table that a curator uploaded, or one that lies elsewhere; or people whom the curator counts, without a table.

    Its records are read by `datasets.records` and `tables` only.
    """

    class State(models.TextChoices):
        CONVERTING = "converting", _("Converting")
        REFUSED = "refused", _("Not loaded")
        DUPLICATE = "duplicate", _("Already uploaded")
        STORED = "stored", _("Stored")
        ERASED = "erased", _("Records deleted")
        CANCELLED = "cancelled", _("Cancelled")
        COUNTED = "counted", _("Without a table")

    # Uploads that never became a usable dataset.
    NOT_LOADED = (State.REFUSED, State.DUPLICATE, State.CANCELLED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="datasets")
    name = models.CharField(_("name"), max_length=120)
    description = models.TextField(_("description"), blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.CONVERTING)
    created_at = models.DateTimeField(auto_now_add=True)

    # The table in another database that is counted there; each of its columns then has a type.
    source = models.ForeignKey(
        SharedTable, null=True, editable=False, on_delete=models.PROTECT, related_name="datasets"
    )
    relations = models.JSONField(default=list, editable=False)  # what it is or was read from there
    file_name = models.CharField(max_length=255, editable=False)
    upload = models.CharField(max_length=200, blank=True, editable=False)
    megabytes = models.PositiveIntegerField(default=0, editable=False)  # of the uploaded file, rounded up
    options = models.JSONField(default=dict, editable=False)
    reading_frozen = models.BooleanField(default=False, editable=False)
    table = models.CharField(max_length=200, blank=True, editable=False)
    rows = SealedField(null=True)
    columns = models.JSONField(default=list, editable=False)  # names, and the types of a table elsewhere
    column_looks = SealedField(default=list)  # of each column, what its rows look like
    facts = SealedField(default=dict)
    unit_declared = models.BooleanField(default=False, editable=False)  # said if each row is one person
    erase_on = models.DateField(null=True, editable=False)  # its last day: `retention`
    # Columns that look like identifiers, of which the curator said that each person has one row all the same.
    one_row_columns = models.JSONField(default=list, editable=False)
    filled_columns = models.JSONField(default=list, editable=False)
    fingerprint = models.CharField(max_length=64, blank=True, editable=False, db_index=True)
    granted_fingerprint = models.CharField(max_length=64, blank=True, editable=False)  # at the last grant
    duplicate_of = models.ForeignKey("self", null=True, editable=False, on_delete=models.PROTECT)
    # Those of nearly the same table that an administrator ticked when it got a budget.
    same_people = models.ManyToManyField("self", editable=False)

    objects = Datasets.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "fingerprint"],
                condition=models.Q(duplicate_of__isnull=True) & ~models.Q(fingerprint=""),
                name="one_original_of_an_owner",
            )
        ]

    def __str__(self) -> str:
        return self.name

    # Where and when this instance's table was counted last, for the record of a release; kept with that, not here.
    last_read = ""
    # The right of whoever this instance was fetched for, by `access`; 0 where nobody was asked about.
    right = 0

    @property
    def can_release(self) -> bool:
        """Whether whoever this instance was fetched for may draft, spend, compare and publish."""
        return self.right >= Right.RELEASE

    @property
    def can_own(self) -> bool:
        return self.right >= Right.OWN

    @property
    def is_remote(self) -> bool:
        """Whether its table stays in its own database: counts come from there, and no row does."""
        return self.source_id is not None

    @property
    def is_converting(self) -> bool:
        """Whether its table is being read, or its columns looked at."""
        return self.state == self.State.CONVERTING

    @property
    def is_refused(self) -> bool:
        """Whether its table could not be loaded."""
        return self.state == self.State.REFUSED

    @property
    def is_cancelled(self) -> bool:
        """Whether its curator stopped the reading of its table."""
        return self.state == self.State.CANCELLED

    @property
    def is_duplicate(self) -> bool:
        """Whether its table is that of another dataset."""
        return self.state == self.State.DUPLICATE

    @property
    def is_erased(self) -> bool:
        """Whether its records were deleted for ever, or its counts closed."""
        return self.state == self.State.ERASED

    @property
    def has_records(self) -> bool:
        """Whether there is a table to count, here or elsewhere."""
        return self.state == self.State.STORED

    @property
    def has_rows(self) -> bool:
        """Whether its rows lie here, so that a curator can look at them."""
        return self.has_records and not self.is_remote

    @property
    def is_tableless(self) -> bool:
        """Whether its curator counts, and the portal is told numbers only."""
        return self.state == self.State.COUNTED

    @property
    def had_table(self) -> bool:
        """Whether there is or was a table of its people, here or elsewhere; what is closed since still tells."""
        return bool(self.file_name) or self.is_remote

    @property
    def asks_for_unit(self) -> bool:
        """Whether nobody has said yet if each row of its table is one person: the first question after an upload."""
        return self.has_records and not self.unit_declared

    @property
    def takes_streams(self) -> bool:
        """Whether running counts of its people can be opened: a table elsewhere brings no new periods."""
        return self.has_rows or self.is_tableless

    @property
    def can_change_parse_options(self) -> bool:
        """Whether it can still be changed how the file is read: until a reservation, or while the original is there."""
        changeable = (self.State.STORED, self.State.REFUSED, self.State.CANCELLED)
        return not self.reading_frozen and self.state in changeable

    @property
    def can_be_read_again(self) -> bool:
        """Whether reading stopped before there was a table, and can begin anew as it was."""
        stopped = (self.State.REFUSED, self.State.CANCELLED)
        return bool(self.upload or self.source_id) and self.state in stopped

    @property
    def total_stays_private(self) -> bool:
        """Whether something was promised that an exact number of rows would break: for good, once it is spent.

        It is the same number in every copy of the table, and nearly in one of the same people.
        """
        budgets = [budget for dataset in self.bound_together for budget in dataset.budgets.all()]
        return any(budget.is_used and budget.protection.hides_total for budget in budgets)

    @property
    def bound_together(self) -> list[Dataset]:
        """It, its copies, and its owner's datasets of nearly the same people: what one promises binds the others."""
        others = Dataset.objects.filter(self.binds).exclude(pk=self.pk).order_by("pk")
        return [self, *others.prefetch_related("budgets")]

    @property
    def binds(self) -> models.Q:
        """Those bound together, as a condition; never others' tables, which are told to nobody."""
        original = self.duplicate_of_id or self.pk
        alike = self.same_people.filter(owner=self.owner_id).values("pk")
        copies = models.Q(pk__in=[self.pk, original]) | models.Q(duplicate_of=original)
        return copies | models.Q(pk__in=alike)

    def current_domain(self) -> DomainVersion | None:
        return self.domain_versions.order_by("-version").first()

    @property
    def about(self) -> About:
        """Its public description: empty unless the curator permits it."""
        written = PublicDescription.objects.filter(dataset=self, shown=True).first()
        return written.about() if written else About()


class Share(models.Model):
    """Another curator's right to a dataset. Written by `sharing` only. seen: by that person, at the bell."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="shares")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares")
    right = models.PositiveSmallIntegerField(choices=Right.choices)
    at = models.DateTimeField(auto_now_add=True)
    seen = models.BooleanField(default=False, editable=False)

    objects = WatchedManager()

    class Meta:
        ordering = ["at"]
        constraints = [models.UniqueConstraint(fields=["dataset", "person"], name="one_right_of_a_person")]

    def __str__(self) -> str:
        return f"{self.get_right_display()}{joint(':')}{self.person}"


class PublicDescription(models.Model):
    """What a curator writes of a dataset for everyone. Readers see it with releases and running counts once `shown`.

    first, last: what time it is about, each a year, a month or a day. licence: an SPDX identifier.
    """

    dataset = models.OneToOneField(
        Dataset, primary_key=True, on_delete=models.CASCADE, related_name="public_description", editable=False
    )
    shown = models.BooleanField(
        _("show this with everything that is published of this dataset"), default=False
    )
    text = models.TextField(_("what the data are about"), blank=True, max_length=4000)
    keywords = models.JSONField(_("keywords"), default=list, blank=True)
    place = models.CharField(_("place"), max_length=160, blank=True)
    first = models.CharField(_("from"), max_length=10, blank=True)
    last = models.CharField(_("to"), max_length=10, blank=True)
    publisher = models.CharField(_("publisher"), max_length=160, blank=True)
    contact = models.CharField(_("contact"), max_length=200, blank=True)
    licence = models.CharField(_("licence"), max_length=20, blank=True)

    objects = WatchedManager()

    def __str__(self) -> str:
        return gettext("Description of %(subject)s") % {"subject": self.dataset_id}

    def about(self) -> About:
        names = ("text", "keywords", "place", "first", "last", "publisher", "contact", "licence")
        return About(**{name: getattr(self, name) for name in names})


class DirectUpload(models.Model):
    """A file that was announced and that a browser sends to the storage itself; gone once it is a dataset or given up.

    The dataset will have its id. stored: where the file will lie; key: the storage's word for its parts.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=120, blank=True)
    description = models.TextField(blank=True)
    file_name = models.CharField(max_length=255)
    size = SealedField()
    megabytes = models.PositiveIntegerField()
    options = models.JSONField(default=dict)
    stored = models.CharField(max_length=200)
    key = models.CharField(max_length=1024)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return gettext("Upload of %(subject)s") % {"subject": self.pk}


class Conversion(RecordsJob):
    """The job that makes an upload a stored table."""

    dataset = models.OneToOneField(
        Dataset, primary_key=True, on_delete=models.CASCADE, related_name="conversion", editable=False
    )

    def __str__(self) -> str:
        return gettext("Conversion of %(subject)s") % {"subject": self.dataset_id}

    @property
    def failure_for_administrators(self) -> str:
        """Not why: where a line of the file is at fault, its number says how many there are at least."""
        return str(_("Its owners read why on the dataset's page.")) if self.failure else ""


class Fit(RecordsJob):
    """The job that looks how a dataset's table fits its declarations. asked: the digest of what it looks at."""

    dataset = models.OneToOneField(
        Dataset, primary_key=True, on_delete=models.CASCADE, related_name="fit", editable=False
    )
    asked = models.CharField(max_length=64, editable=False)

    def __str__(self) -> str:
        return gettext("Fit of %(subject)s") % {"subject": self.dataset_id}


class DomainVersion(models.Model):
    """What a curator declared as publicly known about a table. Once a release used it, it never changes."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="domain_versions")
    version = models.PositiveIntegerField()
    neighbours = models.CharField(
        max_length=12, choices=[(n.value, n.value) for n in Neighbours], default=Neighbours.ADD_REMOVE.value
    )
    unit_column = models.CharField(max_length=200, blank=True)
    max_rows = models.PositiveIntegerField(default=1)
    ignore_case = models.BooleanField(default=False)
    frozen = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["dataset", "version"], name="one_domain_per_version")]

    def __str__(self) -> str:
        return f"{self.dataset_id} version {self.version}"

    @property
    def unit(self) -> PrivacyUnit:
        unit = PrivacyUnit(Neighbours(self.neighbours), self.max_rows)
        if not unit.total_public:
            return unit
        left_out = leaves_out_rows(self.dataset.facts.get("format"), self.dataset.options)
        return unit.allowing_absence(bool(self.unit_column) or left_out or self.dataset.total_stays_private)

    def declared(self) -> Json:
        """All that decides what is counted, and of whom: what a curator read before confirming."""
        return {
            "dataset": str(self.dataset_id),
            "reading": self.dataset.options,
            "attributes": [attribute.declaration for attribute in self.attributes.all()],
            "neighbours": self.neighbours,
            "unit_column": self.unit_column,
            "max_rows": self.max_rows,
            "ignore_case": self.ignore_case,
        }

    def domain(self) -> Domain:
        """The product of all declared columns, in table order."""
        return Domain(tuple(a.declared() for a in self.attributes.all()))


class AttributeDeclaration(models.Model):
    """One column's declared cells; a column without a declaration is ignored."""

    domain_version = models.ForeignKey(DomainVersion, on_delete=models.CASCADE, related_name="attributes")
    position = models.PositiveIntegerField()
    column = models.CharField(max_length=200)
    declaration = models.JSONField()
    filled_from_data = models.BooleanField(default=False)

    class Meta:
        # Coarser columns come after the one that they are made of.
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["domain_version", "column"], name="one_declaration_per_column")
        ]

    def __str__(self) -> str:
        return self.column

    def declared(self) -> Attribute:
        declaration: Json = self.declaration
        return attribute_from_json(declaration)
