"""What the API takes and gives of webhooks, as its description says."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from ninja import Schema
from pydantic import StrictBool

from dpportal.api.schemas import Strict


class WebhookNew(Strict):
    """A new webhook. kinds: such as “job.finished”, “budget.decided” and “period.added”."""

    address: str
    kinds: list[str]


class WebhookChange(Strict):
    """What is to be different; what is left out stays."""

    kinds: list[str] | None = None
    paused: StrictBool | None = None


class WebhookShown(Schema):
    """A webhook, without its secret."""

    id: UUID
    address: str
    kinds: list[str]
    paused: bool


class WebhookAdded(WebhookShown):
    """A webhook with its secret, which is shown this once."""

    secret: str


class DeliveryShown(Schema):
    """A message to a webhook. status: of the receiver's last answer. fault: why it did not arrive."""

    id: UUID
    type: str
    state: str
    tries: int
    status: int | None
    fault: str
    at: datetime


class DeliveryPage(Schema):
    """Some messages, the newest first."""

    items: list[DeliveryShown]
    count: int
    next: str | None
