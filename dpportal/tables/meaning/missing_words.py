"""Words that people write where they have no value, found among a table's first texts to ask its curator about."""

from __future__ import annotations

from collections.abc import Iterable

MOST_SPELLINGS = 20
# In small letters. A value of some table may be such a word, as “none” is: only its curator knows.
USUAL = frozenset(
    {
        *("-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", ".", "..", "...", "?", "??"),
        *(
            "n/a",
            "na",
            "n.a.",
            "n.a",
            "n. a.",
            "#n/a",
            "#na",
            "<na>",
            "nan",
            "null",
            "<null>",
            "#null!",
            "nil",
        ),
        *(
            "none",
            "unknown",
            "unk",
            "missing",
            "(missing)",
            "(blank)",
            "blank",
            "empty",
            "no data",
            "no answer",
        ),
        *(
            "not available",
            "not applicable",
            "not known",
            "not stated",
            "not specified",
            "no response",
            r"\n",
        ),
        *("keine angabe", "keine angaben", "k.a.", "k. a.", "unbekannt", "fehlend", "fehlt", "ohne angabe"),
        *(
            "inconnu",
            "non renseigné",
            "nd",
            "n.d.",
            "sans réponse",
            "desconocido",
            "sin datos",
            "s/d",
            "sconosciuto",
        ),
        *("不详", "不詳", "未知", "未填", "缺失", "无数据", "不明", "不知道", "未回答"),
    }
)


def missing_words(texts: Iterable[str]) -> tuple[str, ...]:
    """Each spelling of a usual word that is among the texts, sorted; MOST_SPELLINGS at most."""
    usual = {text for text in texts if text.casefold() in USUAL}
    return tuple(sorted(usual, key=lambda word: (word.casefold(), word))[:MOST_SPELLINGS])
