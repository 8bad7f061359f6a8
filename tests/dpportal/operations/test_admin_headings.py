"""Lists of the admin are headed in the portal's words, and its forms name their fields once."""

from __future__ import annotations

import re
from html import unescape

from django.contrib import admin
from django.urls import reverse
from django.utils import timezone

from dpportal.releases.models import Release, ReleaseJob
from mechanisms import registry
from tests.dpportal import building
from tests.dpportal.streams import building as stream_building

# Names of the code, and “By …” of a filter before a verb.
STRANGE = re.compile("(by )?(by|at|created by|created at|queued at|answered by|mechanism|horizon|stream)")


def test_no_list_has_a_column_or_a_filter_with_a_name_of_the_code(client, administrator, dataset) -> None:
    """The audit record had a column “By”, and stored questions a filter “By answered by”."""
    stream_building.draft_stream(dataset)
    client.force_login(administrator)
    headings: set[str] = set()
    for model in admin.site._registry:
        page = client.get(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")).text
        found = re.findall(r'class="text">(.*?)</div>|<summary>(.*?)</summary>', page, re.DOTALL)
        words = (" ".join(unescape(re.sub("<[^>]*>", " ", "".join(each))).split()) for each in found)
        headings |= {each.casefold() for each in words}
    assert {"person", "when", "method", "periods"} <= headings
    assert not [each for each in headings if STRANGE.fullmatch(each)]


def test_methods_are_listed_by_their_titles(client, administrator, dataset) -> None:
    stream = stream_building.draft_stream(dataset)
    client.force_login(administrator)
    page = client.get(reverse("admin:streams_stream_changelist")).text
    assert registry.title(stream.mechanism) in page
    assert not re.search(r'<td class="field-method">\s*fda\s*</td>', page)


def test_no_two_fields_of_the_grant_page_have_one_name_for_labels(client, administrator, dataset) -> None:
    client.force_login(administrator)
    page = client.get(reverse("grant", args=[dataset.pk])).text
    names = re.findall(r' id="([^"]*)"', page)
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_what_an_amount_means_is_asked_without_a_fault_while_it_is_typed(
    client, administrator, dataset
) -> None:
    client.force_login(administrator)
    for text in ("", "0", "0,", "0,5", "x", "-", "-3", "1e5", "9" * 20, "12"):
        for choice in ("", "1"):
            sent = {"choice": choice, "amount": text, "delta": ""}
            assert client.get(reverse("grant_meaning", args=[dataset.pk]), sent).status_code == 200


def test_view_on_site_leads_to_public_pages_alone(client, administrator, dataset):
    """A draft's page is there for nobody, and a job's for its curator."""
    draft, public = building.complete_draft(dataset), building.complete_draft(dataset)
    Release.objects.filter(pk=public.pk).update(published_at=timezone.now())
    job = ReleaseJob.objects.create(release=public)
    client.force_login(administrator)
    pages = {
        row: client.get(reverse(f"admin:releases_{row._meta.model_name}_change", args=[row.pk])).text
        for row in (draft, public, job)
    }
    assert [row for row, page in pages.items() if "/admin/r/" in page or "View on site" in page] == [public]
