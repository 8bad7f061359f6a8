from django.urls import path

from dpportal.releases import public, publishing, views
from dpportal.releases.wizard import live, plan_file, shortcut, template, views as wizard

app_name = "releases"

urlpatterns = [
    path("", views.listing, name="list"),
    path("finished/", views.finished, name="finished"),
    path("new/<uuid:dataset_id>/", wizard.start, name="start"),
    path("new/<uuid:dataset_id>/summary/", shortcut.summarise, name="summarise"),
    path("<uuid:release_id>/", public.page, name="public"),
    path("<uuid:release_id>/download/<str:name>", public.pages.download, name="download"),
    path("<uuid:release_id>/explore/", public.explore, name="explore"),
    path("<uuid:release_id>/croissant.json", public.pages.croissant, name="croissant"),
    path("<uuid:release_id>/cite.<slug:form>", public.pages.cite, name="cite"),
    path("<uuid:release_id>/chart/<slug:chart>.<slug:form>", public.pages.chart, name="chart"),
    path("<uuid:release_id>/embed/<slug:chart>/", public.pages.embed, name="embed"),
    path("<uuid:release_id>/product/", wizard.product, name="product"),
    path("<uuid:release_id>/columns/", wizard.columns, name="columns"),
    path("<uuid:release_id>/columns/cells/", live.cells, name="cells"),
    path("<uuid:release_id>/columns/workload/", live.workload, name="workload"),
    path("<uuid:release_id>/columns/queries.csv", template.matrix, name="matrix_template"),
    path("<uuid:release_id>/method/", wizard.method, name="method"),
    path("<uuid:release_id>/method/offers/", live.offers, name="offers"),
    path("<uuid:release_id>/method/searches/", live.searches, name="searches"),
    path("<uuid:release_id>/method/simulation/", live.simulation, name="simulation"),
    path("<uuid:release_id>/method/dial/", wizard.dial, name="dial"),
    path("<uuid:release_id>/review/", wizard.review, name="review"),
    path("<uuid:release_id>/plan.toml", plan_file.download, name="plan_file"),
    path("<uuid:release_id>/ask/", wizard.ask, name="ask"),
    path("<uuid:release_id>/discard/", wizard.wizard.discard_page, name="discard"),
    path("<uuid:release_id>/job/", views.job, name="job"),
    path("<uuid:release_id>/cancel/", views.cancel, name="cancel"),
    path("<uuid:release_id>/resume/", views.resume, name="resume"),
    path("<uuid:release_id>/again/", views.again, name="again"),
    path("<uuid:release_id>/rename/", views.rename, name="rename"),
    path("<uuid:release_id>/details/", publishing.pages.details_page, name="details"),
    path("<uuid:release_id>/publish/", publishing.pages.publish_page, name="publish"),
    path("<uuid:release_id>/withdraw/", publishing.pages.withdraw_page, name="withdraw"),
    path("<uuid:release_id>/compare/", views.compare, name="compare"),
    path("<uuid:release_id>/compare.csv", views.compare_csv, name="compare_csv"),
    path("<uuid:release_id>/quality.html", views.compare_report, name="compare_report"),
]
