"""What a stream would do and cost, from the declared domain and the budget alone; no data is read here."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from django.utils.translation import gettext as _

from dpportal.budgets.models import Budget
from dpportal.charts.series import expectation_figure, expectation_periods
from dpportal.charts.style import Figure
from dpportal.datasets.models import DomainVersion
from dpportal.platform.stored_texts import translated
from dpportal.streams.calendar import CalendarError
from dpportal.streams.measure import Measure, StreamDraftError, counted_by
from dpportal.streams.models import Stream
from dpportal.streams.series import unit_of
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.continual import compare
from mechanisms.continual.compare import StreamOffer
from mechanisms.continual.mechanism import StreamPlan, StreamRequest
from mechanisms.protocol import PlanError

MAX_HORIZON = 2**20
# Lines that can still be told apart.
MAX_COMPARED = 5


def counted_of(stream: Stream) -> tuple[DomainVersion, Measure]:
    """What the draft counts, by the current domain. Raises StreamDraftError."""
    version = stream.dataset.current_domain()
    if version is None:
        raise StreamDraftError(_("No column is declared yet. Declare the columns first."))
    return version, counted_by(stream, version.domain())


def request_of(stream: Stream) -> tuple[DomainVersion, StreamRequest]:
    """What the strategies are asked for. Raises StreamDraftError."""
    version, counted = counted_of(stream)
    try:
        stream.calendar.start(stream.horizon or 1)
    except CalendarError as error:
        raise StreamDraftError(str(error)) from None
    return version, StreamRequest(stream.horizon, len(counted.labels), counted.largest)


def budget_of(stream: Stream) -> Budget:
    """The budget that the stream will be paid from; an empty one where none is granted yet."""
    return Budget.for_planning(stream.dataset)


def plan_of(stream: Stream) -> tuple[DomainVersion, StreamPlan]:
    """The draft's complete plan. Raises StreamDraftError."""
    version, request = request_of(stream)
    amount = stream.amount_of(budget_of(stream))
    if amount is None or stream.mechanism not in {m.name for m in registry.STREAMS}:
        raise StreamDraftError(_("Choose a cost and a method."))
    loss = loss_of(stream, version, amount)
    try:
        return version, registry.stream(stream.mechanism).plan(request, loss)
    except PlanError as refusal:
        raise StreamDraftError(str(refusal)) from None


def offers(stream: Stream, amount: Decimal, only: str = "") -> list[StreamOffer]:
    """Every strategy at this cost, the most accurate first, those without a plan last. Raises StreamDraftError.

    only: the name of one that is asked for alone.
    """
    version, request = request_of(stream)
    loss = loss_of(stream, version, amount)
    strategies = [strategy for strategy in registry.STREAMS if strategy.name == only] or registry.STREAMS
    listed = compare.offers(strategies, request, loss)
    return sorted(listed, key=lambda offer: (offer.plan is None, offer.standard_error or math.inf))


def expectations(stream: Stream, listed: list[StreamOffer]) -> Figure | None:
    """The expected error by period of the most accurate strategies, drawn together."""
    plans = {o.mechanism: o.plan for o in listed if o.plan is not None and not o.mechanism.reference}
    if not plans:
        return None
    shown = list(plans.items())[:MAX_COMPARED]
    horizon = stream.horizon or max(int(plan.details["periods_shown"]) for _mechanism, plan in shown)
    periods = expectation_periods(horizon)
    errors = {translated(m.title): np.sqrt(m.variances(plan, periods)) for m, plan in shown}
    return expectation_figure(periods, errors, unit=unit_of(stream, stream.dataset.current_domain()))


def loss_of(stream: Stream, version: DomainVersion, amount: Decimal) -> Loss:
    """What a cost would buy for what the draft counts. Raises StreamDraftError.

    No number of rows is published with a running count, so it hides that, too. Its noise is as wide as where that is
    public: a row that enters or leaves moves the counts by less than one that is replaced.
    """
    _version, counted = counted_of(stream)
    unit = version.unit.allowing_absence(True)
    return Loss(Definition(budget_of(stream).definition), Fraction(amount), unit).for_domain(counted.domain)
