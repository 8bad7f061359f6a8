"""What a curator can say that matters: weights, a target, pairs to be measured, pairs of values that cannot occur."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from mechanisms.domain import Categorical, Domain
from mechanisms.json_types import JsonObject
from mechanisms.microdata.feasible_row import SearchEndedError, possible_row
from mechanisms.microdata.impossible import Impossible
from mechanisms.microdata.known_values import KnownValue, KnownValues
from mechanisms.microdata.named_cells import cells_named, named_cell
from mechanisms.microdata.tables import Pair
from mechanisms.protocol import PlanError

HEAVIEST = 10
# How much more a pair with the target counts.
TARGET_WEIGHT = 4


@dataclass(frozen=True)
class Wishes:
    """Public statements about the columns, by name.

    weights: of columns, 1 to 10, 1 unless given; a pair counts by the heavier. pairs: (column, column, weight) of pairs
    that have a weight of their own instead. target: a column whose pairs count four times, or empty. required: pairs
    that are measured whatever their scores. zeros: (column, label, column, label) that cannot occur together, and do
    in no row. follows: (column, other) where a value of the first has one value of the other, whichever it is. known:
    (column, label, other, label) of such a pair where it is known which: every row with the first has the second.
    """

    weights: Mapping[str, int] = field(default_factory=dict)
    pairs: tuple[tuple[str, str, int], ...] = ()
    target: str = ""
    required: tuple[tuple[str, str], ...] = ()
    zeros: tuple[tuple[str, str, str, str], ...] = ()
    follows: tuple[tuple[str, str], ...] = ()
    known: tuple[KnownValue, ...] = ()

    def check(self, domain: Domain) -> None:
        """Raises PlanError if they speak of columns or values that are not declared, or leave no row possible."""
        named = [*self.weights, *([self.target] if self.target else [])]
        named += [
            name for pair in (*self.required, *self.follows, *(p[:2] for p in self.pairs)) for name in pair
        ]
        named += [line[i] for line in (*self.zeros, *self.known) for i in (0, 2)]
        for name in named:
            if name not in domain.names:
                raise PlanError(
                    "{name} is not among the chosen columns. Choose it, or leave it out of the wishes.",
                    name=name,
                )
        weights = [*self.weights.values(), *(weight for _a, _b, weight in self.pairs)]
        if any(not 1 <= weight <= HEAVIEST for weight in weights):
            raise PlanError(
                "Weights of columns and pairs must be whole numbers from 1 to {heaviest}.", heaviest=HEAVIEST
            )
        pairs = [p[:2] for p in (*self.required, *self.pairs, *self.follows)] + [z[::2] for z in self.zeros]
        if any(first == other for first, other in pairs):
            raise PlanError("A pair needs two different columns.")
        self._check_follows(domain)
        self._check_zeros(domain)

    def _check_follows(self, domain: Domain) -> None:
        seen, zeros = {first for first, _other in self.follows}, {z[i] for z in self.zeros for i in (0, 2)}
        for first, other in self.follows:
            if not isinstance(domain.attributes[domain.names.index(first)], Categorical):
                raise PlanError(
                    "{first} has no declared categories, so no column can follow from it.", first=first
                )
            if other in seen:
                raise PlanError(
                    "{other} follows from more than one column, or in turn. Keep one of them.", other=other
                )
            if other in zeros:
                raise PlanError(
                    "{other} follows from {first}, and some of its values cannot occur with others. Take one "
                    "back.",
                    other=other,
                    first=first,
                )
            seen.add(other)
        if missing := next((line for line in self.known if line[::2] not in self.follows), None):
            raise PlanError(
                "{other} is not among the columns that follow from {first}. Say so, too.",
                other=missing[2],
                first=missing[0],
            )
        self.known_values(domain)

    def _check_zeros(self, domain: Domain) -> None:
        try:
            row = possible_row(domain.shape, self.impossible(domain))
        except SearchEndedError:
            raise PlanError(
                "Among all values that cannot occur together no row was found that holds none of them, in the time "
                "that the search may take; perhaps there is one. Take some of them back."
            ) from None
        if row is None:
            raise PlanError(
                "The values that cannot occur together leave no row possible. Take some of them back."
            )

    def among(self, names: Collection[str]) -> Wishes:
        """Those wishes that speak of these columns alone."""
        return Wishes(
            weights={name: weight for name, weight in self.weights.items() if name in names},
            pairs=tuple(pair for pair in self.pairs if set(pair[:2]) <= set(names)),
            target=self.target if self.target in names else "",
            required=tuple(pair for pair in self.required if set(pair) <= set(names)),
            zeros=tuple(zero for zero in self.zeros if {zero[0], zero[2]} <= set(names)),
            follows=tuple(pair for pair in self.follows if set(pair) <= set(names)),
            known=tuple(line for line in self.known if {line[0], line[2]} <= set(names)),
        )

    def pair_weight(self, domain: Domain, pair: Pair) -> int:
        """How much a pair counts, a whole number of at least 1."""
        names = [domain.names[j] for j in pair]
        own = [weight for a, b, weight in self.pairs if {a, b} == set(names)]
        weight = own[-1] if own else max(self.weights.get(name, 1) for name in names)
        return weight * (TARGET_WEIGHT if self.target in names else 1)

    def required_pairs(self, domain: Domain) -> list[Pair]:
        """The required pairs by the columns' places, each once."""
        places = {name: place for place, name in enumerate(domain.names)}
        return sorted({(min(p), max(p)) for p in ((places[a], places[b]) for a, b in self.required)})

    def dependencies(self, domain: Domain) -> list[tuple[int, int]]:
        """The places of each column and of that which follows from it."""
        return [(domain.names.index(first), domain.names.index(other)) for first, other in self.follows]

    def known_values(self, domain: Domain) -> KnownValues:
        """Which value follows from which, by place. Raises PlanError for a label that is none."""
        return KnownValues.read(domain, self.known)

    def impossible(self, domain: Domain) -> Impossible:
        """The pairs of cells that cannot occur, by place. Raises PlanError for a label that is none."""
        result: dict[Pair, list[tuple[int, int]]] = {}
        columns = {name for zero in self.zeros for name in (zero[0], zero[2])}
        named = {name: cells_named(domain.attributes[domain.names.index(name)]) for name in columns}
        for first, value, second, other in self.zeros:
            a, x = domain.names.index(first), named_cell(named[first], first, value)
            b, y = domain.names.index(second), named_cell(named[second], second, other)
            pair, cells = ((a, b), (x, y)) if a < b else ((b, a), (y, x))
            result.setdefault(pair, []).append(cells)
        return Impossible({pair: tuple(sorted(set(cells))) for pair, cells in sorted(result.items())})

    def to_json(self) -> dict[str, object]:
        return {
            "weights": dict(self.weights),
            "pairs": [list(pair) for pair in self.pairs],
            "target": self.target,
            "required": [list(pair) for pair in self.required],
            "zeros": [list(zero) for zero in self.zeros],
            "follows": [list(pair) for pair in self.follows],
            "known": [list(line) for line in self.known],
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Wishes:
        return cls(
            weights={str(k): int(v) for k, v in value.get("weights", {}).items()},
            pairs=tuple((str(a), str(b), int(w)) for a, b, w in value.get("pairs", ())),
            target=str(value.get("target", "")),
            required=tuple((str(a), str(b)) for a, b in value.get("required", ())),
            zeros=tuple((str(a), str(x), str(b), str(y)) for a, x, b, y in value.get("zeros", ())),
            follows=tuple((str(a), str(b)) for a, b in value.get("follows", ())),
            known=tuple((str(a), str(x), str(b), str(y)) for a, x, b, y in value.get("known", ())),
        )
