"""Published releases and running counts as one list, newest first, and which of them somebody looks for."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.catalogue import thumbnails
from dpportal.datasets.models import AttributeDeclaration, PublicDescription
from dpportal.platform.json_types import Json
from dpportal.publications.draft import PUBLIC
from dpportal.publications.metadata import About
from dpportal.releases.models import Release
from dpportal.releases.products import PRODUCTS
from dpportal.streams.models import Stream
from dpportal.value_choices.disclosure import PublishedLoss, losses_of
from mechanisms.domain import Boolean, Categorical

RUNNING_COUNT = "stream"
KINDS = {**dict(Release.Product.choices), RUNNING_COUNT: _("Running count")}
FacetValue = str | int
# Of Latin, Greek and Cyrillic letters.
_ACCENT = re.compile("[\u0300-\u036f]")
# What readers see in place of a column's name, by declaration and column.
_Titles = Mapping[tuple[int, str], str]
_ABOUT = "dataset__public_description__"
ABOUT_FIELDS = ("text", "keywords", "place", "first", "last", "publisher")
_SHOWN = (
    "pk",
    "published_at",
    "dataset",
    "dataset__name",
    "created_by",
    *(f"{_ABOUT}{name}" for name in ("shown", *ABOUT_FIELDS)),
)
# Values of a column that it is found by: codes of thousands are not what anybody looks for.
MOST_VALUES = 200
# Of those that were published at the same time, the one that was begun last comes first.
NEWEST_FIRST = ("-published_at", "-created_at")
# What the list of its publications does not say of a dataset, and is large where it has many columns.
_UNLISTED_OF_DATASET = ("dataset__columns", "dataset__facts")


@dataclass(frozen=True)
class CatalogueEntry:
    """What a search sees of a release or a running count; `texts` are all it is found by.

    place, years: what it is about, perhaps unsaid. publisher: the office that answers for it, or who published it.
    columns: what it tells of. dataset: the id of what it was released from.
    """

    pk: UUID
    dataset: UUID
    kind: str
    published_at: datetime
    place: str
    publisher: str
    columns: tuple[str, ...]
    years: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def address(self) -> str:
        """Of its page."""
        kind = "streams" if self.kind == RUNNING_COUNT else "releases"
        return reverse(f"{kind}:public", args=[self.pk])

    @cached_property
    def _plain(self) -> str:
        return plain(" ".join(self.texts))

    def about(self, words: Iterable[str]) -> bool:
        """Whether every word occurs in one of the texts, whatever its case and accents. words: `plain`."""
        return all(word in self._plain for word in words)


def plain(text: str) -> str:
    """A text without the differences that nobody means when searching: case, accents, the Turkish i's dot.

    Marks of other scripts, which make other letters of them, stay.
    """
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize(
        "NFC", _ACCENT.sub("", apart).replace("\N{LATIN SMALL LETTER DOTLESS I}", "i")
    )


def _counted(values: Iterable[FacetValue]) -> dict[FacetValue, int]:
    """In the values' order, which are all numbers or all texts."""
    numbers = Counter(value for value in values if value)
    return {value: numbers[value] for value in sorted(numbers)}


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Everything that is published and not withdrawn, newest first; equal to itself alone.

    titles: what readers see in place of a column's name, by the name, where a declaration says so.
    """

    entries: tuple[CatalogueEntry, ...]
    titles: Mapping[str, str]

    @cached_property
    def facets(self) -> dict[str, dict[FacetValue, int]]:
        """How many entries have each value, by what a search can name; what was left unsaid is no value."""
        return {
            "kind": _counted(entry.kind for entry in self.entries),
            "year": _counted(entry.published_at.year for entry in self.entries),
            "place": _counted(entry.place for entry in self.entries),
            "publisher": _counted(entry.publisher for entry in self.entries),
            "covered": _counted(year for entry in self.entries for year in entry.years),
            "column": _counted(column for entry in self.entries for column in set(entry.columns)),
        }


def read_catalogue() -> Catalogue:
    """Everything of the catalogue, from the database; `snapshot` has it without reading it each time."""
    releases = Release.objects.filter(PUBLIC).order_by(*NEWEST_FIRST)
    streams = Stream.objects.filter(PUBLIC).order_by(*NEWEST_FIRST)
    names = {user.pk: user.public_name for user in User.objects.only("display_name")}
    shown = list(releases.values(*_SHOWN, "product", "title", "columns", "domain_version"))
    counted = list(streams.values(*_SHOWN, "name", "description", "column", "labels", "domain_version"))
    titles = _titles({row["domain_version"] for row in (*shown, *counted)})
    declared = _declared_values({r["domain_version"] for r in shown})
    entries = [
        *(
            _publication(r, r["product"], names, r["columns"], _texts_of_release(r, declared, titles))
            for r in shown
        ),
        *(
            _publication(s, RUNNING_COUNT, names, _columns_of(s), _texts_of_stream(s, titles))
            for s in counted
        ),
    ]
    newest_last = dict(sorted(titles.items()))
    return Catalogue(
        tuple(sorted(entries, key=lambda entry: entry.published_at, reverse=True)),
        {column: title for (_version, column), title in newest_last.items()},
    )


def _texts_of_release(row: Json, declared: Mapping[tuple[int, str], list[str]], titles: _Titles) -> list[str]:
    """By which it is found, beside what all publications have. declared: see `_declared_values`."""
    columns = [(row["domain_version"], name) for name in row["columns"]]
    values = (text for column in columns for text in declared[column])
    return [row["title"], *values, *(titles.get(column, "") for column in columns)]


def _texts_of_stream(row: Json, titles: _Titles) -> list[str]:
    """The same of a running count."""
    columns = (titles.get((row["domain_version"], name), "") for name in _columns_of(row))
    return [row["name"], row["description"], *row["labels"], *columns]


def _columns_of(row: Json) -> list[str]:
    """Of a running count: one at most."""
    return [row["column"]] if row["column"] else []


def _titles(versions: Collection[int]) -> _Titles:
    """What readers see in place of columns' names, by declaration and column, where it was declared."""
    titled = AttributeDeclaration.objects.filter(
        domain_version__in=versions, declaration__has_key="title"
    ).order_by()
    rows = titled.values_list("domain_version", "column", "declaration__title")
    return {(version, column): title for version, column, title in rows if title}


def _declared_values(versions: Collection[int]) -> Mapping[tuple[int, str], list[str]]:
    """What the cells of categories and of yes and no are called, and their values, by declaration and column."""
    attributes = AttributeDeclaration.objects.filter(
        domain_version__in=versions, declaration__kind__in=[Categorical.kind, Boolean.kind]
    ).order_by()
    rows = attributes.values_list("domain_version", "column", "declaration__values", "declaration__words")
    return defaultdict(
        list,
        {
            (version, column): [*(values or ())[:MOST_VALUES], *(words or ())[:MOST_VALUES]]
            for version, column, values, words in rows
        },
    )


def _publication(
    row: Json, kind: str, names: dict[int, str], columns: list[str], texts: list[str]
) -> CatalogueEntry:
    person = names[row["created_by"]]
    # What a curator keeps to themselves is not searched, either.
    about = (
        About(**{name: row[f"{_ABOUT}{name}"] for name in ABOUT_FIELDS}) if row[f"{_ABOUT}shown"] else About()
    )
    described = (
        about.text,
        *about.keywords,
        about.place,
        about.publisher,
        about.period,
        *map(str, about.years),
    )
    return CatalogueEntry(
        pk=row["pk"],
        dataset=row["dataset"],
        kind=kind,
        published_at=row["published_at"],
        place=about.place,
        publisher=about.publisher or person,
        columns=tuple(columns),
        years=tuple(about.years),
        texts=(*texts, *columns, row["dataset__name"], person, str(KINDS[kind]), *described),
    )


@dataclass(frozen=True)
class SearchQuery:
    """What somebody looks for; each may be left open.

    year: in which it was published. covered: a year that the data are about.
    """

    words: str = ""
    kind: str = ""
    year: int | None = None
    place: str = ""
    publisher: str = ""
    covered: int | None = None
    column: str = ""

    def of(self, publications: Iterable[CatalogueEntry]) -> list[CatalogueEntry]:
        words = [plain(word) for word in self.words.split()]
        return [
            p
            for p in publications
            if self.kind in ("", p.kind)
            and self.year in (None, p.published_at.year)
            and self.place in ("", p.place)
            and self.publisher in ("", p.publisher)
            and (self.covered is None or self.covered in p.years)
            and (not self.column or self.column in p.columns)
            and p.about(words)
        ]


@dataclass(frozen=True)
class Entry:
    """A publication as a page lists it: the release or running count itself, its kind in words, cost and picture.

    columns: what it tells of, as readers say it; empty where it is of no column.
    """

    kind: str
    it: ChargedPublication
    columns: str
    loss: PublishedLoss
    icon: str
    thumbnail: Json | None


def abouts(datasets: Iterable[UUID]) -> dict[UUID, About]:
    """What readers may know of each, by one query; nothing of those of which nothing is shown."""
    shown = PublicDescription.objects.filter(shown=True, dataset__in=set(datasets))
    return defaultdict(About, {each.dataset_id: each.about() for each in shown})


def loaded(publications: Sequence[CatalogueEntry], *, with_pictures: bool = True) -> list[Entry]:
    """In the same order; rows of a kind by one query however many."""
    rows: dict[UUID, ChargedPublication] = {}
    for model in (Release, Stream):
        chosen = model.objects.filter(pk__in=[p.pk for p in publications])
        chosen = chosen.select_related("dataset", "charge__budget", "created_by")
        rows |= {row.pk: row for row in chosen.defer(*model.UNLISTED, *_UNLISTED_OF_DATASET)}
    pictures = thumbnails.thumbnails_of(rows.values()) if with_pictures else {}
    losses = losses_of(rows.values())
    titles: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for (version, column), title in _titles({row.domain_version_id for row in rows.values()}).items():
        titles[version][column] = title
    return [
        Entry(
            str(KINDS[p.kind]),
            rows[p.pk],
            _columns_called(rows[p.pk], titles[rows[p.pk].domain_version_id]),
            losses[p.pk],
            _icon(p.kind),
            pictures.get(p.pk),
        )
        for p in publications
        if p.pk in rows
    ]


def _columns_called(row: ChargedPublication, own: Mapping[str, str]) -> str:
    """own: what its declaration says in place of columns' names."""
    if isinstance(row, Release):
        return row.columns_called(own)
    return " × ".join(own.get(name, name.replace("_", " ")) for name in row.counted_columns)


def _icon(kind: str) -> str:
    return "icon-stream" if kind == RUNNING_COUNT else PRODUCTS[kind].icon
