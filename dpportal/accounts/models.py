"""Who may do what, and the record of sensitive acts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.sessions.base_session import AbstractBaseSession
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models.functions import Now
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.accounts import audit_words
from dpportal.accounts.distinct_names import confusion
from dpportal.history.watched import WatchedManager
from dpportal.platform.listed_names import listed
from dpportal.platform.sealed import SealedField
from dpportal.platform.stored_texts import translated

if TYPE_CHECKING:
    from django.contrib.sessions.backends.base import SessionBase


class Role(models.TextChoices):
    """What a person may do in the portal; administrators grant budgets and see no data."""

    CURATOR = "curator", _("Curator")
    ADMINISTRATOR = "administrator", _("Administrator")
    ANALYST = "analyst", _("Analyst")


def validate_printable(name: str) -> None:
    """Refuse line ends and invisible signs, with which a name could look like another or change a text around it."""
    if not name.isprintable():
        raise ValidationError(_("Use letters, digits, spaces and visible signs only."))


# Sent in the transaction in which the server's command line makes an account, with `person`, which `people` records.
created_on_server = Signal()


class PortalUserManager(WatchedManager["User"], UserManager["User"]):
    """Makes users; what Django calls a superuser is an administrator here."""

    def administrators(self) -> models.QuerySet[User]:
        """Those who may sign in."""
        return self.filter(role=Role.ADMINISTRATOR, is_active=True)

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **fields: object
    ) -> User:
        first = {"role": Role.ADMINISTRATOR, "must_change_password": True}
        with transaction.atomic():
            person = super().create_superuser(username, email, password, **{**first, **fields})
            created_on_server.send(User, person=person)
        return person


class User(AbstractUser):
    """A person with one role. Administrators, and they only, may enter the admin."""

    objects: ClassVar[PortalUserManager] = PortalUserManager()

    role = models.CharField(max_length=15, choices=Role.choices, default=Role.ANALYST)
    display_name = models.CharField(
        _("display name"),
        max_length=80,
        blank=True,
        validators=[validate_printable],
        help_text=_(
            "Stands on what you publish and in its downloads; the name that you sign in with never does. Without one "
            "they say “a curator of this portal”."
        ),
    )

    # The language of pages and mail; that of the browser where none was chosen.
    language = models.CharField(max_length=10, blank=True, default="", editable=False)
    # In which pages spoke at the last sign-in, for the mail of who chose none: no browser is there when it is written.
    browser_language = models.CharField(max_length=10, blank=True, default="", editable=False)
    # Somebody else has seen the password, so no page opens before the person chose another.
    must_change_password = models.BooleanField(default=False, editable=False)
    # Somebody else changed this account, and the person has not opened the list of changes since.
    unseen_changes = models.BooleanField(default=False, editable=False)

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")

    def clean(self) -> None:
        """Raises ValidationError for a name that could be taken for another person's."""
        super().clean()
        names = dict(User.objects.values_list("pk", "username"))
        if names.pop(self.pk, "") != self.username and (wrong := confusion(self.username, names.values())):
            raise ValidationError({"username": wrong})

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.is_staff = self.is_superuser = self.role == Role.ADMINISTRATOR
        super().save(*args, **kwargs)

    @property
    def public_name(self) -> str:
        """The publisher's name for everyone: a sign-in name is half of what opens an account."""
        return self.display_name or gettext("a curator of this portal")

    @property
    def mail_language(self) -> str:
        """That which the person chose; else that of the last sign-in; English for who never signed in."""
        return self.language or self.browser_language or settings.LANGUAGE_CODE

    @property
    def is_curator(self) -> bool:
        return self.role == Role.CURATOR

    @property
    def may_publish(self) -> bool:
        """Whether programs that act for this person still may."""
        return self.is_active and self.role in (Role.CURATOR, Role.ADMINISTRATOR)

    @property
    def is_administrator(self) -> bool:
        return self.role == Role.ADMINISTRATOR


class PersonSession(AbstractBaseSession):
    """A session of the portal, with what its person needs to recognise it. Written by `session_store` only."""

    person = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")
    began_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    # Coarse on purpose: a family of browsers, and the network of an address.
    browser = models.CharField(max_length=60)
    network = models.CharField(max_length=45)
    # By which means it began, as `sign_ins.How` names them.
    how = models.CharField(max_length=20, default="")

    @property
    def browser_text(self) -> str:
        """The family and its system, in the reader's language."""
        return listed(map(translated, self.browser.split(", ")))

    @classmethod
    def get_session_store_class(cls) -> type[SessionBase]:
        from dpportal.accounts.session_store import SessionStore

        return SessionStore


class AuthenticatorApp(models.Model):
    """The secret that a person shares with an app for codes (TOTP, RFC 6238). Written by `factors.totp` only."""

    person = models.OneToOneField(
        User, primary_key=True, on_delete=models.CASCADE, related_name="authenticator_app"
    )
    # In base 32. One that no code has confirmed yet signs nobody in.
    secret = SealedField(null=True)
    unconfirmed = SealedField(null=True)
    # The half minute whose code was taken last: no code is taken twice.
    last_step = models.BigIntegerField(default=0)
    # Codes in a row that were none of this app's: beyond some, no code of it is taken any more.
    wrong_codes = models.PositiveIntegerField(default=0)
    added_at = models.DateTimeField(null=True)

    objects = WatchedManager()

    def __str__(self) -> str:
        return f"authenticator app of {self.person_id}"


class Passkey(models.Model):
    """The public half of a key that a person's device keeps (WebAuthn). Written by `factors.passkeys` only."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="passkeys")
    name = models.CharField(_("name"), max_length=60, validators=[validate_printable])
    # As the device named it, in base64url.
    credential = models.CharField(max_length=1400, unique=True)
    public_key = models.BinaryField()
    sign_count = models.BigIntegerField()
    added_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)

    objects = WatchedManager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class RecoveryCode(models.Model):
    """The digest of a code that signs its person in once, in place of a device. Written by `factors.recovery` only."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64, unique=True)

    objects = WatchedManager()

    def __str__(self) -> str:
        return f"recovery code {self.pk}"


class SecondFactorRule(models.Model):
    """A role whose people need a second factor; others may have one. Written by `factors.rules` only."""

    role = models.CharField(max_length=15, choices=Role.choices, primary_key=True)

    objects = WatchedManager()

    def __str__(self) -> str:
        return self.role


class ProviderIdentity(models.Model):
    """Who a person is at the institution's provider (OpenID Connect). Written by `provider` only."""

    person = models.OneToOneField(User, on_delete=models.CASCADE, related_name="provider_identity")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)
    # When the provider let the person in last, with a role.
    seen_at = models.DateTimeField(default=timezone.now)

    objects = WatchedManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_person_per_subject")]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"

    @classmethod
    def of(cls, person: User) -> ProviderIdentity | None:
        """Who the person is at the provider; None where nothing is linked."""
        return cls.objects.filter(person=person).select_related("person").first()

    @property
    def can_be_removed(self) -> bool:
        """Whether the person could still sign in: by a password, since not every passkey opens without one."""
        return self.person.has_usable_password()


class OutgoingMail(models.Model):
    """Mail that a worker has not sent yet. Written by `mailing`, deleted by `delivery`."""

    class Kind(models.TextChoices):
        TEXT = "text"
        # The text is written when it is sent, and only if the address is a person's: no link lies in the database.
        RESET = "reset"

    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.TEXT)
    to = models.EmailField()
    # The person whose link it is, if an administrator had it sent; else whoever has the address.
    person = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    subject = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True)
    # The portal's origin as the person sees it, such as https://portal.example.
    origin = models.CharField(max_length=300, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # The time from which it is tried again, by the database's clock.
    due_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"mail {self.pk}"


class MailHint(models.Model):
    """The one message that mail waits: its row is there while it is in the queue, and while its batch is sent."""

    ONLY: ClassVar[int] = 1
    # By the database's clock; in the future if all mail is put off until then.
    hinted_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"mail hint of {self.hinted_at}"


class ResetRequest(models.Model):
    """A request for a link that was let through lately. Written by `reset_limits`."""

    network = models.CharField(max_length=45, db_index=True)
    # A keyed digest of the mail address: what strangers type is not listed.
    address = models.CharField(max_length=64, db_index=True)
    at = models.DateTimeField(db_default=Now(), db_index=True)

    def __str__(self) -> str:
        return f"request from {self.network}"


class FailedSignIn(models.Model):
    """A try with a wrong password or token that the record has not yet, for every name alike. Written by `sign_ins`.

    by_token: a program's, with a token that nobody has.
    """

    # The key of the person whose name it was, 0 if nobody's: no reference, which the database would look up.
    person = models.BigIntegerField()
    by_token = models.BooleanField(default=False)
    address = models.CharField(max_length=45)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"failed sign-in {self.pk}"


class AuditEntry(models.Model):
    """A line of the record: who did what to which object, when. Never holds a value of the data.

    by: none for strangers, and for what the portal does by itself.
    """

    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=120)
    detail = models.TextField(blank=True)

    class Meta:
        ordering = ["-at"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["subject", "-at"], name="audit_subject")]

    def __str__(self) -> str:
        return f"{translated(self.action)} ({self.pk})"

    @property
    def words(self) -> str:
        """Its detail in the reader's language, as far as its words are the portal's."""
        return audit_words.shown(self.detail)
