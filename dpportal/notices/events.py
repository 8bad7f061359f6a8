"""What people and programs are given notice of: kinds of events, and what is said of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext_lazy as _


class EventKind(models.TextChoices):
    """What happened, by the name that programs know it by."""

    JOB = "job.finished", _("A job that you started has ended, or waits for your word")
    BUDGET = "budget.decided", _("A budget of your dataset is granted or declined")
    PERIOD = "period.added", _("A period is added to a running count of your dataset")
    TEST = "webhook.test", _("A test that you sent")


# What a person can choose; a test comes when its button is pressed.
CHOICES = [(kind.value, kind.label) for kind in EventKind if kind != EventKind.TEST]


@dataclass(frozen=True)
class Event:
    """Something that happened. It holds nothing that is not on a page of the people who hear of it, and no count.

    data: ids and states by name, for programs. path: of that page. subject, text: of the mail.
    """

    kind: EventKind
    data: Mapping[str, str | int]
    path: str
    subject: str
    text: str
