"""What only the curator sees: how near the synthetic rows are to the true ones, beside a floor and a ceiling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from dpportal.charts.cell_names import cell_names
from dpportal.charts.pairs import pairs_figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.microdata.component_lines import component_lines
from dpportal.releases.products.microdata.dependency_lines import dependency_checks
from dpportal.releases.products.shared.figures import figure_json
from mechanisms.domain import Boolean
from mechanisms.microdata.association import associations
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.quality import Closeness, closeness, correlations, table_of_rows, triples

WORST = 10
# Cells of a bad pair that are shown, those with the largest differences.
MOST_DIFFERENCES = 8
ColumnNames = tuple[str, ...]
ColumnPlaces = tuple[int, ...]


def further_tables(plan: MicrodataPlan) -> list[ColumnNames]:
    """The tables that are counted for this page alone: pairs where none is measured, and some of three columns."""
    names = plan.domain.names
    pairs: list[ColumnNames] = [] if plan.pairwise else list(combinations(names, 2))
    return [*pairs, *(tuple(names[j] for j in columns) for columns in triples(plan.domain.shape))]


def build(plan: MicrodataPlan, result: MicrodataResult, true: np.ndarray) -> Json:
    """The compare page as JSON; holds true counts; stored with the records."""
    counted, released = _tables(plan, result.columns, true), plan.of_columns(result.columns)
    shape, names = released.domain.shape, released.domain.names
    of_rows = released.tables.of_rows(result.rows)
    synthetic = {pair: released.tables.table(of_rows, pair) for pair in released.tables.pairs}
    closeness_of = {
        columns: closeness(
            table,
            synthetic[columns] if len(columns) == 2 else table_of_rows(result.rows, shape, columns),
        )
        for columns, table in counted.items()
    }
    ways = {size: [columns for columns in closeness_of if len(columns) == size] for size in (1, 2, 3)}
    pairs = sorted(ways[2], key=lambda pair: -closeness_of[pair].synthetic)
    measured = {table.pair for table in result.tables}
    return {
        "means": [
            _mean(size, len(names), [closeness_of[c] for c in chosen])
            for size, chosen in ways.items()
            if chosen
        ],
        "figures": {
            name: figure_json(figure)
            for name, figure in _figures(released, of_rows, counted, closeness_of).items()
        },
        "worst": [_worst(released, result, counted[pair], pair) for pair in pairs[:WORST]],
        "components": component_lines(released, result),
        "kept": dependency_checks(released, {pair: counted[pair] for pair in synthetic}, synthetic),
        "impossible": _impossible_rows(released, counted),
        "header": ["first", "second", "measured", "total_variation", "independent_columns", "resample"],
        "table": [
            [names[a], names[b], (a, b) in measured, *(round(v, 5) for v in _values(closeness_of[(a, b)]))]
            for a, b in pairs
        ],
    }


def _tables(plan: MicrodataPlan, columns: Sequence[int], true: np.ndarray) -> dict[ColumnPlaces, np.ndarray]:
    """True tables of these columns, by their places among these: single columns, all pairs and some triples."""
    places = {name: place for place, name in enumerate(plan.domain.names)}
    tables: dict[ColumnPlaces, np.ndarray] = {}
    start = 0
    for names in [*plan.counted, *further_tables(plan)]:
        chosen = tuple(places[name] for name in names)
        sizes = tuple(plan.domain.shape[place] for place in chosen)
        tables[chosen] = true[start : start + math.prod(sizes)].reshape(sizes)
        start += math.prod(sizes)
    for j in places.values():
        tables.setdefault((j,), tables[(0, max(1, j))].sum(axis=1 if j == 0 else 0))
    rank = {place: new for new, place in enumerate(columns)}
    return {
        tuple(rank[p] for p in chosen): table
        for chosen, table in tables.items()
        if rank.keys() >= set(chosen)
    }


def _values(of: Closeness) -> tuple[float, float, float]:
    return of.synthetic, of.independent, of.resample


def _mean(size: int, columns: int, all_of_size: Sequence[Closeness]) -> Json:
    synthetic, independent, resample = np.mean([_values(c) for c in all_of_size], axis=0)
    return {
        "columns": size,
        "tables": len(all_of_size),
        "possible": math.comb(columns, size),
        "synthetic": float(synthetic),
        "independent": float(independent),
        "resample": float(resample),
    }


def _figures(
    plan: MicrodataPlan,
    of_rows: np.ndarray,
    counted: dict[ColumnPlaces, np.ndarray],
    closeness_of: dict[ColumnPlaces, Closeness],
) -> Json:
    names, size = plan.domain.shown_names, len(plan.domain.shape)
    errors = np.full((size, size), np.nan)
    for a, b in plan.tables.pairs:
        errors[a, b] = errors[b, a] = closeness_of[(a, b)].synthetic
    figures = {"errors": pairs_figure(names, errors, "errors")}
    synthetic = {pair: plan.tables.table(of_rows, pair) for pair in plan.tables.pairs}
    true = {pair: counted[pair] for pair in plan.tables.pairs}
    for name, tables in (("true_association", true), ("synthetic_association", synthetic)):
        figures[name] = pairs_figure(names, associations(tables, size), name)
    ordered = [j for j, a in enumerate(plan.domain.attributes) if a.ordered or isinstance(a, Boolean)]
    if len(ordered) > 1:
        pairs = np.concatenate([table.ravel() for table in true.values()])
        chosen = [names[j] for j in ordered]
        declared = [plan.domain.attributes[j].regular_size for j in ordered]
        for name, counts in (("true", pairs), ("synthetic", of_rows)):
            figures[name] = pairs_figure(chosen, correlations(plan.tables, counts, ordered, declared), name)
    return figures


def _impossible_rows(plan: MicrodataPlan, true: dict[ColumnPlaces, np.ndarray]) -> list[Json]:
    """Pairs of columns with values that were declared impossible together, and how many true rows have such values."""
    impossible = plan.wishes.impossible(plan.domain).cells
    return [
        {
            "columns": [plan.domain.shown_names[place] for place in pair],
            "declared": len(cells),
            "rows": int(sum(true[pair][cell] for cell in cells)),
        }
        for pair, cells in impossible.items()
    ]


def _worst(plan: MicrodataPlan, result: MicrodataResult, true: np.ndarray, pair: tuple[int, ...]) -> Json:
    """A pair's cells with the largest differences, synthetic counts scaled to the true number of rows."""
    synthetic = table_of_rows(result.rows, plan.domain.shape, pair) * (true.sum() / max(1, len(result.rows)))
    labels = [cell_names(plan.domain.attributes[j]) for j in pair]
    largest = np.argsort(-np.abs(synthetic - true), axis=None, kind="stable")[:MOST_DIFFERENCES]
    return {
        "columns": [plan.domain.shown_names[j] for j in pair],
        "cells": [
            [labels[0][x], labels[1][y], int(true[x, y]), round(float(synthetic[x, y]))]
            for x, y in zip(*np.unravel_index(largest, true.shape), strict=True)
        ],
    }
