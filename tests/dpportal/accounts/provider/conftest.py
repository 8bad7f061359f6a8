"""An OpenID Connect provider that runs, and the portal registered there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import requests

from dpportal.platform.identity_provider import IdentityProvider

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what the provider uses
    import oidc_provider_mock

BACK = "http://testserver/account/sign-in/institution/answer/"


@pytest.fixture(scope="package")
def server() -> Iterator[str]:
    """The provider's address, in a thread of its own; clients must be registered."""
    with oidc_provider_mock.run_server_in_thread(
        require_client_registration=True, require_nonce=True
    ) as running:
        yield f"http://localhost:{running.server_port}"


@pytest.fixture(scope="package")
def registered(server) -> IdentityProvider:
    """As a site names it, with the portal registered there."""
    made = requests.post(f"{server}/oauth2/clients", json={"redirect_uris": [BACK]}, timeout=30).json()
    provider = IdentityProvider.of(
        {
            "DPPORTAL_OIDC_ISSUER": server,
            "DPPORTAL_OIDC_CLIENT_ID": made["client_id"],
            "DPPORTAL_OIDC_CLIENT_SECRET": made["client_secret"],
            "DPPORTAL_OIDC_NAME": "Institute of Health",
            "DPPORTAL_OIDC_CURATORS": "dp curators, dp staff",
            "DPPORTAL_OIDC_ADMINISTRATORS": "dp admins",
        }
    )
    assert provider
    return provider


@pytest.fixture
def provider(db, registered, settings) -> IdentityProvider:
    settings.IDENTITY_PROVIDER = registered
    return registered
