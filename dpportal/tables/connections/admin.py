"""Connections in the admin: added, tried and offered by administrators."""

from __future__ import annotations

import json
from typing import TypeAlias

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.translation import gettext as _, gettext_lazy, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.admin import PlainList
from dpportal.accounts.audit_words import clause, clauses
from dpportal.accounts.permissions import current_user
from dpportal.approvals import acts
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.platform.two_people import DEFINITIONS
from dpportal.tables.connections import definition_change, reachability
from dpportal.tables.connections.models import USUAL, Connection, SharedTable
from dpportal.tables.faults import SourceFault

SharedTableFormSet: TypeAlias = "BaseInlineFormSet[SharedTable, Connection, forms.ModelForm[SharedTable]]"


class SharedTableForm(forms.ModelForm[SharedTable]):
    """A table that curators may count, and what an administrator vouches for."""

    class Meta:
        model = SharedTable
        fields = ["title", "schema", "table", "query", "vouched", "is_offered"]
        widgets = {"query": forms.Textarea(attrs={"rows": 3}), "vouched": forms.Textarea(attrs={"rows": 2})}

    def clean(self) -> Json:
        """A word is for one table: another one needs it said again."""
        cleaned = super().clean() or self.cleaned_data
        moved = {"schema", "table", "query"} & set(self.changed_data)
        if moved and cleaned.get("vouched") and "vouched" not in self.changed_data:
            self.add_error("vouched", _("This word was for another table or query. Write it for this one."))
        return cleaned


class SharedTables(admin.StackedInline[SharedTable, Connection]):
    """What is offered. A table that is offered as another one keeps its datasets from being counted."""

    model = SharedTable
    form = SharedTableForm
    extra = 0
    min_num = 1

    def get_formset(
        self, request: HttpRequest, obj: Connection | None = None, **kwargs: object
    ) -> type[SharedTableFormSet]:
        """With the schema that the connection's engine usually has."""
        formset = super().get_formset(request, obj, **kwargs)
        kind = request.POST.get("kind") or (obj.kind if obj else Connection.Kind.POSTGRESQL)
        formset.form.base_fields["schema"].initial = USUAL.get(kind, {}).get("schema", "")
        return formset


@admin.register(Connection)
class ConnectionAdmin(PlainList[Connection]):
    """Databases that administrators connect; their passwords lie outside the portal's database."""

    list_display = ["name", "kind", "host", "database", "user", "table_count", "all_curators"]
    fieldsets = [
        (None, {"fields": ["name", "kind", "host", "port", "database", "user", "credential", "encryption"]}),
        (gettext_lazy("Limits"), {"fields": ["seconds", "most_rows", "most_bytes"]}),
        (gettext_lazy("Who may use it"), {"fields": ["all_curators", "curators"]}),
    ]
    filter_horizontal = ["curators"]
    inlines = [SharedTables]
    actions = ["test_connection"]

    class Media:
        js = ["js/usual.js"]

    def formfield_for_choice_field(
        self, db_field: models.Field[object, object], request: HttpRequest, **kwargs: object
    ) -> forms.TypedChoiceField | None:
        """For the script that writes what is usual when another kind is chosen."""
        if db_field.name == "kind":
            kwargs["widget"] = forms.Select(attrs={"data-usual": json.dumps(USUAL)})
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    @admin.display(description=gettext_lazy("tables"))
    def table_count(self, connection: Connection) -> int:
        return connection.tables.count()

    @admin.action(description=gettext_lazy("Test the selected connections"), permissions=["change"])
    def test_connection(self, request: HttpRequest, connections: QuerySet[Connection]) -> None:
        """Sign in as a job does, and look at the columns of each offered table; no row is read."""
        for connection in connections:
            outcome = gettext_noop("the portal failed")
            try:
                outcome = self._tried(request, connection)
            finally:
                audit.record(current_user(request), "tested a connection", connection, outcome)

    def _tried(self, request: HttpRequest, connection: Connection) -> str:
        """Shows what was found. Returns it for the record: numbers, and none of the words of a server."""
        works: list[bool] = []
        try:
            for result in reachability.tried(connection):
                level = messages.SUCCESS if result.works else messages.WARNING
                self.message_user(request, f"{result.what}{joint(':')}{result.text}", level)
                works.append(result.works)
        except SourceFault as fault:
            self.message_user(request, f"{connection}{joint(':')}{fault.message}", messages.ERROR)
            return clause(gettext_noop("no session (%(code)s)"), code=fault.code)
        count = gettext_noop("tables that can be counted: %(count)s of %(all)s")
        return clauses(gettext_noop("it answers"), clause(count, count=sum(works[1:]), all=len(works[1:])))

    def get_readonly_fields(self, request: HttpRequest, obj: Connection | None = None) -> tuple[str, ...]:
        """Where a changed definition needs a second person, no offered table is led elsewhere by its connection."""
        is_fixed = obj is not None and acts.is_needed(DEFINITIONS) and obj.tables.exists()
        return ("kind", "host", "port", "database", "user") if is_fixed else ()

    def save_model(
        self, request: HttpRequest, obj: Connection, form: forms.ModelForm[Connection], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        action = gettext_noop("changed a connection") if change else gettext_noop("added a connection")
        audit.record(current_user(request), action, obj, ", ".join(form.changed_data))

    def save_formset(
        self,
        request: HttpRequest,
        form: forms.ModelForm[Connection],
        formset: SharedTableFormSet,
        change: bool,
    ) -> None:
        waiting = self._put_off(request, formset)
        super().save_formset(request, form, formset, change)
        saved = [table for table, _changed in formset.changed_objects] + formset.new_objects
        for inline in formset.forms:
            if inline.instance in saved and inline not in waiting and "vouched" in inline.changed_data:
                word = inline.instance.vouched or gettext_noop("(taken back)")
                audit.record(current_user(request), "vouched for a table", inline.instance, word)

    def _put_off(
        self, request: HttpRequest, formset: SharedTableFormSet
    ) -> list[forms.ModelForm[SharedTable]]:
        """Have changes that need a second person wait. Returns the forms whose tables stay as they are."""
        changing = [each for each in formset.forms if definition_change.asks_first(each.instance)]
        waiting = [each for each in changing if each not in formset.deleted_forms]
        for inline in waiting:
            definition_change.ask_and_restore(inline.instance, current_user(request))
            text = _("%s stays as it is until a second administrator has approved the change.")
            self.message_user(request, text % inline.instance, messages.WARNING)
        return waiting

    def delete_model(self, request: HttpRequest, obj: Connection) -> None:
        audit.record(current_user(request), "deleted a connection", obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Connection]) -> None:
        """Several at once, which the list offers: each is recorded."""
        for connection in queryset:
            self.delete_model(request, connection)
