from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from dpportal.accounts.forms import UserForm
from dpportal.accounts.models import AuditEntry, User

admin.site.unregister(Group)
admin.site.site_header = admin.site.site_title = "Privacy portal administration"


@admin.register(User)
class PortalUserAdmin(UserAdmin):
    """People and their roles; permissions follow from the role."""

    list_display = ["username", "email", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        ("Person", {"fields": ["first_name", "last_name", "email"]}),
        ("Access", {"fields": ["role", "is_active"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["username", "email", "role", "password1", "password2"]})]
    add_form = UserForm
    filter_horizontal = []
    readonly_fields = ["last_login", "date_joined"]


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
