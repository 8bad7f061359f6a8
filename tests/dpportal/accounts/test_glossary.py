"""Words that explain themselves: one list, each word somewhere on a page, in a button that a browser can describe."""

from __future__ import annotations

import re

from dpportal.accounts.templatetags import glossary
from tests.dpportal.test_policy import TEMPLATES


def test_every_word_stands_on_a_page_and_no_other() -> None:
    pages = "".join(path.read_text() for path in TEMPLATES.rglob("*.html"))
    in_sentences = {key for _word, key in glossary.TECHNICAL}
    assert set(re.findall(r'{% term "([^"]+)"', pages)) | in_sentences == set(glossary.TERMS)


def test_a_technical_name_in_a_sentence_explains_itself_once() -> None:
    text = "Reads <b> off their least-squares estimate; least-squares again, by p-Identity."
    shown = glossary.explained(text)
    assert shown.count('class="term"') == 2 and "&lt;b&gt;" in shown
    assert ">least-squares</span> estimate; least-squares again, by <span" in shown
    assert re.sub("<[^>]*>", "", shown) == text.replace("<b>", "&lt;b&gt;")


def test_a_word_is_a_button_with_its_meaning_and_without_styles() -> None:
    button = glossary.term("margin", "± 38")
    assert button.startswith(
        '<span class="term" role="button" tabindex="0" aria-description="How far the noise'
    )
    assert button.endswith(">± 38</span>") and "style" not in button


def test_the_guide_has_them_all(client, db) -> None:
    guide = client.get("/guide/").text
    assert all(f"<dt>{word}</dt>" in guide for _key, word, _meaning in glossary.glossary())
