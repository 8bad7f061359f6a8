"""What a published release says of itself to people who cite it and to programs that look for data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from dpportal.accounts.origins import origin_of
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.publications.datacite import datacite
from dpportal.publications.draft import Publication
from dpportal.publications.licences import LICENCES, Licence
from dpportal.publications.linked_data import schema_org

# What a citation is downloaded as, by the ending of its name.
FORMATS = {
    "bib": "application/x-bibtex; charset=utf-8",
    "ris": "application/x-research-info-systems",
    "datacite": "application/vnd.datacite.datacite+json",
}
_BIBTEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # BibTeX counts braces, those after a backslash, too.
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        **{mark: f"\\{mark}" for mark in "&%$#_"},
    }
)
# In a script element these could end it.
_JSON = str.maketrans({"<": "\\u003C", ">": "\\u003E", "&": "\\u0026"})


@dataclass(frozen=True)
class About:
    """What a curator lets everyone read of a dataset; whatever is empty was not said.

    first, last: what time it is about, each a year, a month or a day by ISO 8601. licence: its SPDX identifier.
    """

    text: str = ""
    keywords: Sequence[str] = ()
    place: str = ""
    first: str = ""
    last: str = ""
    publisher: str = ""
    contact: str = ""
    licence: str = ""

    @property
    def period(self) -> str:
        """What time it is about, as people write it."""
        return " – ".join(dict.fromkeys(filter(None, (self.first, self.last))))

    @property
    def interval(self) -> str:
        """The same by ISO 8601, an end that was not said open; empty if nothing was."""
        if self.first == self.last:
            return self.first
        return f"{self.first or '..'}/{self.last or '..'}"

    @property
    def years(self) -> range:
        """Every year that it is about; empty if that was not said."""
        ends = [int(end[:4]) for end in (self.first, self.last) if end]
        return range(ends[0], ends[-1] + 1) if ends else range(0)

    @property
    def terms(self) -> Licence | None:
        return LICENCES.get(self.licence)

    @property
    def contact_address(self) -> str:
        return f"mailto:{self.contact}" if "@" in self.contact and "/" not in self.contact else self.contact

    def facts(self) -> Json:
        """For release.json: what was said, by name."""
        facts = {
            "description": self.text,
            "keywords": list(self.keywords),
            "place": self.place,
            "from": self.first,
            "to": self.last,
            "publisher": self.publisher,
            "contact": self.contact,
            "licence": self.licence,
        }
        return {name: value for name, value in facts.items() if value}

    def frictionless(self) -> Json:
        """What a data package says of it."""
        licences = [{"name": self.licence, "title": t.name, "path": t.text}] if (t := self.terms) else []
        return {
            **({"keywords": list(self.keywords)} if self.keywords else {}),
            **({"licenses": licences} if licences else {}),
        }


@dataclass(frozen=True)
class Download:
    """A file that readers get. size: in bytes."""

    name: str
    about: str
    address: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Metadata:
    """A published release or running count.

    kind: what it is, of which dataset, and its loss. author: by display name. published: when it became public, or
    was made. address: of its page. columns: what it tells of, by the names that its files have for them, with the
    facts of schema.org's PropertyValue about each. site: the portal's own address, without a path. downloads: its
    files, where the page has them.
    """

    title: str
    kind: str
    author: str
    published: date
    address: str
    identifier: str
    doi: str = ""
    columns: Mapping[str, Json] = field(default_factory=dict)
    about: About = About()
    site: str = ""
    downloads: Sequence[Download] = ()

    @classmethod
    def of(
        cls,
        request: HttpRequest,
        publication: Publication,
        what: str,
        loss: str,
        columns: Mapping[str, Json],
    ) -> Metadata:
        """Of one that can be published; a preview has the date from which on it could. what, loss: of its kind."""
        published = publication.published_at or publication.publishable_at
        assert published is not None
        return cls(
            title=str(publication),
            kind=kind_text(publication, what, loss),
            author=publication.created_by.public_name,
            published=published.date(),
            address=request.build_absolute_uri(publication.get_absolute_url()),
            identifier=str(publication.pk),
            doi=publication.doi,
            columns=columns,
            about=publication.dataset.about,
            site=origin_of(request),
        )

    @property
    def link(self) -> str:
        """Where it is found for good."""
        return f"https://doi.org/{self.doi}" if self.doi else self.address

    @property
    def text(self) -> str:
        """The citation as a sentence of plain text."""
        parts = (self.author_and_year, self.title, self.kind, self.about.publisher, self.link)
        return joint(".").join(filter(None, parts))

    @property
    def author_and_year(self) -> str:
        """How a citation begins."""
        return _("%(author)s (%(year)s)") % {"author": capfirst(self.author), "year": self.published.year}

    @property
    def bibtex(self) -> str:
        fields = {
            "title": f"{{{self.title.translate(_BIBTEX)}}}",
            # In braces of its own, so that an office is not taken for a first and a last name.
            "author": f"{{{self.author.translate(_BIBTEX)}}}",
            "year": str(self.published.year),
            "publisher": self.about.publisher.translate(_BIBTEX),
            "note": self.kind.translate(_BIBTEX),
            "doi": self.doi,
            "url": self.link,
        }
        lines = [f"  {name} = {{{_line(value)}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{{self._key},", *lines, "}\n"])

    @property
    def ris(self) -> str:
        """By the tags of the RIS specification of 2011, each line ended as it asks."""
        tags = [
            ("TY", "DATA"),
            ("TI", self.title),
            ("AU", self.author),
            ("PY", str(self.published.year)),
            ("DA", self.published.strftime("%Y/%m/%d")),
            ("PB", self.about.publisher),
            ("N1", self.kind),
            ("AB", self.about.text),
            *(("KW", word) for word in self.about.keywords),
            ("DO", self.doi),
            ("UR", self.link),
        ]
        lines = [f"{tag}  - {_line(value)}" for tag, value in tags if value]
        return "\r\n".join([*lines, "ER  - ", ""])

    def cited(self, form: str) -> str:
        """In one of FORMATS."""
        if form == "datacite":
            return json.dumps(datacite(self), ensure_ascii=False, indent=2)
        return {"bib": self.bibtex, "ris": self.ris}[form]

    @property
    def linked_data(self) -> str:
        """For search engines: a schema.org Dataset as the text of a script element, which nothing in it can end."""
        return json.dumps(schema_org(self), ensure_ascii=False).translate(_JSON)

    @property
    def _key(self) -> str:
        name = next(iter(re.findall(r"[a-z]+", self.author.casefold())), "release")
        return f"{name}{self.published.year}-{self.identifier[:8]}"


def _line(text: str) -> str:
    """On one line, so that it can neither end a field nor begin one."""
    return " ".join(text.split())


def kind_text(publication: Publication, what: str, loss: str) -> str:
    """What it is, of which dataset, and its loss."""
    return _("%(what)s of %(dataset)s, %(loss)s") % {
        "what": what,
        "dataset": publication.dataset.name,
        "loss": loss,
    }
