"""How often an interval from a synthetic table holds the truth: means and coefficients of regressions.

Tables of people are drawn from a known law of five columns: age in 8 classes, town in 3 of which one has 4 % of the
people, income in 10 classes and two yes or no. Each is released by latent classes with every pair required, at ε = 1
(δ = 10^-9, as zCDP). For every number of an analysis, with its true value in the law: how many of the intervals hold it
that treat the synthetic rows as people; how many of those from `replicates`, as a bundle's README combines them; how
many by the rules for fully synthetic data (Raghunathan, Reiter, Rubin 2003) applied to tables that are drawn from one
fit, as they ask, but without the noise in that fit; then the spread of the estimate over releases, and how far its mean
is from the truth. Income depends on age more among members: an interaction of three columns, which tables of pairs do
not hold. It is the one line that is not to be covered.
After the share of the replicates' intervals stands what it can be, with 95 % chance (Clopper and Pearson 1934).
A release takes some 3 seconds of processor time; with --few, three regressions of age, membership and income, one.

Run: python -m tests.benchmarks.inference [--few] [--tables 200] [--people 4000] [--epsilon 0.1 | 1 | 10]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256

# Before numpy is loaded: products of small matrices are fastest, and always the same, on one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.stats import binomtest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.latent_classes import LatentClasses
from mechanisms.microdata.replicates import TABLES, every_pair, replicates, with_replicates
from mechanisms.noise import Noise, repeatable
from tests.benchmarks.synthesis import RHO

AGE, TOWN, MEMBER, INCOME, ILL = range(5)
DOMAIN = Domain(
    (
        Integer("age", lower=0, upper=7),
        Categorical("town", values=("north", "south", "isle"), closed=True, misfits_to=0),
        Boolean("member"),
        Integer("income", lower=0, upper=9),
        Boolean("ill"),
    )
)
# Of Student's law with one degree of freedom less than there are tables, for 95 %.
QUANTILE = 2.1
Analysis = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def population(interaction: float) -> tuple[np.ndarray, np.ndarray]:
    """(cells, 5) all rows that there can be, and the probability of each."""
    rows = np.indices(DOMAIN.shape).reshape(5, -1).T
    age, town, member, income, ill = rows.T.astype(float)
    older, isle = age - 3.5, town == 2
    law = np.exp(-(older**2) / 8) * np.array([0.6, 0.36, 0.04])[rows[:, TOWN]]
    law *= np.exp(0.1 * (town == 1) * older)
    law *= _coin(member, 0.25 * older - 0.3 + 0.6 * isle)
    wage = 2 + 0.5 * age + member + 1.2 * isle + interaction * older * member
    density = np.exp(-((np.arange(10)[:, None] - wage) ** 2) / 6.5)
    law *= np.exp(-((income - wage) ** 2) / 6.5) / density.sum(axis=0)
    law *= _coin(ill, -1.5 + 0.25 * age + 0.7 * member + 0.9 * isle)
    return rows, law / law.sum()


def _coin(value: np.ndarray, logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(2 * value - 1) * logit))


def design(rows: np.ndarray, terms: Sequence[str]) -> np.ndarray:
    """(rows, terms) regressors, the constant first."""
    terms_by_name = {
        "age": rows[:, AGE],
        "member": rows[:, MEMBER],
        "income": rows[:, INCOME],
        "isle": rows[:, TOWN] == 2,
        "south": rows[:, TOWN] == 1,
        "age × member": rows[:, AGE].astype(float) * rows[:, MEMBER],
    }
    return np.column_stack([np.ones(len(rows)), *(terms_by_name[term] for term in terms)]).astype(float)


def linear(column: int, *terms: str) -> Analysis:
    """Least squares: coefficients, and their variances as if rows were people."""

    def analysis(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        regressors, target = design(rows, terms), rows[:, column].astype(float)
        inverse = np.linalg.pinv((regressors * weights[:, None]).T @ regressors)
        found = inverse @ regressors.T @ (weights * target)
        residual = weights @ (target - regressors @ found) ** 2 / weights.sum()
        return found, residual * np.diag(inverse)

    return analysis


def logistic(column: int, *terms: str) -> Analysis:
    """The same of a logistic regression, by Newton's steps."""

    def analysis(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        regressors, target = design(rows, terms), rows[:, column].astype(float)
        found = np.zeros(regressors.shape[1])
        for _ in range(12):
            chance = _coin(np.ones(len(rows)), regressors @ found)
            spread = weights * chance * (1 - chance)
            inverse = np.linalg.pinv((regressors * spread[:, None]).T @ regressors)
            found = found + inverse @ regressors.T @ (weights * (target - chance))
        return found, np.diag(inverse)

    return analysis


ANALYSES: dict[str, tuple[Analysis, tuple[str, ...]]] = {
    "mean": (linear(INCOME), ("income",)),
    "share": (linear(ILL), ("ill",)),
    "linear": (linear(INCOME, "age", "member"), ("constant", "age", "member")),
    "logistic": (logistic(ILL, "age", "member"), ("constant", "age", "member")),
    "rare group": (
        linear(INCOME, "age", "member", "south", "isle"),
        ("constant", "age", "member", "south", "isle"),
    ),
    "interaction": (
        linear(INCOME, "age", "member", "age × member"),
        ("constant", "age", "member", "age × member"),
    ),
}
FEW_ANALYSES: dict[str, tuple[Analysis, tuple[str, ...]]] = {
    "mean": ANALYSES["mean"],
    "linear": ANALYSES["linear"],
    "logistic of membership": (logistic(MEMBER, "age", "income"), ("constant", "age", "income")),
    "linear of age": (linear(AGE, "member", "income"), ("constant", "member", "income")),
}


@dataclass(frozen=True)
class Study:
    """Some of the five columns, and what is computed of them."""

    columns: tuple[int, ...]
    analyses: Mapping[str, tuple[Analysis, tuple[str, ...]]]

    @property
    def domain(self) -> Domain:
        return Domain(tuple(DOMAIN.attributes[j] for j in self.columns))

    @property
    def lines(self) -> list[str]:
        return [f"{name}: {term}" for name, (_analysis, terms) in self.analyses.items() for term in terms]

    def analysed(self, rows: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """(2, lines): every number of every analysis, and its variance as if rows were people."""
        if weights is None:
            rows, counts = np.unique(rows.astype(np.int64), axis=0, return_counts=True)
            weights = counts.astype(float)
        in_places = np.zeros((len(rows), len(DOMAIN.shape)), dtype=np.int64)
        in_places[:, self.columns] = rows
        return np.hstack([analysis(in_places, weights) for analysis, _terms in self.analyses.values()])

    def population(self, interaction: float) -> tuple[np.ndarray, np.ndarray]:
        """As `population`, of these columns."""
        rows, law = population(interaction)
        cells = np.ravel_multi_index(tuple(rows[:, self.columns].T), self.domain.shape)
        shares = np.bincount(cells, weights=law, minlength=self.domain.size)
        return np.indices(self.domain.shape).reshape(len(self.columns), -1).T, shares


ALL = Study((AGE, TOWN, MEMBER, INCOME, ILL), ANALYSES)
FEW = Study((AGE, MEMBER, INCOME), FEW_ANALYSES)


def combined(estimates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(tables, lines), that of the table fitted to what was measured first: estimates and half widths."""
    first, again = estimates[0], estimates[1:]
    return first, QUANTILE * np.sqrt(((again - first) ** 2).sum(axis=0) / (len(again) - 1))


def fully_synthetic(
    study: Study, rows: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and half widths of tables drawn from one fit, by Raghunathan, Reiter, Rubin 2003: (1 + 1/m)b - ū."""
    each = np.array([study.analysed(rows[random.integers(0, len(rows), len(rows))]) for _ in range(TABLES)])
    between, within = each[:, 0].var(axis=0, ddof=1), each[:, 1].mean(axis=0)
    return each[:, 0].mean(axis=0), 1.96 * np.sqrt(np.maximum((1 + 1 / TABLES) * between - within, 0))


def release(study: Study, number: int, people: np.ndarray, epsilon: str) -> np.ndarray:
    """(3 ways, 2, lines): estimates and half widths of one release of these people."""
    method, domain = LatentClasses(), study.domain
    loss = Loss(Definition.ZCDP, Fraction(RHO[epsilon]))
    plan = with_replicates(method.plan(domain, Wishes(required=every_pair(domain)), loss))
    random = repeatable(sha256(f"release {number}".encode()).digest())
    measurement = method.measure(plan, plan.tables.of_rows(people), Noise(random.bytes))
    rows = method.reconstruct(plan, measurement).rows
    found, variances = study.analysed(rows)
    tables = np.array([study.analysed(table)[0] for table in replicates(method, plan, measurement)])
    return np.array(
        [(found, 1.96 * np.sqrt(variances)), combined(tables), fully_synthetic(study, rows, random)]
    )


def report(lines: list[str], truth: np.ndarray, releases: np.ndarray) -> None:
    """releases: (releases, 3 ways, 2, lines)."""
    held = np.abs(releases[:, :, 0] - truth) <= releases[:, :, 1]
    print(
        f"{'after ' + str(len(held)) + ' releases':26} {'truth':>7} {'as people':>10} {'replicates':>24}",
        end=" ",
    )
    print(f"{'rules 2003':>11} {'spread':>7} {'off by':>7} {'±':>7}")
    for line, name in enumerate(lines):
        found = releases[:, 1, :, line]
        shares = held[:, :, line].mean(axis=0)
        can_be = binomtest(int(held[:, 1, line].sum()), len(held)).proportion_ci()
        between = f"({can_be.low:.1%} to {can_be.high:.1%})"
        print(f"{name:26} {truth[line]:7.3f} {shares[0]:10.1%} {shares[1]:6.1%} {between:>17}", end=" ")
        print(f"{shares[2]:11.1%}", end=" ")
        print(f"{found[:, 0].std():7.3f} {found[:, 0].mean() - truth[line]:7.3f} {found[:, 1].mean():7.3f}")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--few", action="store_true", help="three columns alone")
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--epsilon", choices=RHO, default="1")
    parser.add_argument("--interaction", type=float, default=0.25)
    parser.add_argument("--show-every", type=int, default=50)
    chosen = parser.parse_args()
    study = FEW if chosen.few else ALL
    cells, law = study.population(chosen.interaction)
    truth, random, releases = study.analysed(cells, law)[0], np.random.default_rng(26), list[np.ndarray]()
    for number in range(chosen.tables):
        people = cells[random.choice(len(law), chosen.people, p=law)]
        releases.append(release(study, number, people, chosen.epsilon))
        if (number + 1) % chosen.show_every == 0 or number + 1 == chosen.tables:
            report(study.lines, truth, np.array(releases))


if __name__ == "__main__":
    main()
