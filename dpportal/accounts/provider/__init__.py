"""Signing in by the institution's own provider (OpenID Connect)."""
