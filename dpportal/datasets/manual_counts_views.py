"""The page on which a dataset without a table begins: a name, who is protected, and categories."""

from __future__ import annotations

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import manual_counts
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.manual_counts import Protected
from dpportal.datasets.models import Dataset
from dpportal.platform.form_types import CleanedData
from dpportal.platform.visible_text import VisibleTexts
from mechanisms.accounting import Neighbours
from mechanisms.domain import Categorical, DomainError

MOST_CATEGORIES = 1_000


class TablelessForm(VisibleTexts, forms.ModelForm[Dataset]):
    """Whose running counts are kept. `who()` and `categories()` are what was declared, after `is_valid()`."""

    neighbours = forms.ChoiceField(
        label=_("what stays hidden"),
        widget=forms.RadioSelect,
        initial=Neighbours.ADD_REMOVE.value,
        choices=[
            (Neighbours.ADD_REMOVE.value, _("Whether a person is counted at all (add or remove one)")),
            (Neighbours.REPLACE_ONE.value, _("When and where a person is counted (replace one)")),
        ],
    )
    max_rows = forms.IntegerField(
        label=_("how often a person is counted at most"),
        min_value=1,
        max_value=1000,
        initial=1,
        help_text=_(
            "In all periods and categories together. You keep to it when you count: the portal sees numbers only. "
            "Noise grows in proportion."
        ),
    )
    person = forms.CharField(
        label=_("what tells people apart"),
        required=False,
        max_length=200,
        help_text=_(
            "How you recognise the same person again, such as a patient number; needed if a person may count twice."
        ),
    )
    column = forms.CharField(
        label=_("name of the categories"),
        required=False,
        max_length=200,
        help_text=_("Such as region. If empty, there is one number for each period."),
    )
    values = forms.CharField(
        label=_("categories"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_(
            "One on each line, from what is publicly known: they are published, also where nobody is counted."
        ),
    )

    class Meta:
        model = Dataset
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}
        labels = {"name": _("name")}
        help_texts = {
            "name": _("All running counts of the same people belong to one dataset, with one budget.")
        }
        error_messages = {"name": {"required": _("Give it a name.")}}

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if data.get("max_rows", 1) > 1 and not data.get("person"):
            self.add_error("person", _("Say by what you know a person again."))
        if data.get("max_rows") == 1:
            data["person"] = ""
        lines = [line.strip() for line in data.get("values", "").splitlines() if line.strip()]
        if bool(lines) != bool(data.get("column")):
            self.add_error(
                "values" if not lines else "column", _("Give both a name and categories, or neither.")
            )
        elif len(lines) > MOST_CATEGORIES:
            self.add_error(
                "values", _("A series has at most 1,000 running counts. Choose coarser categories.")
            )
        elif lines:
            self._declare(data["column"], lines)
        return data

    def _declare(self, column: str, lines: list[str]) -> None:
        try:
            self._categories = Categorical(column, closed=True, values=tuple(lines))
        except DomainError as wrong:
            self.add_error("values", str(wrong))

    _categories: Categorical | None = None

    def who(self) -> Protected:
        answers = self.cleaned_data
        return Protected(answers["neighbours"], answers["max_rows"], answers["person"])

    def categories(self) -> Categorical | None:
        return self._categories


@curator_required
@require_http_methods(["GET", "POST"])
def begin(request: HttpRequest) -> HttpResponseBase:
    """A dataset without a table, for people whom its curator counts."""
    form = TablelessForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            dataset = manual_counts.create(
                form.save(commit=False), form.who(), form.categories(), current_user(request)
            )
        except (DatasetError, DomainError) as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("datasets:home", dataset.pk)
    context = {"form": form, "nav_section": "datasets"}
    return render(request, "datasets/tableless.html", context, status=422 if form.errors else 200)
