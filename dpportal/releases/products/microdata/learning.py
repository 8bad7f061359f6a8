"""A classifier trained on synthetic rows and tested on real ones, beside one trained on real rows: for the curator.

Needs the extra `requirements-learning.txt`, beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pandas as pd
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Domain

# Targets with more cells are asked a question with two answers.
MOST_CLASSES = 10
# More values than this a column of the classifier cannot have as categories.
MOST_CATEGORIES = 255
MOST_TRAINED = 20_000
ITERATIONS, SEED = 60, 0

Labels = Callable[[np.ndarray], np.ndarray]


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("sklearn") is not None


def learned(domain: Domain, target: str, synthetic: np.ndarray, real: np.ndarray) -> Json:
    """How well classifiers tell the target of held-out real rows, as JSON.

    synthetic, real: (n, d) cells of the domain in random order. One half of the real rows trains the one classifier,
    the other half tests both and a guess. Empty where there is nothing to learn or to test.
    """
    place = domain.names.index(target)
    trained, tested = np.array_split(real[: 2 * MOST_TRAINED], 2)
    if min(len(trained), len(tested), len(synthetic)) == 0:
        return {}
    question, labels = _question(domain.attributes[place], trained[:, place])
    truth = labels(tested[:, place])
    sample = synthetic[: len(trained)]
    lines = [
        [name, *_figures(_chances(domain, place, rows, labels(rows[:, place]), tested), truth)]
        for name, rows in ((_("real rows"), trained), (_("synthetic rows"), sample))
    ]
    values, counts = np.unique(labels(trained[:, place]), return_counts=True)
    guess = float((truth == values[counts.argmax()]).mean())
    return {
        "question": question,
        "trained": [len(trained), len(sample)],
        "tested": len(tested),
        "lines": [*lines, [_("nothing: always the most common answer"), guess, 0.5]],
    }


def _question(attribute: Attribute, cells: np.ndarray) -> tuple[str, Labels]:
    """What is asked of the target, and the answers from its cells."""
    if attribute.size <= MOST_CLASSES:
        return _("Which of its %(count)d values?") % {"count": attribute.size}, lambda c: c
    names = cell_names(attribute)
    if attribute.ordered:
        # A missing value is its own cell, the last: it is not beyond any other.
        declared = attribute.regular_size
        values = cells[cells < declared]
        middle = int(np.median(values)) if values.size else 0
        beyond: Labels = lambda c: ((c > middle) & (c < declared)).astype(int)  # noqa: E731
        return _("Beyond “%(value)s” or not?") % {"value": names[middle]}, beyond
    most = int(np.bincount(cells).argmax())
    return _("“%(value)s” or not?") % {"value": names[most]}, lambda c: (c == most).astype(int)


def _chances(
    domain: Domain, place: int, rows: np.ndarray, labels: np.ndarray, tested: np.ndarray
) -> dict[int, np.ndarray]:
    """The chance of each answer for every tested row, from a classifier trained on the rows."""
    answers = np.unique(labels)
    if len(answers) == 1:
        return {int(answers[0]): np.ones(len(tested))}
    # Imported here: it takes a second, and the portal runs without it. The second comes with it.
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    others = [j for j in range(len(domain.shape)) if j != place]
    categories = [
        not domain.attributes[j].ordered and domain.attributes[j].size <= MOST_CATEGORIES for j in others
    ]
    model = HistGradientBoostingClassifier(
        max_iter=ITERATIONS, categorical_features=categories, early_stopping=False, random_state=SEED
    )
    # Threads wait for each other at every step: beside another job that took several times as long as one does.
    with threadpool_limits(1):
        model.fit(rows[:, others], labels)
        return dict(zip(answers.tolist(), model.predict_proba(tested[:, others]).T, strict=True))


def _figures(chances: dict[int, np.ndarray], truth: np.ndarray) -> tuple[float, float]:
    """The share of right answers, and the area under the curve: each answer against the others, by its frequency."""
    answers = np.array(list(chances))
    right = float((answers[np.argmax(list(chances.values()), axis=0)] == truth).mean())
    values, counts = np.unique(truth, return_counts=True)
    nothing = np.zeros(len(truth))
    areas = [area_under_curve(chances.get(int(v), nothing), truth == v) for v in values]
    return right, float(np.average(areas, weights=counts))


def area_under_curve(scores: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive has a higher score than a negative, ties by halves (Mann-Whitney); ½ if one lacks."""
    ones = int(positive.sum())
    others = len(positive) - ones
    if not ones or not others:
        return 0.5
    ranks = pd.Series(scores).rank().to_numpy()
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * others))
