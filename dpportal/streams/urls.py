from django.urls import path

from dpportal.streams import api, opening, public, publishing, views

app_name = "streams"

urlpatterns = [
    path("", views.listing, name="list"),
    path("new/<uuid:dataset_id>/", opening.start, name="start"),
    path("<uuid:stream_id>/", public.page, name="public"),
    path("<uuid:stream_id>/download/<str:name>", public.download, name="download"),
    path("<uuid:stream_id>/cite.<slug:form>", public.cite, name="cite"),
    path("<uuid:stream_id>/periods", api.periods, name="periods"),
    path("<uuid:stream_id>/counted/", opening.counted, name="counted"),
    path("<uuid:stream_id>/timing/", opening.timing, name="timing"),
    path("<uuid:stream_id>/strategy/", opening.strategy, name="strategy"),
    path("<uuid:stream_id>/strategy/dial/", opening.dial, name="dial"),
    path("<uuid:stream_id>/review/", opening.review, name="review"),
    path("<uuid:stream_id>/again/", opening.again, name="again"),
    path("<uuid:stream_id>/discard/", opening.discard, name="discard"),
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
    path("<uuid:stream_id>/publish/", publishing.publish, name="publish"),
    path("<uuid:stream_id>/details/", publishing.details, name="details"),
    path("<uuid:stream_id>/withdraw/", publishing.withdraw, name="withdraw"),
    path("<uuid:stream_id>/compare/", views.compare, name="compare"),
]
