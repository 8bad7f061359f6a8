"""How well a classifier learns from synthetic rows: trained on them, tested on the people they were made for.

Adult, coded over 14 domains; what is to be told is who earns more than 50,000. Boosted trees as in a release's quality
report, trained on all synthetic rows; the area under the curve on all true ones. Beside it the same trees trained on
one half of the people and tested on the other. Needs scikit-learn.

Run: python -m tests.benchmarks.target [--methods NAME ...] [--epsilons 0.1 1 10] [--releases 5] [--undeclared]
"""

from __future__ import annotations

import argparse
import os
from fractions import Fraction

# Before numpy is loaded: one thread, since those of small matrices and of trees wait for each other at every step.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from mechanisms.domain import Domain
from mechanisms.microdata.constraints import Wishes
from tests.benchmarks.synthesis import RHO, adult, ours, pair_distance

TARGET = "income>50K"
ITERATIONS = 60


def area(domain: Domain, trained: np.ndarray, tested: np.ndarray) -> float:
    """Under the curve of trees that learn the target from one table, on the other."""
    place = domain.names.index(TARGET)
    others = [j for j in range(len(domain.shape)) if j != place]
    categories = [not domain.attributes[j].ordered for j in others]
    model = HistGradientBoostingClassifier(
        max_iter=ITERATIONS, categorical_features=categories, early_stopping=False, random_state=0
    )
    model.fit(trained[:, others], trained[:, place])
    return float(roc_auc_score(tested[:, place], model.predict_proba(tested[:, others])[:, 1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--methods", nargs="+", default=["tree-of-pairs", "latent-classes"])
    parser.add_argument("--epsilons", nargs="+", default=list(RHO), choices=list(RHO))
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--undeclared", action="store_true", help="without a target")
    given = parser.parse_args()
    domain, people = adult()
    wishes = Wishes(target="" if given.undeclared else TARGET)
    one, other = np.array_split(np.random.default_rng(0).permutation(people), 2)
    print(f"Trained on people: {area(domain, one, other):.3f}\n")
    print("| ε | method | target | area | pairs |\n|---|---|---|---|---|")
    for epsilon in given.epsilons:
        for method in given.methods:
            for _ in range(given.releases):
                rows = ours(method, domain, people, Fraction(RHO[epsilon]), wishes).rows
                figures = f"{area(domain, rows, people):.4f} | {pair_distance(domain, people, rows):.4f}"
                print(f"| {epsilon} | {method} | {wishes.target or 'none'} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
