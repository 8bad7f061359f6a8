"""Forms of the wizard; a method's own fields come from the parameters that it declares."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from dpportal.budgets.amounts import amount_formfield
from dpportal.platform.json_types import Json
from dpportal.platform.stored_texts import translated
from dpportal.platform.visible_text import VisibleTexts
from dpportal.releases.models import Release
from dpportal.releases.products import AUTOMATIC, AUTOMATIC_TITLE, PRODUCTS
from mechanisms.protocol import Mechanism, Parameter

PARAMETER = "parameter-"
# The one parameter that all methods share: the curator says it once.
PURPOSE = "purpose"
# The code of a refusal that ends by itself.
AWAITED = "awaited"


class ProductForm(VisibleTexts, forms.ModelForm[Release]):
    """What to release, and under which title."""

    class Meta:
        model = Release
        fields = ["title", "product"]
        widgets = {"product": forms.RadioSelect}
        help_texts = {
            "title": _(
                "For the public page and the downloads. If empty, we name it after its columns; you can change "
                "it at any time."
            )
        }

    def clean_product(self) -> str:
        name: str = self.cleaned_data["product"]
        if refusal := PRODUCTS[name].planner.unavailable(self.instance.unit):
            raise forms.ValidationError(refusal)
        return name


class MethodForm(forms.Form):
    """A method, what it may cost, and the method's own parameters, kept beside what the choice form said."""

    mechanism = forms.ChoiceField(
        label=_("method"),
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose a method: the recommended one, or one under “All methods side by side”."),
            "invalid_choice": _("Choose one of the methods shown."),
        },
    )
    amount = amount_formfield(label=_("cost"))
    proposed = forms.CharField(required=False, widget=forms.HiddenInput)
    purpose = forms.ChoiceField(
        label=_("What the release is for"),
        widget=forms.RadioSelect,
        choices=Release.Purpose.choices,
        required=False,
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        mechanisms: Iterable[Mechanism],
        automatic: bool = False,
        initial: Json | None = None,
    ) -> None:
        """automatic: whether the choice may be left to the portal."""
        super().__init__(data, initial=initial)
        self.mechanisms = {m.name: m for m in mechanisms}
        field = self.fields["mechanism"]
        assert isinstance(field, forms.ChoiceField)
        chosen_by_portal = [(AUTOMATIC, AUTOMATIC_TITLE)] if automatic else []
        field.choices = [
            *chosen_by_portal,
            *((m.name, translated(m.title)) for m in self.mechanisms.values()),
        ]
        for parameter in (p for m in self.mechanisms.values() for p in own_parameters(m)):
            if parameter.name != PURPOSE:
                self.fields[PARAMETER + parameter.name] = parameter_field(parameter)

    @property
    def has_purpose(self) -> bool:
        """Whether what the release is for matters to some method."""
        return any(p.name == PURPOSE for m in self.mechanisms.values() for p in own_parameters(m))

    @property
    def is_awaited(self) -> bool:
        """Whether nothing is wrong but that the method is being worked out: the same is taken in some seconds."""
        return set(self.errors) == {"mechanism"} and self.has_error("mechanism", AWAITED)

    def parameters(self) -> dict[str, str | int]:
        """The chosen method's parameters; call after `is_valid()`."""
        return {p.name: self._chosen(p) for p in self._declared(self.cleaned_data["mechanism"])}

    def options_were_shown(self) -> bool:
        """Whether every option of the chosen method was on the page that was sent; call after `is_valid()`."""
        declared = self._declared(self.cleaned_data["mechanism"])
        return all(PARAMETER + p.name in self.data for p in declared if p.name != PURPOSE)

    def _chosen(self, parameter: Parameter) -> str | int:
        if parameter.name == PURPOSE:
            return str(self.cleaned_data[PURPOSE])
        value: str | int | None = self.cleaned_data[PARAMETER + parameter.name]
        return parameter.default if value in (None, "") else value

    def parameter_fields(self, method: str | None, idle: Collection[str] = ()) -> list[forms.BoundField]:
        """The fields of one method's parameters. idle: those that change nothing here are sent and not shown."""
        for name in idle:
            if field := self.fields.get(PARAMETER + name):
                field.widget = field.hidden_widget()
        return [self[PARAMETER + p.name] for p in self._declared(method) if p.name != PURPOSE]

    def _declared(self, method: str | None) -> tuple[Parameter, ...]:
        """A method's own parameters; where the choice is left to the portal, those that all methods have."""
        if method != AUTOMATIC:
            return own_parameters(self.mechanisms.get(method or ""))
        first, *others = self.mechanisms.values()
        return tuple(p for p in own_parameters(first) if all(p in own_parameters(other) for other in others))


def own_parameters(method: object) -> tuple[Parameter, ...]:
    """Those that a method has itself; none of a choice that is left to the portal."""
    return getattr(method, "parameters", ())


def parameter_field(parameter: Parameter) -> forms.Field:
    """The form field of a declared parameter."""
    common: Json = {
        "label": translated(parameter.label),
        "help_text": translated(parameter.help),
        "initial": parameter.default,
        "required": False,
    }
    if parameter.kind == "choice":
        choices = [(value, translated(label)) for value, label in parameter.choices]
        return forms.ChoiceField(choices=choices, **common)
    return forms.IntegerField(min_value=parameter.minimum, max_value=parameter.maximum, **common)
