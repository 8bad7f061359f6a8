"""Whether sensitivity and noise are what the mechanism makes of domain, unit and loss, in exact arithmetic."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mechanisms import registry
from mechanisms.calibration import law_for
from mechanisms.continual.mechanism import StreamPlan
from mechanisms.domain import Categorical, Domain
from mechanisms.json_types import JsonObject
from mechanisms.matrix.marginals.laplace import WeightedMarginals
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.reconstruction import RECONSTRUCTION
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.matrix.workload.text import read_workload
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.limits import RowCount
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.replicates import with_replicates
from mechanisms.moments.basis import bases_for
from mechanisms.moments.mechanism import explanation
from mechanisms.moments.plan import ColumnPlan, MomentsPlan
from mechanisms.protocol import Plan
from mechanisms.refusal import RefusalError
from mechanisms.response import ResponsePlan
from mechanisms.selection import SelectionPlan
from mechanisms.summary.plan import SummaryPlan
from mechanisms.verify import strategy
from mechanisms.verify.bundle import STREAM, Bundle, BundleError
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import is_same, leaves
from mechanisms.verify.uploads import uploaded

WHAT = "plan"
# What explains a plan: in another version's bundle, in that version's words.
ASIDE = {"explanation", "details"}
# What says how its curator wants cells to be made non-negative, or where the portal keeps what belongs to it.
CHOSEN = {"details.reconstruction", "details.stored_strategy"}


@dataclass(frozen=True)
class Planned:
    """A plan as release.json has it, and the same made anew; None where a bundle has not all that it takes."""

    stated: Any
    again: Any | None


def read(bundle: Bundle) -> Planned | None:
    """The plan of a bundle; None for a product that this version does not know. Raises BundleError."""
    reader = READERS.get(bundle.release["product"])
    if reader is None:
        return None
    try:
        plan = bundle.release["plan"]
        return _queries(plan, uploaded(bundle)) if reader is _queries else reader(plan)
    except (RefusalError, LookupError, TypeError, ValueError, ArithmeticError) as fault:
        raise BundleError("its plan cannot be read: {name}.", name=type(fault).__name__) from None


def check(bundle: Bundle, planned: Planned | None) -> Iterator[Finding]:
    """Whether the plan that is stated is the one that is made anew; and a line for what another version may word."""
    if planned is None:
        yield Finding(WHAT, State.NOT_CHECKED, f"this version does not know {bundle.release['product']!r}")
        return
    is_sure = bundle.is_of_this_version
    if json.dumps(bundle.release["plan"]) != json.dumps(planned.stated.to_json()):
        reason = "it says more than a plan does, or says it otherwise"
        yield Finding.by_version(WHAT, reason, is_sure=is_sure)
        if is_sure:
            return
    if planned.again is None:
        yield strategy.check(bundle, planned.stated)
        return
    others = _differing_entries(planned)
    worded = "" if is_sure else next((path for path in others if _is_aside(path, ASIDE)), "")
    if worded:
        yield Finding.by_version(WHAT, f"another {worded} than this version's", is_sure=False)
    other = next((path for path in others if is_sure or not _is_aside(path, ASIDE)), "")
    fault = f"another {other} than the mechanism's" if other else ""
    yield Finding.of(
        WHAT, fault, f"{planned.stated.mechanism} at {planned.stated.loss} has this sensitivity and noise"
    )


def _differing_entries(planned: Planned) -> list[str]:
    """The entries in which a plan is not the one that is made anew."""
    own = {path: value for path, value in leaves(_as_json(planned.again)) if not _is_aside(path, CHOSEN)}
    theirs = {path: value for path, value in leaves(_as_json(planned.stated)) if not _is_aside(path, CHOSEN)}
    return [path for path in {**own, **theirs} if not is_same(theirs.get(path), own.get(path))]


def _as_json(plan: Any) -> JsonObject:
    """A plan as it stands in release.json."""
    value: JsonObject = json.loads(json.dumps(plan.to_json()))
    return value


def _is_aside(path: str, aside: set[str]) -> bool:
    return any(path == each or path.startswith(f"{each}.") for each in aside)


def _histogram(value: JsonObject) -> Planned:
    plan = Plan.from_json(value)
    return Planned(plan, registry.mechanism(plan.mechanism).plan(plan.domain, plan.parameters, plan.loss))


def _means(value: JsonObject) -> Planned:
    plan = MomentsPlan.from_json(value)
    share = replace(plan.loss, amount=plan.loss.amount / len(plan.columns))
    is_public = plan.loss.unit.total_public
    public_number = is_public and plan.groups.size == 1
    allowed = bases_for(plan.loss.definition, plan.degree, public_number=public_number)

    def base_of(column: ColumnPlan) -> ColumnPlan:
        """Which of the bases is taken depends on room for sums alone; what it moves and its noise do not."""
        basis = column.basis if column.basis in allowed else allowed[-1]
        moved = replace(column, basis=basis).moved(plan.degree, plan.loss.unit)
        return replace(column, basis=basis, sensitivity=moved, noise=law_for(share, moved))

    columns = tuple(map(base_of, plan.columns))
    text = explanation(columns, plan.degree, plan.loss.unit)
    total = plan.total if is_public and (plan.total or 0) >= 0 else None
    return Planned(plan, replace(plan, columns=columns, explanation=text, total=total))


def _summary(value: JsonObject) -> Planned:
    plan = SummaryPlan.from_json(value)
    return Planned(plan, registry.summary(plan.mechanism).again(plan))


def _selection(value: JsonObject) -> Planned:
    plan = SelectionPlan.from_json(value)
    return Planned(plan, registry.selection(plan.mechanism).plan(plan.score, plan.loss, plan.picks))


def _response(value: JsonObject) -> Planned:
    """Its plan names no column, and depends on the number of its cells alone."""
    plan = ResponsePlan.from_json(value)
    # The cell for all other values is the last one.
    cells = Categorical("cell", values=tuple(map(str, range(plan.categories - 1))))
    return Planned(plan, registry.response(plan.mechanism).plan(Domain((cells,)), plan.loss))


def _microdata(value: JsonObject) -> Planned:
    plan = MicrodataPlan.from_json(value)
    choice, rows = ColumnChoice(plan.keep, plan.criterion), RowCount(plan.rows, plan.total)
    method = registry.microdata(plan.mechanism)
    again = method.plan(plan.domain, plan.wishes, plan.loss, rows=rows, choice=choice, sums=plan.sums)
    return Planned(plan, with_replicates(again) if plan.replicates else again)


def _queries(value: JsonObject, matrices: Mapping[str, Explicit] | None = None) -> Planned:
    """matrices: uploaded queries, by the digest that names them."""
    domain = Domain.from_json(value["domain"])
    plan = QueryPlan.from_json(value, read_workload(value["workload"], domain, matrices))
    if plan.details[RECONSTRUCTION.name] not in dict(RECONSTRUCTION.choices):
        raise ValueError("It is no way to make cells non-negative.")
    method = registry.query_mechanism(plan.mechanism)
    if isinstance(method, WeightedMarginals):
        if min(plan.details["weights"]) < 1:
            raise ValueError("A table is counted with a weight of less than 1.")
        return Planned(plan, method.plan(plan.domain, plan.workload, plan.loss, method.weights_of(plan)))
    if method.optimises or method.is_uploaded:
        return Planned(plan, None)
    return Planned(plan, method.plan(plan.domain, plan.workload, plan.loss))


def _stream(value: JsonObject) -> Planned:
    plan = StreamPlan.from_json(value)
    again = registry.stream(plan.mechanism).plan(plan.request, plan.loss)
    # Its expected error is a sum of floats, which ends a little apart on another processor.
    same = math.isclose(again.mean_squared_error, plan.mean_squared_error, rel_tol=1e-9)
    return Planned(plan, replace(again, mean_squared_error=plan.mean_squared_error) if same else again)


READERS: dict[str, Callable[[JsonObject], Planned]] = {
    "histogram": _histogram,
    "means": _means,
    "summary": _summary,
    "selection": _selection,
    "response": _response,
    "microdata": _microdata,
    "queries": _queries,
    STREAM: _stream,
}
