"""README.md shows titles, names and descriptions as they were typed, whatever Markdown makes of other texts."""

import html
import re

import pytest
from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt

from dpportal.platform.language_layers import languages
from dpportal.publications.descriptions import readme_file

HOSTILE = (
    "<img src=https://example.org/x>",
    "![seen](https://example.org/x.png)",
    "[Download](https://example.org)",
    "</td><script>alert(1)</script>",
    "<!-- hidden",
    "<https://example.org>",
    "[a][b]\n\n[b]: https://example.org",
    "[a [b] c](https://example.org)",
    "[c]: https://example.org/x.png\n\n![c] and [c]",
    r"a\<img src=x>",
    r"a\\<img src=x>",
    r"\[a](https://example.org)",
    "See http://example.org/a<img src=x>",
    "See http://example.org/a[b](x)",
)
# What a program might take for a tag or a link, whatever it makes of a backslash before.
LIVE = re.compile(r"<[A-Za-z/!?]|\][(\[:]")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_somebody_typed_is_no_markup(tmp_path, text):
    # As in whole templates, which leave nothing to HTML.
    context = {"about": {"facts": True, "text": mark_safe(text)}, "files": [], "several": False}
    readme_file(tmp_path, "publications/_about_files.md", dict.fromkeys(languages(), context))
    readme = (tmp_path / "README.md").read_text()
    assert not LIVE.search(readme)
    shown = MarkdownIt("commonmark").render(readme)
    assert "\\" in text or text.split("\n")[0] in html.unescape(shown)
    assert "seen" not in text or "seen" in shown
    assert not any(tag in shown for tag in ("<img", "<a ", "<script", "</td", "<!--"))
