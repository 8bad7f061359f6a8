"""The few words that pages explain where they stand: one list, one component."""

from __future__ import annotations

import re

from django import template
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _, override

register = template.Library()

# By the word's key: the word, and what it means to a reader of 14.
TERMS = {
    "epsilon": (
        _("privacy cost ε"),
        _(
            "How much the numbers can tell about any one person. The smaller ε, the larger the noise and the better "
            "the protection. What several releases cost about the same people adds up."
        ),
    ),
    "cell": (
        _("cell"),
        _(
            "One line of the table of counts: the people with the same value, or combination of values, such as women "
            "aged 30 to 39. Each person is in one cell."
        ),
    ),
    "margin": (
        _("margin"),
        _(
            "How far the noise may have moved the number. “120 ± 10” means: the true count is between 110 and 130, and "
            "a sentence like this is right at least 95 times in 100."
        ),
    ),
    "add-remove": (
        _("added or removed"),
        _(
            "What is protected: the published numbers would be nearly the same if any one person were added to the "
            "table or removed from it. So not even whether somebody is in the table can be told."
        ),
    ),
    "noisy": (
        _("noisy count"),
        _(
            "The true count plus a random number, the noise, which hides each single person. So it can be a little too "
            "high or too low, and even below 0 where few people are."
        ),
    ),
    "missing": (
        _("missing"),
        _(
            "People whose value is not known: the field is empty, holds a word such as “unknown”, or cannot be read, "
            "such as a date in another format."
        ),
    ),
    "other": (
        _("other"),
        _(
            "People with a value that is none of those listed or, where there is no line “Missing”, with none. They "
            "are counted together."
        ),
    ),
    "adjusted": (
        _("adjusted count"),
        _(
            "The noisy count made possible: whole and never below 0, with all of them adding up. It suits a table; for "
            "sums and averages the noisy counts are better, since their errors cancel."
        ),
    ),
    "least-squares": (
        _("least squares"),
        _(
            "What was measured with noise contradicts itself a little: parts do not add up to their sum. Of all "
            "numbers that do, these lie nearest to what was measured."
        ),
    ),
    "p-identity": (
        _("p-Identity"),
        _(
            "Besides each cell it counts a few weighted sums of cells, which a computer searched for beforehand so "
            "that these queries get small margins. The search saw no data."
        ),
    ),
    "wavelet": (
        _("wavelet"),
        _(
            "It measures how much one half of the cells has more than the other, then the same of halves of halves. "
            "Sums over long ranges then need few of these numbers, and so have little noise."
        ),
    ),
    "low-rank": (
        _("low rank"),
        _("All queries can be put together from a few sums, so these few are measured, and no others."),
    ),
    "marginals": (
        _("marginals"),
        _("Tables of some of the columns, in which the people of all other columns are added up."),
    ),
}
# Names of methods as they stand in titles and sentences, with the key of what explains each.
TECHNICAL = (
    (_("least-squares"), "least-squares"),
    (_("least squares"), "least-squares"),
    (_("p-Identity"), "p-identity"),
    (_("wavelet"), "wavelet"),
    (_("low rank"), "low-rank"),
    (_("marginals"), "marginals"),
)


@register.simple_tag
def term(key: str, shown: object = "") -> SafeString:
    """A word that explains itself under the pointer, the focus or a finger. shown: how it stands in its sentence.

    A browser reads the meaning as its description; the stylesheet shows the same words beside it. An element of the
    line, since a button does not break between two lines.
    """
    word, meaning = TERMS[key]
    return format_html(
        '<span class="term" role="button" tabindex="0" aria-description="{}">{}</span>',
        meaning,
        shown or word,
    )


@register.filter
def explained(text: str) -> SafeString:
    """A sentence in which each technical name explains itself where it first stands."""
    places = {str(word): key for word, key in TECHNICAL}
    # Chinese has no blanks between words.
    words = (rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in places)
    named, seen = re.compile(f"({'|'.join(sorted(words, key=len, reverse=True))})"), set[str]()

    def shown(part: str) -> SafeString:
        key = places.get(part, "")
        if not key or key in seen:
            return conditional_escape(part)
        seen.add(key)
        return term(key, part)

    return format_html_join("", "{}", ((shown(part),) for part in named.split(text)))


# Terms of the field, of which the guide has a list in two languages.
FIELD = (
    _("differential privacy"), _("zero-concentrated differential privacy"), _("privacy budget"), _("privacy loss"),
    _("sensitivity"), _("neighbouring tables"), _("composition"), _("post-processing"), _("noise"), _("histogram"),
    _("contingency table"), _("marginal table"), _("matrix mechanism"), _("workload"), _("strategy"), _("query"),
    _("continual release"), _("running count"), _("exponential mechanism"), _("private choice"),
    _("randomised response"), _("synthetic data"), _("noisy count"), _("adjusted count"), _("margin"), _("interval"),
    _("declaration"), _("domain of a column"), _("bin"), _("cell"), _("dataset"), _("curator"), _("ledger"),
    _("release"), _("true count"), _("missing value"), _("codebook"),
)  # fmt: skip


@register.simple_tag
def field_terms() -> list[tuple[str, str]]:
    """Each term of the field in English and in Chinese, whatever language the page has."""
    with override("en"):
        english = [str(word) for word in FIELD]
    with override("zh-hans"):
        return list(zip(english, map(str, FIELD), strict=True))


@register.simple_tag
def glossary() -> list[tuple[str, str, str]]:
    """All words: key, word, meaning."""
    return [(key, capfirst(str(word)), str(meaning)) for key, (word, meaning) in TERMS.items()]
