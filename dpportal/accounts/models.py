"""Who may do what, and the record of sensitive acts."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    CURATOR = "curator", _("Curator")
    ADMINISTRATOR = "administrator", _("Administrator")
    ANALYST = "analyst", _("Analyst")


def validate_printable(name: str) -> None:
    """Refuse line ends and invisible signs, with which a name could look like another or change a text around it."""
    if not name.isprintable():
        raise ValidationError(_("Use letters, digits, spaces and visible signs only."))


class PortalUserManager(UserManager["User"]):
    """Makes users; what Django calls a superuser is an administrator here."""

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **fields: Any
    ) -> User:
        return super().create_superuser(username, email, password, **{"role": Role.ADMINISTRATOR, **fields})


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

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.is_staff = self.is_superuser = self.role == Role.ADMINISTRATOR
        super().save(*args, **kwargs)

    @property
    def public_name(self) -> str:
        """Who published, for everyone: a sign-in name is half of what opens an account."""
        return self.display_name or gettext("a curator of this portal")

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


class AuditEntry(models.Model):
    """A line of the record: who did what to which object, when. Never holds a value of the data."""

    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=120)
    detail = models.TextField(blank=True)

    class Meta:
        ordering = ["-at"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
