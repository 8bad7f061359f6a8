"""The institution's own sign-in, as a site names it: an OpenID Connect provider, and which claim makes whom what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

PREFIX = "DPPORTAL_OIDC_"
# The strongest first: whoever has values of several has the first.
ROLES = {"administrator": "ADMINISTRATORS", "curator": "CURATORS", "analyst": "ANALYSTS"}


@dataclass(frozen=True)
class IdentityProvider:
    """issuer: its address. name: on the button. claim: whose values say the role. roles: for each role its values."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    scope: str
    claim: str
    roles: tuple[tuple[str, frozenset[str]], ...]

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> IdentityProvider | None:
        """As the variables say, None where no issuer is named. Raises ImproperlyConfigured."""

        def given(name: str, default: str = "") -> str:
            return environment.get(f"{PREFIX}{name}") or default

        if not given("ISSUER"):
            return None
        values = ((role, frozenset(_listed(given(name)))) for role, name in ROLES.items())
        roles = tuple((role, listed) for role, listed in values if listed)
        provider = cls(
            issuer=given("ISSUER"),
            client_id=given("CLIENT_ID"),
            client_secret=given("CLIENT_SECRET"),
            name=given("NAME"),
            scope=given("SCOPE", "openid profile email"),
            claim=given("CLAIM", "groups"),
            roles=roles,
        )
        provider.check()
        return provider

    def check(self) -> None:
        """Raises ImproperlyConfigured, without the secret."""
        parts = urlsplit(self.issuer)
        is_safe = parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1")
        if not (is_safe and parts.hostname):
            raise ImproperlyConfigured(f"{PREFIX}ISSUER must be an address that begins with https://.")
        if not (self.client_id and self.client_secret):
            raise ImproperlyConfigured(
                f"{PREFIX}CLIENT_ID and {PREFIX}CLIENT_SECRET must be those that the provider gave this portal."
            )
        if not self.roles:
            raise ImproperlyConfigured(
                f"At least one of {', '.join(PREFIX + name for name in ROLES.values())} must list values of the claim "
                f"“{self.claim}”, separated by commas: without one nobody has a role, and nobody could sign in."
            )

    def role_of(self, values: frozenset[str]) -> str | None:
        """The strongest role that one of a person's values gives."""
        return next((role for role, listed in self.roles if listed & values), None)


def _listed(text: str) -> list[str]:
    """Values separated by commas; they may have blanks inside."""
    return [value.strip() for value in text.split(",") if value.strip()]
