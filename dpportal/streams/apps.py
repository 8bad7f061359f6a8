from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StreamsConfig(AppConfig):
    name = "dpportal.streams"
    verbose_name = _("Running counts")

    def ready(self) -> None:
        from dpportal.budgets import continuing, second_person
        from dpportal.budgets.ledger import BudgetRefusedError
        from dpportal.datasets import gone_columns
        from dpportal.datasets.services import erasing
        from dpportal.streams import (
            downloads,  # noqa: F401 (a kind of job, as the next but two)
            drafts,
            gone_choices,
            job_execution,  # noqa: F401
        )
        from dpportal.streams.measure import StreamDraftError
        from dpportal.streams.models import Stream
        from dpportal.streams.services import StreamError, forget, request_opening

        erasing.connect(forget, dispatch_uid="streams forget what is erased")
        refusals = (StreamDraftError, StreamError, BudgetRefusedError)
        second_person.declare(second_person.Spender(Stream, drafts.plan_of, request_opening, refusals))
        continuing.declare_drafts("streams:review", Stream, "stream_id")
        gone_columns.declare(gone_choices.forget, Stream)
        self._watch()

    def _watch(self) -> None:
        """What was confirmed and published, and which programs may add periods."""
        from dpportal.history.watched import watch
        from dpportal.streams import file_imprints, period_imprints  # noqa: F401 (declare files and periods)
        from dpportal.streams.models import Stream, Token

        own = (
            "name",
            "description",
            "column",
            "cells",
            "split",
            "summed",
            "labels",
            "expected",
            "token_sha256",
        )
        calendar = ("step", "first_day", "horizon", "opened_at", "closed_at", "closed_by_restore")
        paid = ("amount", "priced_in", "charge", "domain_version")
        watch(
            Stream, *Stream.CONFIRMED, *paid, *own, "largest_increment", *calendar, rows=Stream.IS_CONFIRMED
        )
        watch(Token, "by", "expires_at", "made_with")
