"""Webhooks: what a program of the person's is told of, and what became of that."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.origins import origin_of
from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import ADMINISTER, READ
from dpportal.api.refused_forms import require_valid
from dpportal.api.shown import PageNumber, page_of
from dpportal.api.webhook_schemas import (
    DeliveryPage,
    DeliveryShown,
    WebhookAdded,
    WebhookChange,
    WebhookNew,
    WebhookShown,
)
from dpportal.notices import services
from dpportal.notices.forms import KindsForm, WebhookForm
from dpportal.notices.models import Delivery, Webhook
from dpportal.platform.form_data import form_data

router = Router(tags=["webhooks"])


@router.get("", auth=READ, response=list[WebhookShown])
def webhooks(request: HttpRequest) -> object:
    """The webhooks of the token's person."""
    return [_shown(own) for own in current_user(request).webhooks.all()]


@router.post("", auth=ADMINISTER, response={201: WebhookAdded})
def add_webhook(request: HttpRequest, payload: WebhookNew) -> object:
    """Add one, at a host that an administrator allowed. The answer has its secret, this once."""
    form = WebhookForm(form_data(payload.dict()))
    require_valid(form)
    chosen = form.cleaned_data
    own, secret = services.add(current_user(request), chosen["address"], chosen["kinds"], origin_of(request))
    return Status(201, WebhookAdded(**_shown(own).dict(), secret=secret))


@router.patch("/{uuid:webhook_id}", auth=ADMINISTER, response=WebhookShown)
def change_webhook(request: HttpRequest, webhook_id: UUID, payload: WebhookChange) -> object:
    """Say what it is told of, or pause it: what happens meanwhile is not sent later."""
    own, by = _own_webhook(request, webhook_id), current_user(request)
    if payload.kinds is not None:
        form = KindsForm(form_data({"kinds": payload.kinds}))
        require_valid(form)
        services.change(own, form.cleaned_data["kinds"], by)
    if payload.paused is not None:
        services.pause(own, payload.paused, by)
    return _shown(own)


@router.delete("/{uuid:webhook_id}", auth=ADMINISTER, response={204: None})
def delete_webhook(request: HttpRequest, webhook_id: UUID) -> object:
    """Delete it, with its secret and its deliveries."""
    services.delete(_own_webhook(request, webhook_id), current_user(request))
    return Status(204, None)


@router.post("/{uuid:webhook_id}/test", auth=ADMINISTER, response={202: DeliveryShown})
def test_webhook(request: HttpRequest, webhook_id: UUID) -> object:
    """Send it a test; the list of its deliveries says what became of it."""
    return Status(202, _delivery(services.test(_own_webhook(request, webhook_id))))


@router.get("/{uuid:webhook_id}/deliveries", auth=READ, response=DeliveryPage)
def deliveries(request: HttpRequest, webhook_id: UUID, page: PageNumber = 1) -> object:
    """What was sent to it, or waits, the newest first."""
    return page_of(request, _own_webhook(request, webhook_id).deliveries.all(), page, _delivery)


def _own_webhook(request: HttpRequest, webhook_id: UUID) -> Webhook:
    return get_object_or_404(Webhook, pk=webhook_id, person=current_user(request))


def _shown(own: Webhook) -> WebhookShown:
    return WebhookShown(id=own.pk, address=str(own.address), kinds=own.kinds, paused=own.paused)


def _delivery(delivery: Delivery) -> DeliveryShown:
    return DeliveryShown(
        id=delivery.pk,
        type=delivery.kind,
        state=delivery.state,
        tries=delivery.tries,
        status=delivery.status,
        fault=delivery.shown_fault,
        at=delivery.at,
    )
