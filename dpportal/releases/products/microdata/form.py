"""The wizard's question of the synthetic table: which columns, and what matters about them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.people_estimate import people_field
from dpportal.platform.json_types import Json
from dpportal.platform.typed_numbers import NOT_INTEGER, IntegerInput
from dpportal.releases.models import Release
from dpportal.releases.products.shared.draft_form import ChoiceForm
from mechanisms.microdata.constraints import HEAVIEST, Wishes
from mechanisms.microdata.features import DISTANCE, INFORMATION, check_choice
from mechanisms.microdata.limits import FEWEST_COLUMNS, MOST_COLUMNS, MOST_ROWS, check_columns
from mechanisms.protocol import PlanError

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MAX_TEXT = 20_000
# Of a register with some ten thousand values.
MAX_REGISTER = 1_000_000
# As they are typed: nothing else is a weight, nor has to be read as a number.
WEIGHTS = {str(weight): weight for weight in range(1, HEAVIEST + 1)}


def _lines_field(
    label: StrOrPromise, example: str, help_text: StrOrPromise, most: int = MAX_TEXT
) -> forms.CharField:
    """A wish a line. most: characters of all."""
    widget = forms.Textarea(attrs={"rows": 2, "placeholder": example})
    return forms.CharField(label=label, required=False, max_length=most, widget=widget, help_text=help_text)


class ColumnsForm(ChoiceForm):
    """Columns, a target, weights, pairs that are measured whatever happens, values that cannot occur together."""

    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose between 2 and 250 columns.")},
    )
    people = people_field()
    target = forms.ChoiceField(
        label=gettext_lazy("Target column"),
        required=False,
        help_text=gettext_lazy("Its pairs with other columns count four times when pairs are chosen."),
    )
    rows = forms.IntegerField(
        label=gettext_lazy("Number of synthetic rows"),
        required=False,
        min_value=1,
        max_value=MOST_ROWS,
        widget=IntegerInput,
        error_messages={"invalid": NOT_INTEGER},
        help_text=gettext_lazy("If empty, as many as the noisy count says."),
    )
    keep = forms.IntegerField(
        label=gettext_lazy("Keep only so many columns"),
        required=False,
        min_value=FEWEST_COLUMNS,
        max_value=MOST_COLUMNS,
        help_text=gettext_lazy(
            "Those that tell most about the target, chosen privately for at most a tenth of the cost. If empty, all."
        ),
    )
    criterion = forms.ChoiceField(
        label=gettext_lazy("Chosen by"),
        required=False,
        choices=[
            (DISTANCE, gettext_lazy("distance from independence")),
            (INFORMATION, gettext_lazy("mutual information")),
        ],
        help_text=gettext_lazy(
            "Where columns are chosen. Distances need less budget; information is the textbook's way."
        ),
    )
    weights = _lines_field(
        gettext_lazy("Weights of columns and pairs"),
        "age, 3",
        gettext_lazy(
            "A line for each: a column, or two, and a whole number from 1 to 10, with commas between. A pair without "
            "its own has the larger one of its columns."
        ),
    )
    required_pairs = _lines_field(
        gettext_lazy("Pairs that must be measured"),
        "age, income",
        gettext_lazy("A line for each: two columns with a comma between."),
    )
    zeros = _lines_field(
        gettext_lazy("Values that cannot occur together"),
        "sex, male, pregnant, true",
        gettext_lazy(
            "From public knowledge, not from the data. A line for each: column, value, column, value. No row will hold "
            "them."
        ),
    )
    follows = _lines_field(
        gettext_lazy("Columns that follow from another"),
        "plane, carrier",
        gettext_lazy(
            "From public knowledge. A line for each: a column of categories, and one that has the same value wherever "
            "the first has. Which value that is, is measured, or said below. By latent classes alone."
        ),
    )
    known = _lines_field(
        gettext_lazy("Which value follows from which"),
        "plane, N14228, carrier, UA",
        gettext_lazy(
            "As a public register or codebook has it; never from the data. A line for each: column, value, column, "
            "value. Every row will agree. If every value of the first column has a line, nothing is measured for it."
        ),
        MAX_REGISTER,
    )

    replicates = forms.BooleanField(
        label=gettext_lazy("Add tables for standard errors"),
        required=False,
        help_text=gettext_lazy(
            "21 further tables, so that readers can state margins of means and regressions. They add no cost, but "
            "every pair of columns is then measured: choose the few columns of one analysis."
        ),
    )

    sums = forms.BooleanField(
        label=gettext_lazy("Add up columns of numbers"),
        required=False,
        help_text=gettext_lazy(
            "For a twentieth of the cost the mean of every column of numbers or dates is measured by itself, and "
            "values inside bins are moved to agree with it. Worth it where bins are wide, or hide a common value."
        ),
    )

    def adapt(self, draft: Release) -> None:
        version = draft.dataset.current_domain()
        if not (version and version.unit.total_public):
            del self.fields["criterion"]
        self.offer_columns("target", ("", _("None")))

    @property
    def once(self) -> list[str]:
        """Each column of the table once that says something: one beside it that is coarser cannot stand there, too."""
        telling = [a for a in self.declared.attributes if a.size > 1]
        first = {a.column: a.name for a in reversed(telling)}
        return [a.name for a in telling if first[a.column] == a.name]

    @property
    def says_more(self) -> bool:
        """Whether a question is answered that most need not answer."""
        return any(self[name].value() for name in ("weights", "required_pairs", "zeros", "follows", "known"))

    @property
    def left_out(self) -> int:
        """How many columns of the table have one value only, however they are declared."""
        return len({a.column for a in self.declared.attributes}) - len(self.once)

    @property
    def too_many(self) -> str:
        """Why those of `once` cannot be taken together; empty if they can."""
        try:
            check_columns(self.declared.project(self.once))
        except PlanError as refusal:
            return str(refusal)
        return ""

    def chosen(self, draft: Release) -> Json:
        wishes = Wishes.from_json(draft.parameters.get("wishes", {}))
        return {
            **super().chosen(draft),
            "target": wishes.target,
            "rows": draft.parameters.get("rows"),
            "keep": draft.parameters.get("keep"),
            "replicates": draft.parameters.get("replicates", False),
            "sums": draft.parameters.get("sums", False),
            "weights": _lines(
                [
                    *((name, str(weight)) for name, weight in wishes.weights.items()),
                    *((a, b, str(weight)) for a, b, weight in wishes.pairs),
                ]
            ),
            "required_pairs": _lines(wishes.required),
            "zeros": _lines(wishes.zeros),
            "follows": _lines(wishes.follows),
            "known": _lines(wishes.known),
        }

    def clean(self) -> Json:
        data = super().clean() or {}
        if self.errors:
            return data
        data["columns"] = [name for name in self.declared.names if name in data["columns"]]
        domain = self.declared.project(data["columns"])
        try:
            check_columns(domain)
        except PlanError as refusal:
            self.add_error("columns", str(refusal))
            return data
        try:
            data["wishes"] = self._wishes(data)
            data["wishes"].check(domain)
            if data["keep"] is not None:
                check_choice(domain, data["wishes"], data["keep"])
        except PlanError as refusal:
            self.add_error(None, str(refusal))
        return data

    def apply(self, draft: Release) -> None:
        data = self.cleaned_data
        draft.columns, draft.people = data["columns"], data["people"]
        draft.parameters = {
            "wishes": data["wishes"].to_json(),
            "rows": data["rows"],
            "keep": data["keep"],
            "criterion": data.get("criterion") or DISTANCE,
            "replicates": data["replicates"],
            "sums": data["sums"],
        }

    def _wishes(self, data: Json) -> Wishes:
        weights = _fields(data["weights"], (2, 3), _("Weights of columns and pairs"))
        if not all(fields[-1] in WEIGHTS for fields in weights):
            raise PlanError(
                _("Weights of columns and pairs must be whole numbers from 1 to %(most)s.")
                % {"most": HEAVIEST}
            )
        if twice := _weighted_twice(weights):
            raise PlanError(
                _("%(twice)s has two weights, and only one can count. Keep one of the lines.")
                % {"twice": " × ".join(twice)}
            )
        known = [
            (a, x, b, y) for a, x, b, y in _fields(data["known"], (4,), _("Which value follows from which"))
        ]
        follows = [(a, b) for a, b in _fields(data["follows"], (2,), _("Columns that follow from another"))]
        return Wishes(
            weights={fields[0]: WEIGHTS[fields[1]] for fields in weights if len(fields) == 2},
            pairs=tuple((f[0], f[1], WEIGHTS[f[2]]) for f in weights if len(f) == 3),
            target=data["target"],
            required=tuple(
                (a, b) for a, b in _fields(data["required_pairs"], (2,), _("Pairs that must be measured"))
            ),
            zeros=tuple(
                (a, x, b, y)
                for a, x, b, y in _fields(data["zeros"], (4,), _("Values that cannot occur together"))
            ),
            # Whoever says which value follows need not say once more that one does.
            follows=tuple(dict.fromkeys([*follows, *((a, b) for a, _x, b, _y in known)])),
            known=tuple(known),
        )


def _fields(text: str, numbers: tuple[int, ...], label: str) -> list[list[str]]:
    """The fields of each line that is not empty. Raises PlanError unless every line has as many as wanted."""
    lines = [
        [field.strip() for field in fields] for fields in csv.reader(text.splitlines(), skipinitialspace=True)
    ]
    lines = [fields for fields in lines if any(fields)]
    if any(len(fields) not in numbers for fields in lines):
        message = _("%(label)s: each line needs %(wanted)s parts with commas between.")
        raise PlanError(message % {"label": label, "wanted": _(" or ").join(map(str, numbers))})
    return lines


def _weighted_twice(weights: list[list[str]]) -> list[str]:
    """The first column or pair, in either order, that has two of the lines; empty if there is none."""
    seen = set[frozenset[str]]()
    for *names, _weight in weights:
        if frozenset(names) in seen:
            return names
        seen.add(frozenset(names))
    return []


def _lines(rows: Iterable[Sequence[str]]) -> str:
    """What `_fields` reads back; a field with a comma or a quotation mark is quoted."""
    return "\n".join(",".join(_quoted(field) for field in row) for row in rows)


def _quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"' if set(field) & set(',"') else field
