"""Each act of the pages has its twin in the API, or a reason why it has none."""

from __future__ import annotations

from dpportal.api.v1 import urls
from dpportal.budgets.urls import urlpatterns as of_budgets
from dpportal.datasets.urls import urlpatterns as of_datasets
from dpportal.notices.urls import urlpatterns as of_notices
from dpportal.releases.urls import urlpatterns as of_releases
from dpportal.streams.urls import urlpatterns as of_streams
from dpportal.value_choices.urls import urlpatterns as of_values

# What a page does, and what does the same for a program.
TWINS = {
    "releases:list": "releases",
    "releases:start": "draft",
    "releases:product": "choose",
    "releases:columns": "choose",
    "releases:method": "choose",
    "releases:offers": "offers",
    "releases:dial": "plan",
    "releases:review": "spend",
    "releases:ask": "ask",
    "releases:discard": "discard",
    "releases:job": "release",
    "releases:cancel": "cancel",
    "releases:resume": "resume",
    "releases:again": "again",
    "releases:rename": "choose",
    "releases:details": "release_details",
    "releases:publish": "publish_release",
    "releases:withdraw": "withdraw_release",
    "releases:compare": "compare",
    "releases:compare_csv": "compare",
    "releases:public": "publication",
    "releases:download": "file",
    "streams:list": "streams",
    "streams:start": "draft_stream",
    "streams:counted": "draft_stream",
    "streams:timing": "draft_stream",
    "streams:strategy": "draft_stream",
    "streams:dial": "draft_stream",
    "streams:review": "open_stream",
    "streams:ask": "ask",
    "streams:again": "stream_again",
    "streams:discard": "discard_stream",
    "streams:home": "stream",
    "streams:token": "stream_token",
    "streams:close": "close_stream",
    "streams:publish": "publish_stream",
    "streams:details": "stream_details",
    "streams:withdraw": "withdraw_stream",
    "streams:public": "publication",
    "streams:add_many": "send_periods",
    "streams:confirm_file": "confirm_periods",
    "streams:drop_file": "drop_periods",
    "streams:stop": "stop_periods",
    "streams:compare": "compare_stream",
    "budgets:ledger": "budgets",
    "budgets:ask": "ask",
    "datasets:list": "datasets",
    "datasets:upload": "upload",
    "datasets:direct": "begin_upload",
    "datasets:direct_part": "append_piece",
    "datasets:direct_finish": "append_piece",
    "datasets:direct_give_up": "give_up_upload",
    "datasets:tableless": "begin_counted",
    "datasets:connect_table": "connect_table",
    "datasets:home": "dataset",
    "datasets:progress": "dataset",
    "datasets:first_rows": "rows",
    "datasets:reading": "change_reading",
    "datasets:missing_words": "change_reading",
    "datasets:sheet": "change_reading",
    "datasets:encoding": "change_reading",
    "datasets:header": "change_reading",
    "datasets:edit": "rename",
    "datasets:description": "describe",
    "datasets:share": "share",
    "datasets:take_back": "take_back",
    "datasets:cancel": "cancel_reading",
    "datasets:read_again": "read_again",
    "datasets:retention": "choose_day",
    "datasets:erase": "erase",
    "datasets:receipt": "erasure",
    "datasets:remove": "remove",
    "datasets:fit": "look_at_fit",
    "datasets:fit_progress": "fit",
    "datasets:domain": "declaration",
    "datasets:one_row": "declare",
    "datasets:several_rows": "declare",
    "datasets:unit": "declare",
    "datasets:codebook": "declare",
    "datasets:codebook_export": "declaration",
    "datasets:chosen": "declare",
    "datasets:several": "declare",
    "datasets:copy_domain": "copy_declaration",
    "datasets:column": "declare",
    "datasets:areas": "declare_areas",
    "datasets:coarser": "declare_coarser",
    "datasets:remove_coarser": "drop_coarser",
    "datasets:fill_column": "fill_column",
    "values:choose": "choose_values",
    "values:ask": "ask",
    "values:chosen": "chosen_values",
    "notices:page": "webhooks",
    "notices:webhook": "change_webhook",
    "notices:test": "test_webhook",
    "notices:pause": "change_webhook",
    "notices:delete": "change_webhook",
}
# What has no twin in the API, and why: the acts of each reason.
FOR_BROWSERS = {
    "a part of a page, made of what a program has in numbers": {
        *("releases:finished", "releases:summarise", "releases:explore", "releases:cells"),
        *("releases:workload", "releases:searches", "releases:simulation", "releases:compare_report"),
        *("streams:live", "values:progress", "datasets:row_cells", "datasets:column_cells"),
    },
    "an address that answers everyone, programs too, without a token": {
        *("releases:cite", "releases:chart", "releases:croissant", "releases:embed"),
        *("streams:cite", "streams:chart", "streams:croissant", "streams:embed", "streams:download"),
    },
    "a file that a person fills in or takes along, where a program says the same in JSON": {
        *("releases:matrix_template", "releases:plan_file", "budgets:ledger_csv"),
    },
    "a period has an address of its own, with the running count's own token": {
        *("streams:periods", "streams:add"),
    },
    "records of people come to the portal by the upload of a dataset alone; a program counts and sends the number": {
        "streams:add_records",
    },
    "a person reads mail": {"notices:mail"},
}


def test_every_act_of_a_page_has_a_twin():
    rooms = {
        "datasets": of_datasets,
        "budgets": of_budgets,
        "releases": of_releases,
        "streams": of_streams,
        "values": of_values,
        "notices": of_notices,
    }
    acts = {f"{room}:{pattern.name}" for room, patterns in rooms.items() for pattern in patterns}
    without = set().union(*FOR_BROWSERS.values())
    assert acts == set(TWINS) | without, sorted(acts ^ (set(TWINS) | without))
    assert not set(TWINS) & without
    assert set(TWINS.values()) <= {str(pattern.name) for pattern in urls[0]}
