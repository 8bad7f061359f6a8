"""The form in which a curator declares who is protected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.datasets import services
from dpportal.datasets.identifying import columns_to_ask_about
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.platform.form_types import CleanedData
from mechanisms.accounting import Neighbours


class UnitForm(forms.ModelForm[DomainVersion]):
    """Who is protected, and from which comparison."""

    neighbours = forms.ChoiceField(
        label=_("what stays hidden"),
        widget=forms.RadioSelect,
        choices=[
            (Neighbours.ADD_REMOVE.value, _("Whether a person is in the table at all (add or remove one)")),
            (Neighbours.REPLACE_ONE.value, _("What a person's rows say (replace one)")),
        ],
        help_text=_(
            "Add or remove: the number of people is protected too, and noise is smallest. "
            "Replace one: counts need twice the noise, and the number of rows is usually published exactly. It is not "
            "where a person may have several rows, where rows are left out, or where an earlier release hides it."
        ),
    )
    unit_column = forms.ChoiceField(
        label=_("rows of a person"),
        required=False,
        help_text=_(
            "If every person has one row, nothing else is needed. Otherwise name the column that identifies a "
            "person, so that all of a person's rows are protected together. Rows without a value in it, or with a word "
            "that you declared to mean that, are left out of every release: they would protect nobody."
        ),
    )
    ignore_case = forms.BooleanField(
        label=_("Ignore upper/lower case"),
        required=False,
        help_text=_(
            "Rows with the same value here belong to one person: spaces around it do not count, and é is é "
            "however it is written; 7, 7.0 and 007 count as three people."
        ),
    )
    max_rows = forms.IntegerField(
        label=_("largest number of rows per person"),
        min_value=1,
        max_value=1000,
        initial=1,
        help_text=_(
            "Rows beyond this number are left out, chosen at random for each release. Noise grows in proportion, so "
            "choose the smallest number that keeps most rows; take it from what you know, not from this table."
        ),
    )

    class Meta:
        model = DomainVersion
        fields = ["neighbours", "unit_column", "ignore_case", "max_rows"]

    def __init__(
        self,
        data: Mapping[str, object] | None,
        *,
        instance: DomainVersion | None,
        dataset: Dataset,
        identifying: Sequence[str] = (),
    ) -> None:
        """identifying: columns that seem to name a person, of which the first is chosen where none was."""
        super().__init__(data, instance=instance)
        self.dataset = dataset
        # Without a table, persons are recognised by something that the curator names, which is no column.
        own = [self.instance.unit_column] if dataset.is_tableless and self.instance.unit_column else []
        names = [(name, name) for name in dict.fromkeys([*own, *(c["name"] for c in dataset.columns)])]
        field = self.fields["unit_column"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("Each person has one row")), *names]
        if identifying and not self.instance.unit_column:
            self.initial["unit_column"] = identifying[0]

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if not data.get("unit_column") and data.get("max_rows", 1) != 1:
            self.add_error(
                "unit_column",
                _("To keep more than one row per person, name the column that identifies a person."),
            )
        return data

    def declare(self, by: User) -> None:
        """Say so of the dataset; who names no column has said that each row is one person. After `is_valid()`."""
        fields = {name: self.cleaned_data[name] for name in self.Meta.fields}
        current = self.dataset.current_domain()
        is_new = current is None or any(getattr(current, name) != value for name, value in fields.items())
        if is_new or self.dataset.asks_for_unit:
            services.declare_unit(self.dataset, **fields, by=by)
        if not fields["unit_column"] and (identifying := columns_to_ask_about(self.dataset)):
            services.confirm_one_row(self.dataset, identifying, by)
