"""A program that calls the API in the test's own process."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.http import HttpResponse
from django.test import Client

from dpportal.accounts.models import User
from dpportal.api import tokens
from dpportal.api.models import ApiToken, Scope

BASE = "/api/v1"


class Program:
    """Calls the API with a person's token."""

    def __init__(self, by: User, scope: Scope = Scope.ADMINISTER, limit: str = "1") -> None:
        self.token, self.text = tokens.make(by, "test", scope, 30, Decimal(limit))
        self.client = Client()

    def send(self, method: str, path: str, said: Any = None, **headers: str) -> HttpResponse:
        """headers: such as Idempotency_Key."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {} if said is None else {"data": said, "content_type": "application/json"}
        call = getattr(self.client, method)
        answer: HttpResponse = call(
            f"{BASE}{path}", headers={"Authorization": f"Bearer {self.text}", **named}, **sent
        )
        return answer

    def said(self, method: str, path: str, said: Any = None, status: int = 200, **headers: str) -> Any:
        """What is answered, which must have this status."""
        answer = self.send(method, path, said, **headers)
        assert answer.status_code == status, answer.content
        return answer.json() if answer.content else None

    def again(self) -> ApiToken:
        """Its token, read anew."""
        return ApiToken.objects.get(pk=self.token.pk)
