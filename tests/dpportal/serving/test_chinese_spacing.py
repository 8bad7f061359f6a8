"""Pages in Chinese have no blank beside a full-width mark and none before a per-cent sign; what is typed stays."""

from __future__ import annotations

import gzip

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.translation import override
from django.views.decorators.gzip import gzip_page

from dpportal.serving.chinese_spacing import ChineseSpacing, spaced, spaced_page


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
