"""The map of the portal."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import TemplateView

from dpportal.home import healthy, home

urlpatterns = [
    path("", home, name="home"),
    path("health/", healthy, name="health"),
    path(
        "guide/",
        TemplateView.as_view(template_name="guide/index.html"),
        {"nav_section": "guide"},
        name="guide",
    ),
    path("account/", include("dpportal.accounts.urls")),
    path("datasets/", include("dpportal.datasets.urls")),
    path("datasets/", include("dpportal.budgets.urls")),
    path("releases/", include("dpportal.releases.urls")),
    path("admin/", admin.site.urls),
]
