"""What a column's name suggests of its kind and bounds; the data have no say in it.

Words of names in Chinese stand in `chinese_names.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from dpportal.datasets import chinese_names
from dpportal.datasets.truths import is_unread
from dpportal.platform.json_types import Json
from dpportal.tables.formats.frame import BETWEEN
from dpportal.tables.meaning.identifiers import named_like_identifier
from mechanisms.domain import Attribute, Boolean, Categorical, Integer, Real

# Whole words of a name, as underscores, dots, hyphens and capitals part them.
_WORDS = re.compile(r"[A-ZÀ-Þ]?[a-zß-ÿĀ-ſ]+|[A-ZÀ-Þ]+(?![a-zß-ÿĀ-ſ])|\d+")
BORN = Integer("", True, lower=1900, upper=2029, width=10)
_BOUNDS: dict[str, Attribute] = {
    **dict.fromkeys(
        ("age", "alter", "âge", "edad", "età", "idade", "wiek", "leeftijd", "ålder", "alder", "věk"),
        Integer("", True, lower=0, upper=119, width=5),
    ),
    **dict.fromkeys(
        ("geburtsjahr", "birthyear", "yob", "geboortejaar", "födelseår", "fødselsår", "fødselår"), BORN
    ),
    **dict.fromkeys(("monat", "mois"), Integer("", True, lower=1, upper=12)),
    **dict.fromkeys(("prozent", "pourcentage"), Real("", True, lower=0.0, upper=100.0, bins=10)),
    "month": Integer("", True, lower=1, upper=12),
    "hour": Integer("", True, lower=0, upper=23),
    "minute": Integer("", True, lower=0, upper=59),
    "percent": Real("", True, lower=0.0, upper=100.0, bins=10),
    "percentage": Real("", True, lower=0.0, upper=100.0, bins=10),
}
_BOUNDS |= {word: _BOUNDS[english] for word, english in chinese_names.SAME_BOUNDS.items()}
_PAY = ("salary", "wage", "wages", "pay", "earnings", "revenue", "rent", "gehalt", "lohn", "einkommen")
_KINDS = {
    "date": (
        *("date", "day", "birthday", "birthdate", "dob", "timestamp"),
        *("datum", "geburtsdatum", "geburtstag", "tag", "jour", "naissance"),
    ),
    "integer": (
        *("year", "count", "number", "num", "children", "rooms", "persons", "hours", "weeks", "size"),
        *(
            "days",
            "months",
            "years",
            "visits",
            "stay",
            "jahr",
            "anzahl",
            "kinder",
            "zimmer",
            "personen",
            "stunden",
        ),
        *(
            "tage",
            "wochen",
            "monate",
            "jahre",
            "haushaltsgröße",
            "année",
            "nombre",
            "enfants",
            "heures",
            "jours",
        ),
    ),
    "real": (
        "income",
        "amount",
        "rate",
        "share",
        "price",
        "weight",
        "height",
        "cost",
        "score",
        "ratio",
        *("betrag", "preis", "kosten", "miete", "gewicht", "größe", "fläche", "anteil", "quote"),
        *(
            "revenu",
            "salaire",
            "montant",
            "prix",
            "loyer",
            "poids",
            "taille",
            "taux",
            "coût",
            "délai",
            "durée",
        ),
        *_PAY,
    ),
    "categorical": (
        *(
            "sex",
            "gender",
            "geschlecht",
            "sexe",
            "sexo",
            "sesso",
            "plec",
            "płeć",
            "geslacht",
            "kön",
            "køn",
            "kjønn",
            "pohlaví",
            "race",
            "ethnicity",
            "region",
            "state",
            "county",
            "country",
            "city",
            "province",
            "code",
        ),
        *(
            "type",
            "status",
            "class",
            "category",
            "group",
            "level",
            "education",
            "occupation",
            "industry",
            "sector",
        ),
        *("language", "nationality", "diagnosis", "relationship", "workclass"),
        *(
            "department",
            "dept",
            "division",
            "faculty",
            "school",
            "team",
            "role",
            "job",
            "profession",
            "religion",
        ),
        *(
            "abteilung",
            "beruf",
            "land",
            "kanton",
            "bundesland",
            "familienstand",
            "marital",
            "district",
            "ward",
        ),
        *(
            "staatsangehörigkeit",
            "nationalität",
            "bildung",
            "schulabschluss",
            "branche",
            "gemeinde",
            "kreis",
            "stadt",
        ),
        *(
            "kategorie",
            "gruppe",
            "art",
            "typ",
            "familienstatus",
            "commune",
            "département",
            "pays",
            "ville",
            "région",
        ),
        *("profession", "métier", "catégorie", "nationalité", "diplôme", "motif", "cause", "statut"),
        *("schulform", "schulart", "grund", "ursache", "reason"),
    ),
}
_KIND_OF_WORD = {word: kind for kind, words in _KINDS.items() for word in words} | chinese_names.KIND_OF_WORD
_QUESTIONS = ("is", "has", "had", "was", "does", "did", "hat", "ist", "war", "est", "avait")
# Of questions that neither yes nor no answers.
_OTHER_QUESTIONS = {
    *("how", "what", "which", "when", "where", "who", "whom", "whose", "why"),
    *(
        "wie",
        "welche",
        "welcher",
        "welches",
        "welchen",
        "welchem",
        "wann",
        "wo",
        "wer",
        "wen",
        "wem",
        "warum",
    ),
    *("combien", "comment", "quel", "quelle", "quels", "quelles", "quand", "où", "qui", "pourquoi"),
}
# Of yes or no without a question: what was or was not done to a person.
_DONE = (
    *("readmitted", "employed", "insured", "vaccinated", "enrolled", "deceased", "smoker", "retired"),
    *(
        "erwerbstätig",
        "versichert",
        "geimpft",
        "verstorben",
        "raucher",
        "erhalten",
        *("employé", "assuré", "vacciné", "hospitalisé", "décédé", "retraité", "scolarisé"),
    ),
)
# Words of a day of birth.
_BORN = {
    *("birthday", "birthdate", "dob", "geburtsdatum", "geburtstag", "naissance"),
    *chinese_names.DAY_OF_BIRTH,
}
# A year beside a birth, in several languages.
_YEARS_OF_BIRTH = (
    {"birth", "year"},
    {"année", "naissance"},
    {"annee", "naissance"},
    {"año", "nacimiento"},
    {"anno", "nascita"},
    {"ano", "nascimento"},
    {"rok", "urodzenia"},
    {"rok", "narození"},
)
# Units and forms in brackets say how a value is written, seldom what it is.
_BRACKETS = re.compile(r"[(\[{][^)\]}]*[)\]}]")


def proposed(name: str, truths: tuple[str, ...] = ()) -> Attribute | None:
    """A whole declaration where the name leaves little doubt; None where only people know.

    truths: how the table writes no and yes, if that is known.
    """
    own, words = own_part(name), _words(name)
    if _asks_yes_or_no(own, words):
        return Boolean(name, True, closed=True, values=truths)
    if words and words[0] in chinese_names.QUESTIONS:
        # Its answers, 否 and 是, are texts that no table is read by as no and yes.
        yes_or_no = Boolean(name, True, closed=True, values=truths)
        return yes_or_no if truths else Categorical(name, True, values=chinese_names.ANSWERS)
    born = [BORN] if any(pair <= set(words) for pair in _YEARS_OF_BIRTH) else []
    matches = [_BOUNDS[word] for word in words if word in _BOUNDS] or born
    return replace(matches[-1], name=name) if matches else None


def own_part(name: str) -> str:
    """Of a name that was joined of several header lines, what stands in the last: the first are of a group."""
    return name.rpartition(BETWEEN)[2] or name


def is_contradicted(name: str, look: Json) -> bool:
    """Whether a described column's first rows look like another kind than the name suggests.

    As an age group's do, which are no numbers, a question's whose answers are the numbers 1 to 5, or those of an
    identifier.
    """
    attribute, kind = proposed(name), look.get("kind")
    seen = look.get("repeats") is not None
    if seen and look.get("identifies"):
        return bool(proposed_kind(name))
    if isinstance(attribute, Boolean | Categorical):
        return seen and kind in ("integer", "real") and not look.get("truths")
    if attribute is None:
        return proposed_kind(name) in ("integer", "real") and kind in ("date", "boolean")
    return kind in ("text", "date", "boolean")


def lacks_words(name: str, look: Json) -> bool:
    """Whether the name suggests yes or no, and the first rows write the two by words that only people can tell."""
    return isinstance(proposed(name), Boolean) and is_unread(look)


def proposed_kind(name: str) -> str:
    """The kind of column that the name suggests; empty where it suggests none, or says that each row has its own."""
    if named_like_identifier(name):
        return ""
    attribute = proposed(name)
    matches = [_KIND_OF_WORD[word] for word in _words(name) if word in _KIND_OF_WORD]
    return attribute.kind if attribute else matches[-1] if matches else ""


def _asks_yes_or_no(name: str, words: list[str]) -> bool:
    """Whether yes and no are the answers, as to “is smoker” and “Insured?”, and not to “How satisfied are you?”."""
    if not words:
        return False
    is_question = name.rstrip().endswith("?") and _OTHER_QUESTIONS.isdisjoint(words)
    return is_question or words[0] in _QUESTIONS or words[-1] in _DONE


def proposed_step(name: str) -> str:
    """By which dates are grouped unless somebody says otherwise: days of birth by years, of which a life has few."""
    words = _words(name)
    return "year" if {*words} & _BORN or {"birth", "date"} <= {*words} else "month"


def _words(name: str) -> list[str]:
    """Of a column's own part, outside brackets, or all of it where they hold no more than that."""
    own = own_part(name)
    for text in (_BRACKETS.sub(" ", own), own):
        one_case = text.lower() if text.isupper() else text
        if words := [word.lower() for word in _WORDS.findall(one_case)] + chinese_names.words(text):
            return words
    return []
