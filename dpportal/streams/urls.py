from django.urls import path

from dpportal.streams import api, public, publishing, views, wizard_views

app_name = "streams"

urlpatterns = [
    path("", views.listing, name="list"),
    path("new/<uuid:dataset_id>/", wizard_views.start, name="start"),
    path("<uuid:stream_id>/", public.page, name="public"),
    path("<uuid:stream_id>/download/<str:name>", public.pages.download, name="download"),
    path("<uuid:stream_id>/croissant.json", public.pages.croissant, name="croissant"),
    path("<uuid:stream_id>/cite.<slug:form>", public.pages.cite, name="cite"),
    path("<uuid:stream_id>/chart/<slug:chart>.<slug:form>", public.pages.chart, name="chart"),
    path("<uuid:stream_id>/embed/<slug:chart>/", public.pages.embed, name="embed"),
    path("<uuid:stream_id>/periods", api.periods, name="periods"),
    path("<uuid:stream_id>/counted/", wizard_views.counted, name="counted"),
    path("<uuid:stream_id>/timing/", wizard_views.timing, name="timing"),
    path("<uuid:stream_id>/strategy/", wizard_views.strategy, name="strategy"),
    path("<uuid:stream_id>/strategy/dial/", wizard_views.dial, name="dial"),
    path("<uuid:stream_id>/review/", wizard_views.review, name="review"),
    path("<uuid:stream_id>/ask/", wizard_views.ask, name="ask"),
    path("<uuid:stream_id>/again/", wizard_views.again, name="again"),
    path("<uuid:stream_id>/discard/", wizard_views.wizard.discard_page, name="discard"),
    path("<uuid:stream_id>/home/", views.home, name="home"),
    path("<uuid:stream_id>/live/", views.live, name="live"),
    path("<uuid:stream_id>/add/", views.add, name="add"),
    path("<uuid:stream_id>/add/records/", views.add_records, name="add_records"),
    path("<uuid:stream_id>/add/file/confirm/", views.confirm_file, name="confirm_file"),
    path("<uuid:stream_id>/add/file/drop/", views.drop_file, name="drop_file"),
    path("<uuid:stream_id>/add/many/", views.add_many, name="add_many"),
    path("<uuid:stream_id>/add/stop/", views.stop, name="stop"),
    path("<uuid:stream_id>/token/", views.token, name="token"),
    path("<uuid:stream_id>/close/", views.close, name="close"),
    path("<uuid:stream_id>/publish/", publishing.pages.publish_page, name="publish"),
    path("<uuid:stream_id>/details/", publishing.pages.details_page, name="details"),
    path("<uuid:stream_id>/withdraw/", publishing.pages.withdraw_page, name="withdraw"),
    path("<uuid:stream_id>/compare/", views.compare, name="compare"),
]
