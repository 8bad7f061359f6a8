"""Pages speak every language: each text has a translation, and no template carries one that cannot have any."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.translation import override
from polib import POEntry

from dpportal.accounts.models import User
from dpportal.management import translations
from dpportal.operations import dataset_record
from dpportal.platform.stored_texts import translated
from dpportal.releases import services
from dpportal.releases.models import Release
from tests.dpportal.chinese import half_width, shown_lines

PORTAL = Path(__file__).resolve().parents[2] / "dpportal"
TEMPLATES = PORTAL.parent / "templates"
AUDIT = "/admin/accounts/auditentry/"
ENGLISH = re.compile(r"\b[a-z]{2,} [a-z]{2,}\b")
# What people called their things, and code that stands in a line.
NO_WORDS = re.compile(
    r"Colours by age|Small table|colour (?:red|green|blue)|https?://\S+|python -m \S+|pip install \S+"
)
# At which argument of a call the act stands.
ACT_AT = {"audit.record": 1, "people.note": 2, "note": 2}
PLACE = re.compile(r"%\(\w+\)[sd]|\{\w*(?:![rsa])?(?::[^{}]*)?\}")
# Names of people, files, formats and programs are the same in every language.
SAME_EVERYWHERE = re.compile(
    r"\b(AIM|BibTeX|CSV|Croissant|DOI|DataCite|JSON|MST|PNG|PrivBayes|Python|RIS|SHA-256|SVG|UTC|sha256|English|"
    r"[a-z_]+\.(?:csv|json|md|npz|py|toml|zip)|"
    r"Ana|Ben|Chi|Dora|Emil|Fatma|Gus|Hana)\b"
)
READ_ALOUD = {"alt", "aria-label", "aria-description", "placeholder", "title"}


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    """A request of the test client leaves its language behind."""
    with override("en"):
        yield


def forms(entry: POEntry) -> list[str]:
    """The translation, in each of its forms."""
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


@pytest.mark.slow
@pytest.mark.every_day
@pytest.mark.skipif(
    any(shutil.which(program) is None for program in translations.PROGRAMS),
    reason="GNU gettext is not installed, which finds what is marked in code and templates",
)
def test_every_text_has_a_translation() -> None:
    stored = {(e.msgctxt, e.msgid, e.msgid_plural): e for e in translations.stored() if not e.obsolete}
    said = {(e.msgctxt, e.msgid, e.msgid_plural) for e in translations.extracted()}
    renew = "run python manage.py translations, and translate what it lists"
    assert not said - stored.keys(), renew
    assert not stored.keys() - said, renew


def test_the_catalogue_is_whole() -> None:
    assert len(translations.stored()) > 3000
    bare = [entry.msgid for entry in translations.stored() if not all(forms(entry)) or entry.fuzzy]
    assert not bare, f"translate in locale/zh_Hans/LC_MESSAGES/django.po: {bare}"


def test_the_compiled_catalogue_says_what_the_file_says() -> None:
    compiled = {(entry.msgctxt, entry.msgid): forms(entry) for entry in translations.compiled()}
    stored = {(entry.msgctxt, entry.msgid): forms(entry) for entry in translations.stored()}
    assert compiled == stored, "run python manage.py translations --compile"


def test_translations_have_the_places_of_their_texts() -> None:
    def wrong(entry: POEntry) -> bool:
        allowed = set(PLACE.findall(entry.msgid)) | set(PLACE.findall(entry.msgid_plural))
        needed = set(PLACE.findall(entry.msgid_plural or entry.msgid)) - {"{value}"}
        return any(not needed <= set(PLACE.findall(form)) <= allowed for form in forms(entry))

    assert not [
        (e.msgid, forms(e)) for e in translations.stored() if "format" in "".join(e.flags) and wrong(e)
    ]


class UnmarkedText(HTMLParser):
    """Collects the words of a template that stand outside of its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("script", "style", "code", "pre")
        for name, value in attributes:
            if name in READ_ALOUD:
                self._look(value or "")

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("script", "style", "code", "pre")

    def handle_data(self, text: str) -> None:
        if self.silent <= 0:
            self._look(text)

    def _look(self, text: str) -> None:
        # A block may hold an attribute for the tag of the template that it extends.
        words = re.sub(r'^\s*class="[^"]*"\s*$', "", text)
        if re.search(r"[A-Za-z]{2,}", SAME_EVERYWHERE.sub("", words)):
            self.found.append(" ".join(text.split()))


def unmarked(source: str) -> list[str]:
    """Words of a template that a reader sees and no tag translates."""
    marked = r"\{%\s*(blocktranslate|blocktrans|comment)\b.*?%\}.*?\{%\s*end\1\s*%\}"
    bare = re.sub(marked, "", source, flags=re.DOTALL)
    bare = re.sub(r"\{\{.*?\}\}", "x ", bare, flags=re.DOTALL)
    bare = re.sub(r"\{%.*?%\}|\{#.*?#\}", "", bare, flags=re.DOTALL)
    reader = UnmarkedText()
    reader.feed(bare)
    return reader.found


def test_templates_carry_no_text_that_cannot_be_translated() -> None:
    pages = {
        str(path.relative_to(TEMPLATES)): unmarked(path.read_text()) for path in TEMPLATES.rglob("*.html")
    }
    unmarked_texts = {name: words for name, words in pages.items() if words}
    assert not unmarked_texts, f"{unmarked_texts}: between {{% translate %}} or {{% blocktranslate %}}"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<p>Nothing here</p>", ["Nothing here"]),
        ('<input placeholder="Your name">', ["Your name"]),
        ('<img alt="{% translate "A chart" %}">', []),
        ("<p>{% blocktranslate %}Some words{% endblocktranslate %} {{ more }} – 95 %</p>", []),
        ("<code>release.json is a file</code>", []),
    ],
)
def test_unmarked_text_is_found(source: str, words: list[str]) -> None:
    assert unmarked(source) == words


def test_each_readme_of_a_bundle_has_one_in_every_language() -> None:
    english = [*TEMPLATES.rglob("readme.md"), *TEMPLATES.rglob("bundle_readme.md")]
    others = [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
    assert len(english) > 7
    assert all(path.with_suffix(f".{code}.md").exists() for path in english for code in others)


MAIN = ["home", "catalogue", "guide", "guide_choice", "guide_queries", "guide_microdata", "guide_streams",
        "guide_protection", "guide_risk", "check"]  # fmt: skip
CURATORS = ["datasets:list", "datasets:upload", "releases:list", "streams:list", "releases:finished",
            "accounts:sessions", "accounts:factors", "accounts:display_name", "tokens:list"]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("name", MAIN)
def test_public_pages_speak_chinese(client: Client, name: str) -> None:
    check(client.get(reverse(name), headers={"Accept-Language": "zh-CN,zh;q=0.9"}).content.decode())


def test_pages_of_a_curator_speak_chinese(client: Client, ready: Release) -> None:
    services.publish(ready, ready.created_by)
    ready.created_by.language = "zh-hans"
    ready.created_by.save()
    client.force_login(ready.created_by)
    own = [reverse("releases:public", args=[ready.pk]), reverse("releases:compare", args=[ready.pk])]
    for address in [*map(reverse, CURATORS), *own, reverse("datasets:home", args=[ready.dataset_id])]:
        check(client.get(address).content.decode())


def test_forms_join_their_texts_with_chinese_marks(client: Client, ready: Release) -> None:
    """What a form refuses."""
    owner = ready.created_by
    User.objects.update(language="zh-hans")
    client.force_login(User.objects.get(pk=owner.pk))
    refused = client.post(reverse("notices:page"), {"adds": "1"}).content.decode()
    assert not half_width(shown_lines(refused))


def test_every_act_of_the_record_has_a_translation() -> None:
    """As owners and administrators read them: those that stand in the calls, and those that calls name."""
    acts = {act for path in PORTAL.rglob("*.py") for act in acts_of(path)} | dataset_record.SHOWN
    assert len(acts) > 80
    with override("zh-hans"):
        assert not {act for act in acts if translated(act) == act}


def acts_of(path: Path) -> Iterator[str]:
    """What the calls of `record` and `note` in a module say was done."""
    tree = ast.parse(path.read_text())
    named = {
        name.id: text.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for name, text in zip(parts(node.targets[0]), parts(node.value), strict=False)
        if isinstance(name, ast.Name) and isinstance(text, ast.Constant)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and (place := ACT_AT.get(ast.unparse(call.func))) and call.args[place:]:
            for node in ast.walk(call.args[place]):
                text = node.value if isinstance(node, ast.Constant) else named.get(getattr(node, "id", ""))
                if isinstance(text, str):
                    yield text


def parts(node: ast.expr) -> list[ast.expr]:
    """One or several names or values; of a marked text the text."""
    listed = node.elts if isinstance(node, ast.Tuple) else [node]
    return [each.args[0] if isinstance(each, ast.Call) and each.args else each for each in listed]


def test_the_record_is_read_in_chinese(client: Client, ready: Release, administrator: User) -> None:
    owner = ready.created_by
    services.publish(ready, owner)
    User.objects.update(language="zh-hans")
    pages = {owner: reverse("dataset_record", args=[ready.dataset_id]), administrator: AUDIT}
    for person, address in pages.items():
        client.force_login(User.objects.get(pk=person.pk))
        page = client.get(address).content.decode()
        assert "批准了预算" in page and not re.search(r">\s*(published|granted a budget)\s*<", page)


def check(page: str) -> None:
    """In Chinese, with no sentence left that the catalogue has in Chinese."""
    assert '<html lang="zh-hans">' in page
    aside = r'<(script|style|code|pre)\b.*?</\1>|<\w+ lang="en">[^<]*<'
    shown = re.sub(aside, "", page, flags=re.DOTALL)
    lines = {" ".join(text.split()) for text in re.findall(r">([^<>]+)<", shown)}
    english = {entry.msgid for entry in translations.stored() if re.search(r"[a-z]{3} [a-z]{3}", entry.msgid)}
    assert not {line for line in lines if line in english}
    # Half a line is English where two of its words in a row are: no name of a person, a column or a file.
    rest = [line for line in shown_lines(page) if ENGLISH.search(NO_WORDS.sub("", line))]
    assert not rest, f"{rest}: through gettext, or `|translated` where code or a worker has composed it"
    assert not half_width(shown_lines(page))


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("每一行（视为一个人）, 加入或移除", True),
        ("增删一人 (加入或移除)", True),
        ("用于私密选择值. https://portal.example", True),
        ("<a>地址</a>: 请填写", True),
        ("<a>地址</a>：请填写", False),
        ("N(0, σ²)的噪声，见 release.json", False),
        ("1,234.5 人，14:05", False),
    ],
)
def test_half_width_marks_are_found(line: str, is_found: bool) -> None:
    assert bool(half_width(shown_lines(f"<p>{line}</p>"))) == is_found


def test_dates_are_written_by_the_language() -> None:
    """A template names a format, or digits alone: names of months stand elsewhere in another language."""
    assert not {
        str(path.relative_to(TEMPLATES)): found
        for path in TEMPLATES.rglob("*.*")
        if path.suffix in (".html", ".md")
        and (found := re.findall(r'\|date:"[^"]*\b[jFM]\b[^"]*"', path.read_text()))
    }
