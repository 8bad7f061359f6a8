from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpportal.accounts import locking
from dpportal.accounts.forms import UserForm
from dpportal.accounts.models import AuditEntry, User
from dpportal.accounts.permissions import current_user

admin.site.unregister(Group)
admin.site.site_header = admin.site.site_title = "Privacy portal administration"


@admin.register(User)
class PortalUserAdmin(UserAdmin):
    """People and their roles; permissions follow from the role."""

    list_display = ["username", "email", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        ("Person", {"fields": ["first_name", "last_name", "display_name", "email"]}),
        ("Access", {"fields": ["role", "is_active"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["username", "email", "role", "password1", "password2"]})]
    add_form = UserForm
    filter_horizontal = []
    readonly_fields = ["last_login", "date_joined"]
    actions = ["unlock"]

    @admin.action(description=gettext_lazy("Unlock signing in after wrong passwords"))
    def unlock(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """End the wait after too many wrong passwords."""
        for user in users:
            locking.unlock(user, current_user(request))
        self.message_user(request, _("These people can try to sign in again at once."))


class ReadOnlyAdmin(admin.ModelAdmin):
    """A list to look at: nothing is added, changed or deleted by hand."""

    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Who looked at or changed what."""

    list_display = ["at", "by", "action", "subject", "detail"]
    list_filter = ["action"]
    search_fields = ["subject", "detail", "by__username"]
    date_hierarchy = "at"
    list_select_related = ["by"]
