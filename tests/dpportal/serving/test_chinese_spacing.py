"""Pages in Chinese have no blank beside a full-width mark and none before a per-cent sign; what is typed stays."""

from __future__ import annotations

import gzip

import pytest
from django.apps import apps
from django.db import models
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.translation import override
from django.views.decorators.gzip import gzip_page

from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.operations.own_texts import FIELDS
from dpportal.serving.chinese_spacing import ChineseSpacing, spaced, spaced_page
from mechanisms.domain import Categorical


@pytest.mark.parametrize(
    ("page", "better"),
    [
        ("<p>第一句。\n  第二句。 Third</p>", "<p>第一句。第二句。Third</p>"),
        ('<p>一句。 <a href="/">看</a> 。</p>', '<p>一句。<a href="/">看</a>。</p>'),
        ("<b>一句。</b> 又一句", "<b>一句。</b>又一句"),
        ("<label>名称 <span>（可选）</span>\n</label>", "<label>名称<span>（可选）</span></label>"),
        ("“其他” 和 “缺失” 两格", "“其他”和“缺失”两格"),
        ("在 95 % 以内，\u00a05 %", "在 95% 以内，\u00a05%"),
        ("a, “b” c. d (5 items) e", "a, “b” c. d (5 items) e"),
        ("在 ε = 1 时，2 人", "在 ε = 1 时，2 人"),
        (
            '<input value="一。 二"> <textarea>一。 二</textarea>',
            '<input value="一。 二"> <textarea>一。 二</textarea>',
        ),
        ("<code>一。 5 %</code> 二", "<code>一。 5 %</code> 二"),
        ("<script>a = 5 % 2</script>", "<script>a = 5 % 2</script>"),
        (
            '<script id="f" type="application/json">"5 %"</script>',
            '<script id="f" type="application/json">"5%"</script>',
        ),
    ],
)
def test_blanks_of_english_go(page: str, better: str) -> None:
    assert spaced(page) == better
    assert spaced(better) == better


@pytest.mark.parametrize(
    ("language", "kind", "said"),
    [
        ("zh-hans", "text/html; charset=utf-8", "一。二"),
        ("zh-hans", "text/csv", "一。 二"),
        ("en", "text/html; charset=utf-8", "一。 二"),
    ],
)
def test_pages_in_chinese_alone_are_set_so(language: str, kind: str, said: str) -> None:
    def answer(_request: object) -> HttpResponse:
        return HttpResponse("一。 二", content_type=kind)

    with override(language):
        assert ChineseSpacing(answer)(RequestFactory().get("/")).content.decode() == said


def test_a_page_that_is_packed_is_set_before() -> None:
    def answer(_request: object) -> HttpResponse:
        return HttpResponse("一。 二" * 100)

    request = RequestFactory().get("/", headers={"Accept-Encoding": "gzip"})
    with override("zh-hans"):
        packed = ChineseSpacing(gzip_page(spaced_page(answer)))(request)
        left = ChineseSpacing(gzip_page(answer))(request)
    assert packed["Content-Encoding"] == left["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content).decode() == "一。二" * 100
    assert gzip.decompress(left.content).decode() == "一。 二" * 100


OWN = "人口， 2024 （试行） 5 %"


@pytest.mark.parametrize(
    ("page", "better"),
    [
        (f"<h1>{OWN}</h1><p>一句。 {OWN} 。 又一句</p>", f"<h1>{OWN}</h1><p>一句。{OWN}。又一句</p>"),
        (f"<p>人口， 2025。 5 % {OWN}</p>", f"<p>人口，2025。5% {OWN}</p>"),
        ("<b>A &amp; B， C</b> D， E", "<b>A &amp; B， C</b> D，E"),
        ('<script id="f">"a 5 % b 6 %"</script>', '<script id="f">"a 5 % b 6%"</script>'),
    ],
)
def test_what_people_wrote_stays(page: str, better: str) -> None:
    assert spaced(page, {OWN, "A & B， C", "a 5 %"}) == better


@pytest.mark.django_db
def test_titles_names_and_declared_words_are_shown_as_they_were_written(client, curator, dataset) -> None:
    """Also where a sentence of the portal has them, and where a query asks for a column alone."""
    Dataset.objects.filter(pk=dataset.pk).update(name=OWN, description=f"第一行。 二\n{OWN} （续）")
    colour = Categorical(
        "colour", values=("red", "blue"), words=("红， 深", "蓝 （浅）"), title="颜色 （主）"
    )
    services.declare(dataset, "colour", colour)
    client.force_login(curator)
    headers = {"Accept-Language": "zh-CN"}
    listed = client.get("/datasets/", headers=headers).text
    home = client.get(f"/datasets/{dataset.pk}/", headers=headers).text
    declared = client.get(f"/datasets/{dataset.pk}/domain/?column=colour", headers=headers).text
    assert OWN in home and "第一行。 二" in home and f"{OWN} （续）" in home
    assert "颜色 （主）" in declared
    assert OWN in listed


# Of the same names, and of the portal's own words or of other programs'.
PORTALS_OWN = {
    "releases.Artifact.name", "streams.SeriesFile.name", "accounts.OutgoingMail.text", "jobs.StoredQuestion.answer",
    "jobs.Heartbeat.name", "datasets.Dataset.table",
}  # fmt: skip


def test_a_field_that_is_called_as_those_in_which_people_write_is_noted_too() -> None:
    names = {name for own in FIELDS.values() for name in own}
    called_so = {
        f"{model._meta.label}.{each.name}"
        for model in apps.get_models()
        if model.__module__.startswith("dpportal.")
        for each in model._meta.concrete_fields
        if each.name in names and isinstance(each, (models.CharField, models.TextField, models.JSONField))
    }
    noted = {f"{label}.{name}" for label, own in FIELDS.items() for name in own}
    assert called_so - noted == PORTALS_OWN
