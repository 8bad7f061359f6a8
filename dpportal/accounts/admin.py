from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth import admin as auth_admin  # noqa: F401 which registers groups
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts import audit, locking, mailing, people, reset_links, sessions
from dpportal.accounts.factors import totp
from dpportal.accounts.factors.overview import remove_all
from dpportal.accounts.forms import PersonForm
from dpportal.accounts.models import AuditEntry, User
from dpportal.accounts.origins import origin_of
from dpportal.accounts.permissions import current_user
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.platform.stored_texts import translated

if TYPE_CHECKING:
    from django.contrib.admin.options import _FieldsetSpec

M = TypeVar("M", bound=Model)

admin.site.unregister(Group)
admin.site.site_header = admin.site.site_title = gettext_lazy("DP Portal")
# Its lists have long lines, and the way back is the first page.
admin.site.enable_nav_sidebar = False
admin.site.index_title = gettext_lazy("People, connections and records")


# What lists call fields whose names in the code say less to a reader, such as “by” and “at”.
HEADINGS = {
    "at": gettext_lazy("when"),
    "by": gettext_lazy("person"),
    "created_by": gettext_lazy("person"),
    "horizon": gettext_lazy("periods"),
    "stream": gettext_lazy("running count"),
    "answered_by": gettext_lazy("kind of question"),
    "created_at": gettext_lazy("created"),
    "requested_at": gettext_lazy("requested"),
    "queued_at": gettext_lazy("queued"),
    "finished_at": gettext_lazy("finished"),
}


def _headed(name: str) -> Callable[[Model], object]:
    """A field as a column with its heading."""

    @admin.display(description=HEADINGS[name], ordering=name)
    def column(row: Model) -> object:
        return getattr(row, name)

    return column


class PersonFilter(admin.RelatedFieldListFilter):
    """Whoever did it. Named after the field, its heading would be “By by”, or “By created by”."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("person")


class ActFilter(admin.AllValuesFieldListFilter):
    """What was done, in the reader's language."""

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """As the record has them, which is in English, said again."""
        for choice in super().choices(changelist):
            yield {**choice, "display": translated(choice["display"])}


class PlainList(admin.ModelAdmin[M]):
    """A list that speaks as the portal's pages do."""

    def changelist_view(self, request: HttpRequest, extra_context: Json | None = None) -> HttpResponse:
        """Headed by what it lists, where Django says “Select … to view”."""
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Json | None = None
    ) -> HttpResponse:
        """The portal's record of a row. Django keeps one of its own, which no chain of digests covers."""
        about = urlencode({"q": f'"{self.opts.model_name} {object_id}"'})
        return redirect(f"{reverse('admin:accounts_auditentry_changelist')}?{about}")

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """With the portal's words at the head of each column."""
        return [_headed(name) if name in HEADINGS else name for name in self.list_display]

    def get_action_choices(
        self, request: HttpRequest, default_choices: list[tuple[str, str]] | None = None
    ) -> list[tuple[str, str]]:
        """With words where Django has a dash."""
        return super().get_action_choices(request, default_choices or [("", _("choose what to do"))])


class OfferedFilters(PlainList[M]):
    """A list that is filtered by what it offers alone: any other filter would reveal a field that no page shows."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Not Django's rule, which allows what belongs to the row, such as the keys of a person's sessions."""
        filters = [str(each[0]) if isinstance(each, tuple) else str(each) for each in self.list_filter]
        offered = [*filters, self.date_hierarchy]
        shown = any(lookup == name or lookup.startswith(f"{name}__") for name in offered)
        return shown and bool(super().lookup_allowed(lookup, value, request))


@admin.register(User)
class PortalUserAdmin(OfferedFilters[User]):
    """People and their roles; permissions follow from the role. No administrator learns or sets a password."""

    form = PersonForm
    list_display = ["username", "email", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    search_fields = ["username", "first_name", "last_name", "email"]
    ordering = ["username"]
    fieldsets = [
        (None, {"fields": ["username"]}),
        (gettext_lazy("Person"), {"fields": ["first_name", "last_name", "display_name", "email"]}),
        (gettext_lazy("Access"), {"fields": ["role", "is_active"]}),
        (gettext_lazy("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets: _FieldsetSpec = [(None, {"fields": ["username", "email", "role"]})]
    readonly_fields = ["last_login", "date_joined"]
    actions = ["unlock", "end_sessions", "remove_second_factors"]
    help_texts = {
        "username": gettext_lazy(
            "Up to 150 letters, digits and @ . + - _ to sign in with. Readers never see it."
        ),
        "is_active": gettext_lazy(
            "Without the tick this person cannot sign in. Nobody is deleted, since the record names them."
        ),
    }
    change_form_template = "admin/accounts/person.html"

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> _FieldsetSpec:
        return self.fieldsets if obj else self.add_fieldsets

    def get_form(
        self, request: HttpRequest, obj: User | None = None, change: bool = False, **options: Any
    ) -> type[ModelForm[User]]:
        """With what the portal says of a name and a tick, in place of Django's words for programmers."""
        return super().get_form(request, obj, change=change, help_texts=self.help_texts, **options)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """The record names people, so they are switched off instead."""
        return False

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool) -> None:
        if change:
            people.save(obj, current_user(request), form.changed_data)
        else:
            people.create(obj, current_user(request))

    def response_add(
        self, request: HttpRequest, obj: User, post_url_continue: str | None = None
    ) -> HttpResponse:
        """A new person needs a link next."""
        return redirect("admin:accounts_user_link", obj.pk)

    def get_urls(self) -> list[URLPattern]:
        link = self.admin_site.admin_view(self.link)
        return [path("<int:person_id>/password-link/", link, name="accounts_user_link"), *super().get_urls()]

    def link(self, request: HttpRequest, person_id: int) -> HttpResponse:
        """Have a link mailed with which the person chooses a password; it is shown once where no mail can go."""
        person = get_object_or_404(User, pk=person_id)
        by_mail = mailing.is_on() and bool(person.email)
        context = {**self.admin_site.each_context(request), "person": person, "by_mail": by_mail}
        if request.method == "POST" and by_mail:
            people.send_link(person, current_user(request), origin_of(request))
            self.message_user(request, _("A link is on its way to %s.") % person.email)
            return redirect("admin:accounts_user_change", person.pk)
        if request.method == "POST":
            context["link"] = origin_of(request) + reset_links.shown_path(person)
            people.note(person, current_user(request), people.LINK_SHOWN)
        return render(request, "admin/accounts/password_link.html", context)

    @admin.action(description=gettext_lazy("Unlock signing in after wrong passwords"))
    def unlock(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """End the wait after too many wrong passwords."""
        for user in users:
            totp.forget_wrong_codes(user)
            locking.unlock(user, current_user(request))
        self.message_user(request, _("These people can try to sign in again at once."))

    @admin.action(description=gettext_lazy("End all sessions"))
    def end_sessions(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """Have these people sign in again, everywhere."""
        by = current_user(request)
        ended = [
            user.get_username() for user in users if sessions.end_all(user, by, request.session.session_key)
        ]
        names = listed(ended) or _("nobody")
        self.message_user(request, _("Sessions ended for: %s. Each of them is told.") % names)

    @admin.action(description=gettext_lazy("Remove the second factors of who has lost them"))
    def remove_second_factors(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """Of other people: their password alone signs them in then, until they set up new ones."""
        by = current_user(request)
        removed = [user.get_username() for user in users.exclude(pk=by.pk) if remove_all(user, by)]
        names = listed(removed) or _("nobody")
        self.message_user(request, _("Removed for: %s. Each of them is told.") % names)


class ReadOnlyAdmin(OfferedFilters[M]):
    """A list to look at: nothing is added, changed or deleted by hand."""

    list_per_page = 50
    # Most pages are of curators, and not there for administrators.
    view_on_site = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin[AuditEntry]):
    """Who looked at or changed what."""

    list_display = ["at", "by", "act", "about", "more"]
    fields = ["at", "by", "act", "about", "subject", "more"]
    list_filter = [("action", ActFilter)]
    search_fields = ["subject", "detail", "by__username"]
    date_hierarchy = "at"
    list_select_related = ["by"]
    actions = ["export"]

    @admin.display(description=gettext_lazy("action"), ordering="action")
    def act(self, entry: AuditEntry) -> str:
        """The act in the reader's language; the record has it in English."""
        return translated(entry.action)

    @admin.display(description=gettext_lazy("about"), ordering="subject")
    def about(self, entry: AuditEntry) -> str:
        """By its name; the record has its key, which a search looks for."""
        return audit.subject_for_people(entry.subject)

    @admin.display(description=gettext_lazy("detail"), ordering="detail")
    def more(self, entry: AuditEntry) -> str:
        """The detail, as far as its words are the portal's."""
        return entry.words

    @admin.action(description=gettext_lazy("Download the selected lines (JSON Lines)"), permissions=["view"])
    def export(self, request: HttpRequest, entries: QuerySet[AuditEntry]) -> HttpResponse:
        """As the history has them, so that whoever has the file can compute their digests."""
        response = HttpResponse(content_type="application/jsonl")
        response["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
        for entry in entries.select_related("by").iterator(chunk_size=1000):
            person = entry.by.get_username() if entry.by else None
            response.write(json.dumps({"person": person, **audit.LINE.content_of(entry)}) + "\n")
        return response
