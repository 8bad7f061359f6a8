"""What a curator may ask of a histogram: the checks that every one of them makes before planning or measuring."""

from __future__ import annotations

import numpy as np

from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.domain import Domain
from mechanisms.protocol import Parameter, Parameters, PlanError

MAX_AMOUNT = 1000

WITHIN_BINS = Parameter(
    name="within_bins",
    label="Values inside a bin",
    help="Where in its bin a synthetic value lies: as the counts of the bins beside it suggest, or at the middle.",
    default="smooth",
    choices=(("smooth", "As the bins beside it suggest"), ("midpoint", "At the middle of the bin")),
)


def check_cells(domain: Domain, limit: int) -> None:
    """Raises PlanError unless the domain has at least one column, and cells up to the limit."""
    if not domain.attributes:
        raise PlanError("Choose at least one column.")
    if not 1 <= domain.size <= limit:
        raise PlanError(
            "The chosen columns have {size:,} cells; at most {limit:,} can be released by this method. "
            "Choose another one, fewer columns or wider bins.",
            size=domain.size,
            limit=limit,
        )


def check_amount(loss: Loss) -> None:
    """Raises PlanError for a loss that is no protection."""
    if loss.amount > MAX_AMOUNT:
        raise PlanError(
            "{symbol} = {float:g} protects nobody. Choose at most {max_amount}; values up to about 1 are "
            "usual.",
            symbol=loss.symbol,
            float=float(loss.amount),
            max_amount=MAX_AMOUNT,
        )


def choice(parameter: Parameter, parameters: Parameters) -> str:
    """The value given for a parameter of kind "choice", or its default. Raises PlanError for another value."""
    value = parameters.get(parameter.name, parameter.default)
    allowed = [key for key, _ in parameter.choices]
    if value not in allowed:
        raise PlanError("{label}: choose one of {names}.", label=parameter.label, names=", ".join(allowed))
    return str(value)


def integer_parameter(parameter: Parameter, parameters: Parameters) -> int:
    """The value given for a parameter of kind "integer", or its default. Raises PlanError outside its bounds."""
    value = parameters.get(parameter.name, parameter.default)
    low, high = parameter.minimum, parameter.maximum
    assert low is not None and high is not None
    if not isinstance(value, int) or not low <= value <= high:
        raise PlanError(
            "{label}: give a whole number from {low:,} to {high:,}.",
            label=parameter.label,
            low=low,
            high=high,
        )
    return value


def public_total(parameters: Parameters, unit: PrivacyUnit) -> dict[str, int]:
    """The public number of rows, if one was given and it is public."""
    if parameters.get("total") is None:
        return {}
    if not unit.total_public:
        raise PlanError(
            "The number of rows is private here, as a person may have fewer of them, or none. Leave it out."
        )
    total = int(parameters["total"])
    if total < 0:
        raise PlanError("The number of rows must not be negative.")
    return {"total": total}


def known_rows(total: int | None, unit: PrivacyUnit) -> int | None:
    """The public number of rows, as `public_total`; None if none was given."""
    return None if total is None else public_total({"total": total}, unit)["total"]


def check_counts(domain: Domain, counts: np.ndarray) -> None:
    """Raises ValueError unless counts are (domain.size,) int64 >= 0; the message holds no count."""
    expected = (domain.size,)
    if counts.shape != expected:
        raise ValueError(f"counts must have shape {expected}, got {counts.shape}")
    if counts.dtype != np.int64:
        raise ValueError(f"counts must have type int64, got {counts.dtype}")
    if counts.min() < 0:
        raise ValueError("counts must not be negative")
