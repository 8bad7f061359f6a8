"""Ordinary releases that nobody chose: a table, its declaration and a product, all drawn by a seed."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable

from dpportal.accounts.models import User
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError
from dpportal.releases.services import ReleaseError
from mechanisms import registry
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real
from mechanisms.refusal import RefusalError
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.queries import building as queries

NAMES = ("age", "Q 12", "hours per week", "sex", "Größe", "region-7", "x_1", "收入", "rooms", "first visit")
VALUES = ("Nord", "Süd", "1", "2", "65+", "a b", "ja", "nein", "ICD 10", "x;y", "O'Neill", "7.5", "T&T", "是")
WORDS = ("none", "some, but few", "0", "ICD 11", "65 or more", "“so so”", "no answer", "12", "über", "r&d")
# As tables have them too: what may be read as a number, as the portal's own words, or as signs of a format.
ODD = (
    *(
        "2019",
        "count",
        "Total",
        "=cmd()",
        "2024-01-02",
        "1.5",
        "-3",
        "+1",
        "People",
        "Mean",
        "value",
        "noisy_count",
    ),
    *(
        "Overall",
        "All",
        "Margin",
        "95 %",
        "of",
        "is 7 ± 3 people",
        "12 people",
        "Noisy count",
        "Below 5",
        "收入 2019",
    ),
    *("עברית 12", "ab\u05d0", '"q" 5', "a|b 6", "`x` 7", "*bold* 8", "<b>9</b>", "a & b 10", "12,345", "1e9"),
    *(
        "none",
        "other",
        "missing",
        "NaN",
        "true",
        "cells",
        "query",
        "answer",
        "period",
        "estimate",
        "Q1",
        "e.g. 3",
    ),
    *(
        "5–9",
        "a_b",
        "__x__ 11",
        "$x$ 12",
        "\\x 13",
        "#1",
        "%",
        "100%",
        "2019/20",
        "v2.0",
        "ε = 1",
        "[1 to 2]",
        "(3)",
    ),
    *(
        "a;b",
        "a,b 14",
        "it's",
        "month 3 of 12",
        "007",
        "0x1F",
        "1/2",
        "½",
        "km²",
        "€ 5",
        "@x",
        "group",
        "synthetic",
    ),
    *(
        "measured",
        "number",
        "interval_lower",
        "loss",
        "private with ε = 3",
        "– 4",
        "3 to 5",
        "Table 1",
        "± 6",
        "x…",
    ),
    *("...", "column", "x 1 " * 30, "I", "12:30"),
)
# Of each person's one answer the portal asks whether such a column names people.
NAMES_OF_PEOPLE = {"People"}
PERSON = "block"
KINDS = ("integer", "real", "date", "categorical", "boolean")
MOST_DRAFTS = 40


class Drawing:
    """A table of `building.ROWS` rows with its declaration, and what is released of it; all follows from the seed."""

    def __init__(self, seed: int, *, odd: bool = False) -> None:
        """odd: whether its columns, values and words are called as few are."""
        self._draw = random.Random(seed)
        self._values, self._words = (ODD, ODD) if odd else (VALUES, WORDS)
        names = self._draw.sample(ODD if odd else NAMES, self._draw.randint(2, 4))
        # Of the first a mean can be released.
        self.attributes = [
            self._attribute(name, KINDS if place else KINDS[:3]) for place, name in enumerate(names)
        ]

    def dataset(self, owner: User, administrator: User, product: str) -> Dataset:
        """The table, a protection under which the product can be released, and a budget for any of it."""
        if product == "response":
            self.attributes = [a for a in self.attributes if a.name not in NAMES_OF_PEOPLE]
        table = {a.name: [self._field(a) for _ in range(building.ROWS)] for a in self.attributes}
        people = [str(row // 2) for row in range(building.ROWS)]
        dataset = dataset_of(owner, "Survey 2021", {PERSON: people, **table}, self.attributes)
        definition = self._draw.choice(("pure", "zcdp"))
        rows = self._draw.choice((0, 0, 1, 2))
        neighbours = "add-remove" if rows else self._draw.choice(("add-remove", "replace-one"))
        if product == "response":  # each person's one answer is randomised
            definition, rows, neighbours = "pure", 0, "replace-one"
        dataset_services.declare_unit(
            dataset, neighbours=neighbours, unit_column=PERSON if rows else "", max_rows=rows or 1
        )
        return building.granted(dataset, administrator, "1000", definition)

    def release(self, dataset: Dataset, product: str) -> Release:
        """A finished release of a product, drawn anew while a draft is refused, as one whose method has no plan is."""
        refusals = set()
        for _ in range(MOST_DRAFTS):
            try:
                return PRODUCTS[product](self, dataset)
            except (RefusalError, DraftError, ReleaseError) as refusal:
                refusals.add(str(refusal))
        raise AssertionError(f"all drafts were refused: {refusals}")

    def _attribute(self, name: str, kinds: tuple[str, ...]) -> Attribute:
        missing = self._draw.random() < 0.3
        kind = self._draw.choice(kinds)
        if kind == "categorical":
            values = tuple(self._draw.sample(self._values, self._draw.randint(2, 6)))
            words = tuple(self._draw.sample(self._words, len(values))) if self._draw.random() < 0.5 else ()
            return Categorical(name, missing, values=values, words=words, closed=self._draw.random() < 0.3)
        if kind == "integer":
            lower = self._draw.choice((0, 0, 1, 17, -20, 1000))
            upper = lower + self._draw.choice((1, 9, 72, 99, 400))
            return Integer(
                name,
                missing,
                lower=lower,
                upper=upper,
                width=min(self._draw.choice((1, 5, 10, 50)), upper - lower),
            )
        if kind == "real":
            lower, spread = (
                self._draw.choice((0.0, -1.5, 0.25)),
                self._draw.choice((1.0, 7.0, 100.0, 12_500.0)),
            )
            return Real(
                name, missing, lower=lower, upper=lower + spread, bins=self._draw.choice((2, 4, 7, 20))
            )
        if kind == "date":
            lower = dt.date(1990, 1, 1) + dt.timedelta(days=self._draw.randint(0, 9_000))
            upper = lower + dt.timedelta(days=self._draw.randint(400, 3_000))
            return Date(
                name, missing, lower=lower, upper=upper, step=self._draw.choice(("month", "quarter", "year"))
            )
        return Boolean(name, missing)

    def _field(self, attribute: Attribute) -> str:
        if self._draw.random() < 0.06:
            return self._draw.choice(("", "other", "1e9"))
        if isinstance(attribute, Categorical):
            return self._draw.choice(attribute.values)
        if isinstance(attribute, Integer):
            return str(self._draw.randint(attribute.lower, attribute.upper))
        if isinstance(attribute, Real):
            return f"{self._draw.triangular(attribute.lower, attribute.upper):.2f}"
        if isinstance(attribute, Date):
            days = self._draw.randint(0, (attribute.upper - attribute.lower).days)
            return (attribute.lower + dt.timedelta(days=days)).isoformat()
        return self._draw.choice(("yes", "no"))

    def _amount(self) -> str:
        return self._draw.choice(("0.05", "0.3", "1", "2.5", "9"))

    def _columns(self, most: int) -> list[str]:
        names = [attribute.name for attribute in self.attributes]
        return self._draw.sample(names, self._draw.randint(1, min(most, len(names))))

    def _measurable(self) -> list[str]:
        return [a.name for a in self.attributes if isinstance(a, (Integer, Real, Date))]

    def histogram(self, dataset: Dataset) -> Release:
        method = self._draw.choice(registry.HISTOGRAMS).name
        return finished(dataset, "histogram", self._columns(3), self._amount(), method)

    def means(self, dataset: Dataset) -> Release:
        able = self._measurable()
        measured = self._draw.sample(able, self._draw.randint(1, len(able)))
        columns = list(dict.fromkeys([*measured, *self._columns(2)]))
        steps = {a.name: "0.25" for a in self.attributes if isinstance(a, Real) and a.name in measured}
        return finished(
            dataset,
            "means",
            columns,
            self._amount(),
            "bernstein-sums",
            measured=measured,
            deviation=self._draw.random() < 0.5,
            steps=steps,
        )

    def summary(self, dataset: Dataset) -> Release:
        names = [attribute.name for attribute in self.attributes]
        group = self._draw.choice(["", *names])
        twice = self._draw.sample(names, self._draw.randint(0, 1))
        return finished(
            dataset,
            "summary",
            names,
            self._amount(),
            "column-tables",
            group=group,
            twice=[name for name in twice if name != group],
        )

    def selection(self, dataset: Dataset) -> Release:
        question = self._draw.choice(("most-common-value", "quantile"))
        return finished(
            dataset,
            "selection",
            self._columns(1),
            self._amount(),
            self._draw.choice(registry.SELECTIONS).name,
            question=question,
            picks=self._draw.randint(1, 2) if question == "most-common-value" else 1,
            level=self._draw.choice(("1/2", "1/4", "9/10")),
        )

    def response(self, dataset: Dataset) -> Release:
        method = self._draw.choice(registry.RESPONSES).name
        return finished(dataset, "response", self._columns(1), self._amount(), method)

    def microdata(self, dataset: Dataset) -> Release:
        names = [attribute.name for attribute in self.attributes]
        method = self._draw.choice([m.name for m in registry.MICRODATA if m.name != "adversarial"])
        further = {"replicates": True, "sums": True} if self._draw.random() < 0.2 else {}
        return finished(dataset, "microdata", names, self._amount(), method, wishes={}, rows=None, **further)

    def queries(self, dataset: Dataset) -> Release:
        columns = self._columns(2)
        own = [f'{self._draw.choice(("identity", "ranges", "prefix"))}("{name}")' for name in columns]
        text = self._draw.choice((" x ".join(own), f"marginals(<={len(columns)})", "total"))
        method = self._draw.choice(
            ("automatic", "identity-strategy", "hierarchy-strategy", "haar-strategy", "p-identity")
            if "marginals" not in text
            else ("automatic", "weighted-marginals", "residual-planner")
        )
        return queries.finished(queries.draft_of(dataset, text, columns, self._amount(), method))


PRODUCTS: dict[str, Callable[[Drawing, Dataset], Release]] = {
    "histogram": Drawing.histogram,
    "means": Drawing.means,
    "summary": Drawing.summary,
    "selection": Drawing.selection,
    "response": Drawing.response,
    "microdata": Drawing.microdata,
    "queries": Drawing.queries,
}
