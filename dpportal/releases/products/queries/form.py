"""The wizard's question of the product "answers to many queries": what is asked of which columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.releases.models import Release
from dpportal.releases.products.queries import matrices, workloads
from dpportal.releases.products.queries.words import label_text
from dpportal.releases.products.shared.draft_form import ChoiceForm
from mechanisms.domain import Domain
from mechanisms.protocol import PlanError

MAX_COLUMNS = 100
MAX_WAYS = 8
# A matrix's cells are listed one by one, so their number is bounded before a file is read.
MAX_MATRIX_CELLS = 10**6
# It is written out in full to be measured and inverted.
MAX_STRATEGY_CELLS = 4_096
MAX_STRATEGY_ROWS = 8_192
MAX_TEXT = 100_000
EXAMPLES = 4

KINDS = [
    ("ranges", gettext_lazy("All ranges"), gettext_lazy("Every range of neighbouring cells of one column.")),
    (
        "prefix",
        gettext_lazy("Running totals"),
        gettext_lazy("From the first cell up to each cell of one column."),
    ),
    (
        "width",
        gettext_lazy("Ranges of one width"),
        gettext_lazy("Every window of so many neighbouring cells."),
    ),
    ("marginals", gettext_lazy("All tables"), gettext_lazy("Every table of up to so many of the columns.")),
    (
        "tables",
        gettext_lazy("Tables you name"),
        gettext_lazy("Only the tables that you list, a line for each."),
    ),
    ("product", gettext_lazy("Combinations"), gettext_lazy("A question for each column, all combined.")),
    (
        "uploaded",
        gettext_lazy("Your own queries"),
        gettext_lazy("A matrix from a file: a row for each query."),
    ),
    (
        "text",
        gettext_lazy("Text form"),
        gettext_lazy("For specialists: unions, weights and products, in words."),
    ),
]
ASKS = [
    ("", gettext_lazy("Not asked")),
    ("identity", gettext_lazy("Each cell")),
    ("prefix", gettext_lazy("Running totals")),
    ("ranges", gettext_lazy("All ranges")),
]
ASK = "ask-"


class WorkloadForm(ChoiceForm):
    """A workload of queries over declared columns; `chosen_columns` and `text` once it is valid."""

    kind = forms.ChoiceField(
        label=gettext_lazy("What to ask"),
        choices=[(name, title) for name, title, _about in KINDS],
        widget=forms.RadioSelect,
    )
    column = forms.ChoiceField(label=gettext_lazy("Column"), required=False)
    width = forms.IntegerField(
        label=gettext_lazy("Width in cells"), required=False, min_value=1, max_value=10**6, initial=2
    )
    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"), widget=forms.CheckboxSelectMultiple, required=False
    )
    ways = forms.IntegerField(
        label=gettext_lazy("Columns in a table, at most"),
        required=False,
        min_value=1,
        max_value=MAX_WAYS,
        initial=2,
    )
    tables = forms.CharField(
        label=gettext_lazy("Tables"),
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text=gettext_lazy("One a line, its columns separated by commas, for example: age, sex"),
    )
    matrix = forms.FileField(
        label=gettext_lazy("Matrix"),
        required=False,
        help_text=gettext_lazy(
            "CSV, a row for each query and a column for each cell in declared order, a header and names of the "
            "queries if you like; or .npz as scipy.sparse.save_npz writes it. The matrix is published."
        ),
        error_messages={"empty": gettext_lazy("This file is empty. Write one row for each query.")},
    )
    text = forms.CharField(
        label=gettext_lazy("Text form"),
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "code"}),
    )

    strategy = forms.FileField(
        label=gettext_lazy("Strategy matrix"),
        required=False,
        help_text=gettext_lazy(
            "What to measure instead of the portal's own strategies, in the same form as a matrix of queries, with at "
            "most 4,096 cells. It is compared with the others, and published if it is used."
        ),
        error_messages={"empty": gettext_lazy("This file is empty. Write one row for each measured sum.")},
    )

    def adapt(self, draft: Release) -> None:
        self.offer_columns("column")
        for place, attribute in enumerate(self.declared.attributes):
            asks = ASKS if attribute.ordered else ASKS[:2]
            self.fields[f"{ASK}{place}"] = forms.ChoiceField(
                label=self.named[attribute.name], choices=asks, required=False
            )
        ordered = [a.name for a in self.declared.attributes if a.ordered]
        self.initial.setdefault("column", next(iter(ordered), ""))  # of another there are no ranges
        self.chosen_columns: list[str] = []

    def chosen(self, draft: Release) -> Json:
        choices = draft.parameters.get("asked", {})
        self.digest: str = choices.get("digest", "")
        self.strategy_digest: str = draft.parameters.get("strategy", "")
        return {
            "kind": "ranges",
            **choices,
            "columns": draft.columns,
            "text": draft.parameters.get("workload", ""),
        }

    @property
    def kinds(self) -> list[Json]:
        """The kinds as cards: name, title, a sentence."""
        return [{"name": name, "title": title, "about": about} for name, title, about in KINDS]

    @property
    def asks(self) -> list[forms.BoundField]:
        """The fields with one question for each column."""
        return [self[f"{ASK}{place}"] for place in range(len(self.declared.attributes))]

    def clean(self) -> Json:
        data = super().clean() or {}
        if self.errors:
            return data
        field, build = self._builders()[data["kind"]]
        try:
            self.chosen_columns, data["text"] = build(data)
            # The tidied text, so that the same workload written in two ways is one.
            data["text"] = workloads.read(data["text"], self.declared.project(self.chosen_columns)).text
        except PlanError as refusal:
            self.add_error(field, str(refusal))
        else:
            self._keep_strategy(data["strategy"])
        return data

    def _keep_strategy(self, file: UploadedFile[bytes] | None) -> None:
        """Read an uploaded strategy; one that was uploaded before stays while the cells are the same."""
        domain = self.declared.project(self.chosen_columns)
        try:
            if file:
                if domain.size > MAX_STRATEGY_CELLS:
                    text = _(
                        "The columns make %(cells)s cells; a strategy of your own can have at most %(limit)s."
                    )
                    limit = f"{MAX_STRATEGY_CELLS:,}"
                    raise PlanError(text % {"cells": f"{domain.size:,}", "limit": limit})
                strategy = _read_matrix(file, domain)
                if strategy.rows.shape[0] > MAX_STRATEGY_ROWS:
                    text = _("A strategy of your own can have at most %(limit)s rows. Leave some out.")
                    raise PlanError(text % {"limit": f"{MAX_STRATEGY_ROWS:,}"})
                self.strategy_digest = matrices.store(strategy)
            elif self.strategy_digest and matrices.load(self.strategy_digest).rows.shape[1] != domain.size:
                self.strategy_digest = ""
        except PlanError as refusal:
            self.add_error("strategy", str(refusal))

    def apply(self, draft: Release) -> None:
        data = self.cleaned_data
        stored = ("kind", "column", "width", "ways", "tables", *(field.name for field in self.asks))
        draft.columns = self.chosen_columns
        draft.parameters = {
            "workload": data["text"],
            "strategy": self.strategy_digest,
            "asked": {**{name: data[name] for name in stored}, "digest": self.digest},
        }

    def described(self) -> Json:
        """What the wizard shows of the workload: its size, and the first queries in words. Once it is valid."""
        domain = self.declared.project(self.chosen_columns)
        workload = workloads.read(self.cleaned_data["text"], domain)
        examples = list(map(label_text, workloads.first_labels(workload, domain.for_readers, EXAMPLES)))
        return {
            "text": workload.text,
            "queries": workload.queries,
            "cells": domain.size,
            "examples": examples,
        }

    def _builders(self) -> dict[str, tuple[str, Callable[[Json], tuple[list[str], str]]]]:
        """By kind: the field that a refusal belongs to, and how columns and text form come from the fields."""
        return {
            "ranges": ("column", lambda data: self._of_one(data, f"ranges({_quoted([data['column']])})")),
            "prefix": ("column", lambda data: self._of_one(data, f"prefix({_quoted([data['column']])})")),
            "width": ("width", self._of_width),
            "marginals": ("columns", self._marginals),
            "tables": ("tables", self._tables),
            "product": (f"{ASK}0", self._product),
            "uploaded": ("matrix", self._uploaded),
            "text": ("text", self._text),
        }

    def _of_one(self, data: Json, text: str) -> tuple[list[str], str]:
        if not data["column"]:
            raise PlanError(_("Choose a column."))
        (attribute,) = self.declared.project([data["column"]]).attributes
        if not attribute.ordered:
            raise PlanError(
                _(
                    "%(column)s has no order, so it has no ranges. Choose a column of numbers or dates, or ask for "
                    "tables instead."
                )
                % {"column": self.named[attribute.name]}
            )
        return [attribute.name], text

    def _of_width(self, data: Json) -> tuple[list[str], str]:
        width = data["width"] or 2
        return self._of_one(data, f"width({width}, {_quoted([data['column']])})")

    def _marginals(self, data: Json) -> tuple[list[str], str]:
        columns, ways = self._ticked(data), data["ways"] or 2
        if ways > len(columns):
            text = _(
                "A table of %(ways)s columns needs as many ticked; tick more, or ask for fewer together."
            )
            raise PlanError(text % {"ways": ways})
        return columns, f"marginals(<={ways})"

    def _tables(self, data: Json) -> tuple[list[str], str]:
        # A column's own name, or the one that the page shows.
        own = {title: name for name, title in self.named.items()} | {n: n for n in self.declared.names}
        lines = csv.reader(data["tables"].splitlines(), skipinitialspace=True)
        tables = [[name.strip() for name in fields] for fields in lines if fields]
        if not tables:
            raise PlanError(_("Name at least one table: its columns, separated by commas."))
        for name in dict.fromkeys(name for table in tables for name in table):
            if name not in own:
                text = _("There is no declared column %(column)s. Choose among: %(columns)s.")
                raise PlanError(text % {"column": name, "columns": listed(self.named.values())})
        tables = [[own[name] for name in table] for table in tables]
        return self._in_order({n for t in tables for n in t}), " + ".join(
            f"marginal({_quoted(t)})" for t in tables
        )

    def _product(self, data: Json) -> tuple[list[str], str]:
        choices = {a.name: data[f"{ASK}{place}"] for place, a in enumerate(self.declared.attributes)}
        used = {name: ask for name, ask in choices.items() if ask}
        if not used:
            raise PlanError(_("Ask something of at least one column."))
        return list(used), " x ".join(f"{ask}({_quoted([name])})" for name, ask in used.items())

    def _uploaded(self, data: Json) -> tuple[list[str], str]:
        columns = self._ticked(data)
        domain = self.declared.project(columns)
        if domain.size > MAX_MATRIX_CELLS:
            text = _(
                "These columns make %(cells)s cells; a matrix can have at most %(limit)s. Tick fewer columns."
            )
            raise PlanError(text % {"cells": f"{domain.size:,}", "limit": f"{MAX_MATRIX_CELLS:,}"})
        if data["matrix"]:
            self.digest = matrices.store(_read_matrix(data["matrix"], domain))
        if not self.digest:
            raise PlanError(_("Choose a file with the matrix."))
        return columns, f"uploaded({_quoted([self.digest])})"

    def _text(self, data: Json) -> tuple[list[str], str]:
        if not data["text"].strip():
            raise PlanError(
                _("Write the workload, for example: total + identity(%s)") % _quoted(self.declared.names[:1])
            )
        return self._ticked(data), data["text"].strip()

    def _ticked(self, data: Json) -> list[str]:
        columns = self._in_order(set(data["columns"]))
        if not columns:
            raise PlanError(_("Tick at least one column."))
        return columns

    def _in_order(self, names: set[str]) -> list[str]:
        return [name for name in self.declared.names if name in names]


def _read_matrix(file: UploadedFile[bytes], domain: Domain) -> matrices.UploadedMatrix:
    assert file.file is not None
    return matrices.read(file.file, file.name or "", domain.size, matrices.cell_names(domain))


def _quoted(names: Sequence[str]) -> str:
    """Column names as the text form writes them."""
    return ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
