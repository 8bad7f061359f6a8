"""A stream as it is published so far, in arrays; and what post-processing makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from dpportal.budgets.promises import OtherPromises
from dpportal.charts.counted_word import counted_word
from dpportal.datasets.models import DomainVersion
from dpportal.datasets.protection import Protection
from dpportal.platform.listed_names import in_a_row
from dpportal.publications.statement import Counting, epsilon_delta_text, statement
from dpportal.streams.models import Period, Stream
from dpportal.value_choices.disclosure import PublishedLoss, sentences_of_draft
from mechanisms import registry
from mechanisms.continual.consistent import never_falling
from mechanisms.continual.mechanism import StreamPlan


@dataclass(frozen=True)
class Series:
    """T published periods of k running counts: all so far, the newest, or for a chart some of them.

    periods: their numbers from 1, (T,). labels: of the periods, (T,). names: of the running counts, (k,), one empty
        name where there is one only.
    released: (T, k) int64. half_widths: (T,) of the 95 % intervals. standard_errors: (T,) before publication rounds.
    unit: what is counted. published_at: of each period. plan: of the stream.
    """

    periods: np.ndarray
    labels: list[str]
    names: list[str]
    released: np.ndarray
    half_widths: np.ndarray
    standard_errors: np.ndarray
    unit: str
    published_at: list[datetime]
    plan: StreamPlan

    @property
    def last_published_at(self) -> datetime:
        return self.published_at[-1]

    @property
    def width(self) -> int:
        """The number k of running counts."""
        return len(self.names)

    def evenly_spaced(self, most: int) -> Series:
        """At most `most` evenly spaced periods of these, the last among them."""
        stride = max(1, -(-len(self.labels) // most))
        some = slice((len(self.labels) - 1) % stride, None, stride)
        return replace(
            self,
            periods=self.periods[some],
            labels=self.labels[some],
            released=self.released[some],
            half_widths=self.half_widths[some],
            standard_errors=self.standard_errors[some],
            published_at=self.published_at[some],
        )

    def called(self, name: Callable[[int], str]) -> Series:
        """The same, with other labels. name: of a period, by its number."""
        return replace(self, labels=[name(int(index)) for index in self.periods])

    @property
    def increments(self) -> np.ndarray:
        """(T, k) released counts minus the ones before: of neighbouring periods, and of the first if it is no. 1."""
        return np.diff(self.released, axis=0, prepend=0)

    @cached_property
    def increment_half_widths(self) -> np.ndarray:
        """(T,) of the 95 % intervals of the increments, whole numbers."""
        return registry.stream(self.plan.mechanism).increment_half_widths(self.plan, self.periods)

    @cached_property
    def increment_standard_errors(self) -> np.ndarray:
        """(T,) of the increments, before publication rounds."""
        errors: np.ndarray = np.sqrt(
            registry.stream(self.plan.mechanism).increment_variances(self.plan, self.periods)
        )
        return errors

    @cached_property
    def consistent(self) -> np.ndarray:
        """(T, k) the nearest series that never falls and is nowhere below 0."""
        return np.stack([self.never_falling(place) for place in range(self.width)], axis=1)

    def never_falling(self, place: int) -> np.ndarray:
        """(T,) one column of `consistent`."""
        return never_falling(self.released[:, place], self.standard_errors**2)

    @property
    def consistent_increments(self) -> np.ndarray:
        """(T, k) what the consistent series adds in each period, >= 0."""
        return np.diff(self.consistent, axis=0, prepend=0)


def published(stream: Stream) -> Series | None:
    """Everything published of a stream; None before its first period."""
    return _series(stream, stream.periods.all())


def evenly_spaced(stream: Stream, most: int) -> Series | None:
    """At most `most` evenly spaced periods, the last among them; None before the first."""
    last = stream.periods.count()
    stride = max(1, -(-last // most))
    some = stream.periods.alias(beyond=F("index") % stride).filter(Q(beyond=last % stride))
    return _series(stream, some)


def newest(stream: Stream, many: int) -> Series:
    """The last so many periods of a stream that has one."""
    series = _series(stream, stream.periods.filter(index__gt=stream.periods.count() - many))
    assert series is not None
    return series


def _series(stream: Stream, chosen: QuerySet[Period]) -> Series | None:
    rows = list(chosen.order_by("index").values_list("index", "released", "half_width", "published_at"))
    if not rows:
        return None
    calendar, plan = stream.calendar, stream.plan
    periods = np.array([index for index, *_rest in rows], dtype=np.int64)
    return Series(
        periods=periods,
        labels=[calendar.label(int(index)) for index in periods],
        names=list(stream.labels),
        released=np.array([released for _index, released, _width, _at in rows], dtype=np.int64),
        half_widths=np.array([width for _index, _released, width, _at in rows], dtype=np.int64),
        standard_errors=np.sqrt(registry.stream(plan.mechanism).variances(plan, periods)),
        unit=unit_of(stream),
        published_at=[at for *_numbers, at in rows],
        plan=plan,
    )


def promise(plan: StreamPlan, delta: float, version: DomainVersion, others: OtherPromises) -> str:
    """The privacy statement of a stream, and what others promise beside it.

    delta: at which a zCDP loss is also read as (ε, δ).
    """
    # A stream remembers nobody: where people can have several rows, no file of records is counted.
    own = statement(
        plan.loss,
        delta,
        Counting(version.unit_column, by_curator=True, without_table=not version.dataset.had_table),
        _("This running count"),
        whole_orders=whole_orders(plan),
        total_published=others.total_published,
    )
    return in_a_row([own, *others.sentences(plan.loss, Protection.of(version), _("this running count"))])


def promise_of_draft(draft: Stream, plan: StreamPlan, delta: float, version: DomainVersion) -> str:
    """The privacy statement of a stream before it is opened. delta: of the account. version: of the domain."""
    promised = promise(plan, delta, version, draft.other_promises)
    return " ".join([promised, *sentences_of_draft(draft, version)])


def as_epsilon_delta(plan: StreamPlan, delta: float) -> str:
    """The reading of a draft's zCDP loss as (ε, δ); empty for a pure loss."""
    return epsilon_delta_text(plan.loss, delta, whole_orders=whole_orders(plan))


def whole_orders(plan: StreamPlan) -> bool:
    """Whether its ρ is read as (ε, δ) by integer orders alone: see `zcdp_to_epsilon`."""
    return registry.stream(plan.mechanism).whole_orders


def promise_of(stream: Stream, others: OtherPromises) -> str:
    """The privacy statement of a stream that was confirmed. others: what else is promised of its dataset."""
    assert stream.domain_version is not None
    promised = promise(stream.plan, stream.delta, stream.domain_version, others)
    return in_a_row([promised, *PublishedLoss.of(stream).sentences()])


def kind_of() -> str:
    """What a published stream is, in citations."""
    return _("Differentially private running count")


def unit_of(stream: Stream, version: DomainVersion | None = None) -> str:
    """What a running count counts, for axes and columns. version: of the domain, for a stream that has none yet."""
    if stream.summed:
        return _("sum of %(column)s") % {"column": stream.summed}
    declared = stream.domain_version or version
    return counted_word(1 if declared is None else declared.max_rows)


def chosen_place(stream: Stream, chosen: str) -> int:
    """Which running count a visitor asked to see, from "0"; the first if there is no such one."""
    known = chosen.isdecimal() and len(chosen) < 6 and int(chosen) < len(stream.labels)
    return int(chosen) if known else 0
