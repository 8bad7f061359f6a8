"""What every mechanism would do for a stream, side by side, before any budget is spent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from mechanisms.accounting import Loss
from mechanisms.continual.mechanism import StreamMechanism, StreamPlan, StreamRequest
from mechanisms.protocol import PlanError


@dataclass(frozen=True)
class StreamOffer:
    """A mechanism's plan, or why it has none: exactly one of `plan` and `refusal` is there."""

    mechanism: StreamMechanism
    plan: StreamPlan | None
    refusal: str = ""

    @property
    def standard_error(self) -> float | None:
        """The root mean squared error of a published running count, over the horizon."""
        return None if self.plan is None else math.sqrt(self.plan.mean_squared_error)


def offers(mechanisms: Iterable[StreamMechanism], request: StreamRequest, loss: Loss) -> list[StreamOffer]:
    """What each mechanism offers, in their order. Data-free, and quick enough for a form."""
    return [_offer(mechanism, request, loss) for mechanism in mechanisms]


def suggested(candidates: Iterable[StreamOffer]) -> StreamOffer | None:
    """The offer of the least mean squared error, but for those shown only to compare with; None if all refuse.

    Of equal ones the first.
    """
    errors = [
        (offer.plan.mean_squared_error, offer)
        for offer in candidates
        if offer.plan is not None and not offer.mechanism.reference
    ]
    return min(errors, key=lambda pair: pair[0])[1] if errors else None


def _offer(mechanism: StreamMechanism, request: StreamRequest, loss: Loss) -> StreamOffer:
    try:
        return StreamOffer(mechanism, mechanism.plan(request, loss))
    except PlanError as error:
        return StreamOffer(mechanism, None, str(error))
