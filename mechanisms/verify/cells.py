"""Whether the texts of a file are those of the cells that they name, and synthetic rows those that are drawn."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd

from mechanisms.domain import Attribute, Boolean, Categorical, Domain
from mechanisms.inert_text import inert
from mechanisms.synthesis.table import public_seed, rows as drawn_rows
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State

ROWS = "synthetic.csv"


def fault(bundle: Bundle, table: pd.DataFrame, domain: Domain) -> str:
    """The first line that has other labels than its cell, in words; empty if none."""
    if len(table) != domain.size:
        return f"it has {len(table):,} lines, and there are {domain.size:,} cells"
    places = np.unravel_index(np.arange(domain.size), domain.shape)
    for attribute, place in zip(domain.attributes, places, strict=True):
        texts = np.array([inert(text) for text in _written(attribute)], dtype=object)
        theirs = table[_named(bundle, attribute)].to_numpy()
        if line := first_other(texts[place], theirs):
            return f"line {line:,} has another {attribute.name}"
    return ""


def rows(
    bundle: Bundle, published: pd.DataFrame, domain: Domain, counts: np.ndarray, within_bins: str
) -> Finding:
    """Whether the synthetic rows are those that the measurement's digest draws."""
    seed = public_seed(str(bundle.release["measurement_sha256"]))
    drawn = pd.concat(drawn_rows(domain, counts, seed, within_bins), ignore_index=True)
    # In quotation marks, a text may hold every kind of line end.
    written = io.StringIO(drawn.to_csv(index=False, quoting=csv.QUOTE_ALL))
    own = pd.read_csv(written, dtype=str, keep_default_na=False)
    if len(own) != len(published):
        return Finding(
            ROWS, State.FAILED, f"it has {len(published):,} rows, and the counts make {len(own):,}"
        )
    for attribute in domain.attributes:
        mine = own[attribute.name].replace(_codes(attribute))
        if isinstance(attribute, Categorical | Boolean):  # numbers and days are no texts, and have no guard
            mine = mine.map(inert)
        theirs = published[_named(bundle, attribute)]
        if isinstance(attribute, Boolean) and not attribute.values:
            mine, theirs = mine.str.lower(), theirs.str.lower()
        if row := first_other(mine.to_numpy(), theirs.to_numpy()):
            return Finding(ROWS, State.FAILED, f"row {row:,} has another {attribute.name}")
    return Finding(ROWS, State.HOLDS, f"{len(own):,} rows are those that the measurement's digest draws")


def fault_of_choice(table: pd.DataFrame, chosen: list[str], bundle: Bundle) -> str:
    """The first choice that is another one; a value is named by its label, or by its code where it has no column of its
    own; a missing one by nothing."""
    column = "choice_label" if "choice_label" in table else "choice"
    if len(table) != len(chosen):
        return "it has another number of choices"
    for rank, (text, candidate) in enumerate(zip(table[column], chosen, strict=True), start=1):
        if text not in (inert(candidate), ""):
            return f"choice {rank} is another one"
    return ""


def first_other(own: np.ndarray, theirs: np.ndarray) -> int:
    """The first place, from 1, at which two columns of texts differ; 0 if none."""
    if len(own) != len(theirs):
        return min(len(own), len(theirs)) + 1
    same = own == theirs
    return 0 if same.all() else int(np.argmin(same)) + 1


def _named(bundle: Bundle, attribute: Attribute) -> str:
    """What the files call a column."""
    named = {fact["column"]: fact["name"] for fact in bundle.release.get("columns", [])}
    return str(named.get(attribute.name, attribute.name))


def _written(attribute: Attribute) -> list[str]:
    """A text for each cell; a missing value is an empty field."""
    return [*attribute.codes()[: attribute.regular_size], *[""] * attribute.missing_cell]


def _codes(attribute: Attribute) -> dict[str, str]:
    """What files have in place of what rows are drawn as."""
    if isinstance(attribute, Boolean):
        return dict(zip(("False", "True"), attribute.codes()[:2], strict=True)) if attribute.values else {}
    return dict(zip(attribute.labels(), attribute.codes(), strict=True))
