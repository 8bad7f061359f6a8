from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "dpportal.accounts"
    verbose_name = _("People and the audit record")

    def ready(self) -> None:
        from dpportal.accounts import audit, known_browsers, people, sessions, sign_ins, triggers
        from dpportal.history import chain

        people.connect()
        sign_ins.connect()
        known_browsers.connect()
        sessions.connect()
        triggers.GUARD.connect(self)
        chain.declare(audit.LINE)
        self._watch()

    def _watch(self) -> None:
        """Who may do what, and by what somebody signs in."""
        from dpportal.accounts import models
        from dpportal.history.watched import watch

        person = ("username", "role", "is_active", "is_staff", "is_superuser", "email", "password")
        watch(models.User, *person, "display_name", "must_change_password", "date_joined")
        watch(models.AuthenticatorApp, "secret", "added_at")
        watch(models.Passkey, "person", "name", "credential", "public_key", "added_at")
        watch(models.RecoveryCode, "person", "digest")
        watch(models.SecondFactorRule, "role")
        watch(models.ProviderIdentity, "person", "issuer", "subject")
