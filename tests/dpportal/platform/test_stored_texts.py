"""English that a program composed is said again by the catalogue's templates, with its values in their places."""

from __future__ import annotations

from fractions import Fraction

import polib
import pytest
from django.utils.translation import override

from dpportal.charts import counted_word
from dpportal.platform.language_layers import in_reader_language, languages, layered
from dpportal.platform.stored_texts import Translations, translated
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain
from mechanisms.protocol import PlanError


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Permute and flip", "置换翻转法"),
        ("This file is a gzip archive, which is not read here. Save the table as CSV and upload that file.",
         "此文件是 gzip 压缩包，这里不读取这种文件。请把表存为 CSV，再上传该文件。"),
        ("Column age: declare at least one value.", "列 age：请至少声明一个值。"),
        ("Select a valid choice. nope is not one of the available choices.",
         "选择一个有效的选项。 nope 不在可用的选项中。"),
        ("January", "January"),
        ("My own title", "My own title"),
        ("", ""),
    ],
)  # fmt: skip
def test_sentences_are_said_again(english: str, chinese: str) -> None:
    with override("en"):
        assert translated(english) == english
    with override("zh-hans"):
        assert translated(english) == chinese


def test_the_explanation_of_every_histogram_is_said_again() -> None:
    """Nothing of a plan's sentences stays English but names."""
    domain = Domain(
        (
            Categorical("colour", values=("red", "green", "blue")),
            Categorical("size", values=("small", "large")),
        )
    )
    stays = {"DAWA", "Privelet", "PrivTree", "p-Identity"}
    for method in registry.HISTOGRAMS:
        definition = min(method.definitions, key=lambda each: each is not Definition.PURE)
        plan = method.plan(domain, {}, Loss(definition, Fraction(1)))
        with override("zh-hans"):
            texts = [translated(text) for text in (method.title, method.summary, plan.explanation)]
        words = {word for text in texts for word in text.replace("（", " ").replace("）", " ").split()}
        assert not [word for word in words - stays if word.isascii() and word.isalpha() and len(word) > 3], (
            texts
        )


def test_a_reason_within_a_sentence_is_said_again_with_its_place(tmp_path) -> None:
    """As when a program is told that a codebook could not be used."""
    book = polib.POFile()
    book.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    said = {
        "It failed. %(why)s": "失败。%(why)s",
        "Column {column}:": "列 {column}：",
        "say one.": "请写明。",
    }
    for english, chinese in said.items():
        book.append(polib.POEntry(msgid=english, msgstr=chinese))
    book.save_as_mofile(str(tmp_path / "django.mo"))
    assert (
        Translations(tmp_path / "django.mo").of_text("It failed. Column sex: say one.")
        == "失败。列 sex：请写明。"
    )


def test_a_singular_that_has_a_name_keeps_it_and_gets_its_number(tmp_path) -> None:
    """Its translation has the plural's places."""
    book = polib.POFile()
    book.metadata = {"Content-Type": "text/plain; charset=UTF-8", "Plural-Forms": "nplurals=1; plural=0;"}
    forms = ("One row of %(name)s is left out.", "%(number)s rows of %(name)s are left out.")
    chinese = {0: "%(name)s 中有 %(number)s 行（100%%）被略去。"}
    book.append(polib.POEntry(msgid=forms[0], msgid_plural=forms[1], msgstr_plural=chinese))
    book.save_as_mofile(str(tmp_path / "django.mo"))
    said = Translations(tmp_path / "django.mo").of_text
    assert said("One row of Town is left out.") == "Town 中有 1 行（100%）被略去。"
    assert said("7 rows of Town are left out.") == "Town 中有 7 行（100%）被略去。"


def test_a_name_before_a_phrase_of_ours_has_a_colon_as_wide_as_the_phrase() -> None:
    with override("zh-hans"):
        assert translated("Town so far: Opening") == "Town so far：开启持续计数"
        assert translated("Town: so far") == "Town: so far"


@pytest.mark.parametrize(("rows", "title"), [(1, "People by age × sex"), (3, "Rows by age × sex")])
def test_a_stored_title_of_counts_is_said_again(monkeypatch, tmp_path, rows: int, title: str) -> None:
    """Small pictures are read aloud by the titles that a worker stored."""
    monkeypatch.setattr(counted_word, "_", lambda text: f"<{text}>")
    with counted_word.counting_rows(rows):
        template = counted_word.counted_by("%(columns)s").strip("<>")
    book = polib.POFile()
    book.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    book.append(polib.POEntry(msgid=template, msgstr="按 %(columns)s"))
    book.save_as_mofile(str(tmp_path / "django.mo"))
    assert Translations(tmp_path / "django.mo").sentence(title) == "按 age × sex"


def test_what_a_worker_makes_has_a_layer_for_each_language() -> None:
    def made() -> dict[str, object]:
        return {
            "title": translated("Permute and flip"),
            "counts": [1, 2],
            "lines": [["a", translated("Levels of cuts")]],
        }

    by_language = {}
    for code in languages():
        with override(code):
            by_language[code] = made()
    stored = layered(by_language)
    assert stored["languages"] == {
        "zh-hans": {"title": ["=", "置换翻转法"], "lines": {"0": {"1": ["=", "切分层数"]}}}
    }
    with override("zh-hans"):
        assert in_reader_language(stored) == made()
    assert in_reader_language(stored) == made()
    assert in_reader_language({"title": "as before"}) == {"title": "as before"}


def test_a_refusal_of_a_method_names_it_in_the_reader_s_language() -> None:
    with override("zh-hans"):
        said = str(
            PlanError("{title} is for several columns. Choose p-Identity.", title="A matrix of your own")
        )
    assert said.startswith("您自己的矩阵")
    with override("zh-hans"):
        assert "Missing" in str(PlanError("Column {column} has a missing value.", column="Missing"))
