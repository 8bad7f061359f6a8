"""The map of the portal."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView, TemplateView

from dpportal.accounts.factors.door import AdminSignIn
from dpportal.api import v1
from dpportal.budgets import risk_page
from dpportal.catalogue import bundle_check_views, dataset_page, dcat, feeds, oembed, sitemap
from dpportal.catalogue.views import catalogue
from dpportal.notices import views as notices
from dpportal.operations import (
    admin_home,
    approval_pages,
    dataset_record,
    grant_page,
    health,
    history_pages,
    metrics,
)
from dpportal.operations.home import home
from dpportal.platform.admin_texts import ScriptTexts
from dpportal.publications.search_progress import awaited
from dpportal.serving.security_txt import security_txt

# Address, template and name of the guide's pages.
GUIDE = [
    ("guide/", "index", "guide"),
    ("guide/choice/", "choice", "guide_choice"),
    ("guide/queries/", "queries", "guide_queries"),
    ("guide/synthetic-rows/", "microdata", "guide_microdata"),
    ("guide/streams/", "streams", "guide_streams"),
    ("guide/protection/", "protection", "guide_protection"),
]

handler500 = "dpportal.jobs.database_busy.server_error"

urlpatterns = [
    path("", home, name="home"),
    path("published/", catalogue, name="catalogue"),
    path("published/datasets/<uuid:dataset_id>/", dataset_page.page, name="public_dataset"),
    path("published/feed.atom", feeds.newest, name="feed"),
    path("published/catalog.jsonld", dcat.catalogue, name="dcat"),
    path("check/", bundle_check_views.check, name="check"),
    path("check/<uuid:check_id>/", bundle_check_views.checked, name="checked"),
    path("check/<uuid:check_id>/progress/", bundle_check_views.progress, name="check_progress"),
    path("published/oembed", oembed.oembed, name="oembed"),
    path("sitemap.xml", sitemap.sitemap, name="sitemap"),
    path("robots.txt", sitemap.robots, name="robots"),
    path("office/", admin_home.page, name="office"),
    path("office/declined/<int:request_id>/", admin_home.decline, name="decline"),
    path("office/approvals/", approval_pages.page, name="approvals"),
    path("office/approvals/<int:approval_id>/approved/", approval_pages.approve, name="approve"),
    path("office/approvals/<int:approval_id>/refused/", approval_pages.refuse, name="refuse_approval"),
    path("office/webhook-hosts/", notices.allowed_hosts, name="webhook_hosts"),
    path("office/webhook-hosts/<int:host_id>/removed/", notices.forbid_host, name="forbid_webhook_host"),
    path("office/budgets/<uuid:dataset_id>/", grant_page.page, name="grant"),
    path("office/budgets/<uuid:dataset_id>/meaning/", grant_page.meaning, name="grant_meaning"),
    path("office/budgets/<uuid:dataset_id>/reduction/", grant_page.reduction, name="reduction"),
    path("search-progress/", awaited, name="search_progress"),
    path("health/", health.health, name="health"),
    path("metrics", metrics.metrics, name="metrics"),
    path("health/portal/", health.page, name="health_page"),
    path("health/portal/restored/<uuid:dataset_id>/", health.enter_missing, name="enter_missing"),
    path("health/portal/checkpoint/", history_pages.checkpoint, name="checkpoint"),
    path(".well-known/dpportal-keys.json", history_pages.signing_keys, name="signing_keys"),
    path(".well-known/security.txt", security_txt, name="security_txt"),
    path("guide/risk/", risk_page.page, name="guide_risk"),
    path("guide/risk/figure/", risk_page.figure, name="guide_risk_figure"),
    *(
        path(
            address,
            TemplateView.as_view(template_name=f"guide/{template}.html"),
            {"nav_section": "guide"},
            name=name,
        )
        for address, template, name in GUIDE
    ),
    path("account/tokens/", include("dpportal.api.urls")),
    path("account/notices/", include("dpportal.notices.urls")),
    path("api/v1/", v1.urls),
    path("account/", include("dpportal.accounts.urls")),
    path("datasets/<uuid:dataset_id>/record/", dataset_record.page, name="dataset_record"),
    path("datasets/", include("dpportal.datasets.urls")),
    path("datasets/", include("dpportal.budgets.urls")),
    path("datasets/", include("dpportal.value_choices.urls")),
    path("releases/", include("dpportal.releases.urls")),
    path("streams/", include("dpportal.streams.urls")),
    # The admin's own form would leave no line in the record.
    path(
        "admin/password_change/",
        RedirectView.as_view(pattern_name="accounts:password_change"),
        name="admin_password",
    ),
    # The admin's own would ask for a password alone.
    path("admin/login/", AdminSignIn.as_view(), name="admin_sign_in"),
    path("admin/jsi18n/", admin.site.admin_view(ScriptTexts.as_view(), cacheable=True), name="admin_texts"),
    path("admin/", admin.site.urls),
]
