from django.urls import path

from dpportal.datasets import (
    area_map_views,
    bulk_declare_views,
    coarser_views,
    description_views,
    direct_upload_views,
    domain_fit_views,
    domain_views,
    manual_counts_views,
    sharing_views,
    table_views,
    views,
)

app_name = "datasets"

urlpatterns = [
    path("", views.listing, name="list"),
    path("new/", views.upload, name="upload"),
    path("new/direct/", direct_upload_views.begin, name="direct"),
    path("new/direct/<uuid:upload_id>/part/", direct_upload_views.part, name="direct_part"),
    path("new/direct/<uuid:upload_id>/finish/", direct_upload_views.finish, name="direct_finish"),
    path("new/direct/<uuid:upload_id>/give-up/", direct_upload_views.give_up, name="direct_give_up"),
    path("tableless/", manual_counts_views.begin, name="tableless"),
    path("elsewhere/", views.connect_table, name="elsewhere"),
    path("<uuid:dataset_id>/", views.home, name="home"),
    path("<uuid:dataset_id>/progress/", views.progress, name="progress"),
    path("<uuid:dataset_id>/rows/", views.first_rows, name="first_rows"),
    path("<uuid:dataset_id>/reading/", views.reading, name="reading"),
    path("<uuid:dataset_id>/edit/", views.edit, name="edit"),
    path("<uuid:dataset_id>/description/", description_views.describe, name="description"),
    path("<uuid:dataset_id>/share/", sharing_views.share, name="share"),
    path("<uuid:dataset_id>/share/<int:share_id>/take-back/", sharing_views.take_back, name="take_back"),
    path("<uuid:dataset_id>/cancel/", views.cancel, name="cancel"),
    path("<uuid:dataset_id>/read-again/", views.read_again, name="read_again"),
    path("<uuid:dataset_id>/erase/", views.erase, name="erase"),
    path("<uuid:dataset_id>/remove/", views.remove, name="remove"),
    path("<uuid:dataset_id>/fit/", domain_fit_views.fit, name="fit"),
    path("<uuid:dataset_id>/fit/progress/", domain_fit_views.progress, name="fit_progress"),
    path("<uuid:dataset_id>/domain/", table_views.overview, name="domain"),
    path("<uuid:dataset_id>/domain/one-row/", domain_views.one_row, name="one_row"),
    path("<uuid:dataset_id>/domain/unit/", domain_views.unit, name="unit"),
    path("<uuid:dataset_id>/domain/codebook/", bulk_declare_views.import_codebook, name="codebook"),
    path("<uuid:dataset_id>/domain/codebook.<str:ending>", bulk_declare_views.export, name="codebook_export"),
    path("<uuid:dataset_id>/domain/chosen/", bulk_declare_views.chosen, name="chosen"),
    path("<uuid:dataset_id>/domain/several/", bulk_declare_views.several, name="several"),
    path("<uuid:dataset_id>/domain/copy/", bulk_declare_views.copy, name="copy_domain"),
    path("<uuid:dataset_id>/domain/<int:position>/", domain_views.column, name="column"),
    path("<uuid:dataset_id>/domain/<int:position>/row/", table_views.row_cells, name="row_cells"),
    path("<uuid:dataset_id>/domain/<int:position>/areas/", area_map_views.areas, name="areas"),
    path("<uuid:dataset_id>/domain/<int:position>/coarser/", coarser_views.coarser, name="coarser"),
    path(
        "<uuid:dataset_id>/domain/<int:position>/coarser/remove/", coarser_views.remove, name="remove_coarser"
    ),
    path("<uuid:dataset_id>/domain/<int:position>/cells/", domain_views.column_cells, name="column_cells"),
    path("<uuid:dataset_id>/domain/<int:position>/fill/", domain_views.fill_column, name="fill_column"),
]
