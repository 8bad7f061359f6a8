"""Sentences of the portal with numbers in them, and which quantity of a release each number is.

A phrase has # for numbers and … for names; beside it stands what its numbers are: a constant, or of `Quantities`.
So a number that a release has elsewhere, but not here, is not taken. Phrases are English; Chinese texts have the
numbers of the English ones (`translated`).
"""

from __future__ import annotations

import re
from functools import cache

from mechanisms.verify.quantities import Quantities
from mechanisms.verify.shown_numbers import SHOWN, are_shown

_MARGIN = "“# ± #” means: the true count is between # and #, and a sentence like this is right at least # times in #"
_DIALECT = 'half_width = # * (part["standard_error"] ** #).sum() ** # + #'
_ENDS = {"_lower": "percent_down", "_upper": "percent"}
# Shares of values that count as a bound, of a step's width or of that value alone; nearly all of them between commas.
_AT_BOUND = tuple(
    (
        f"{share}{comma} are {ends}",
        *(f"{_ENDS[name]} in_all {statistic}{name}" for name in names),
        "bounds",
    )
    for ends, statistic in (
        ("below #", "share_at_low"),
        ("# or below", "share_at_low"),
        ("# or above", "share_at_high"),
    )
    for share, names in (
        ("# to # %", ("_lower", "_upper")),
        ("# to # %]", ("_lower", "_upper")),
        ("%", ()),
    )
    for comma in ("", ",")
)
_OF_PEOPLE: tuple[tuple[str, ...], ...] = (
    ("private with ε = #", "whole loss"),
    ("private with ρ = #", "whole loss"),
    ("private with $\\varepsilon$ = #", "whole loss"),
    ("private with $\\rho$ = #", "whole loss"),
    ("Privacy cost ε = #", "whole loss"),
    ("Privacy cost ρ = #", "whole loss"),
    ("measured # … # by", "day", "year"),
    ("at most a factor of #", "factor"),
    ("counts with at most # row", "max_rows"),
    ("At most # rows of each person count", "max_rows"),
    ("at most # of them count", "max_rows"),
    ("margin (# %)", "95"),
    ("margins (# %)", "95"),
    ("Margin (# %)", "95"),
    ("margin of at least # %", "95"),
    ("probability # % or more", "95"),
    ("with # % probability or more", "95"),
    ("with # % probability;", "95"),
    ("probability over # %", "99.9"),
    (_MARGIN, "120", "10", "110", "130", "95", "100"),
    ("more than # lines, which no spreadsheet holds", "1048576"),
    ("in days since # January #", "1", "1970"),
    ("both ends stand there: “[# to #]”", "0", "39"),
    ("“[# to #]” are both ends of", "0", "39"),
    ("numbers “[# to #]” mean one of the two", "28", "29"),
    ("No count is below #", "0"),
    ("never below #", "0"),
    ("number of people below #", "0"),
    ("A number below #", "0"),
    ("its number may be #", "0"),
    ("in a group may be #", "0"),
    ("so it may be below #", "0"),
    ("a row says # or #", "0", "1"),
    ('fileEncoding = "UTF-#"', "8"),
    ("[#, c(", "1"),
    (".loc[#, [", "0"),
    ("head(table, #)", "10"),
    ("table.head(#)", "10"),
    (_DIALECT, "2.12", "2", "0.5", "0.57"),
    ("half_width <- # * sqrt(sum(part$standard_error^#)) + #", "2.12", "2", "0.57"),
    ("half_width = # * (((again - first) ** #).sum() / (len(again) - #)) ** #", "2.1", "2", "1", "0.5"),
    ("half_width <- # * sqrt(colSums(sweep(again, #, first)^#) / (nrow(again) - #))", "2.1", "2", "2", "1"),
    # Histograms.
    ("for each of the # cells", "lines histogram"),
    ("# people, by …", "people"),
    ("# ± # people, by …", "everyone", "everyone's margin"),
    ("stand in for # ± # people", "everyone", "everyone's margin"),
    *(
        (f"the largest group{of_rows} is …, with # ± #.", "most of a column", "margin of a column")
        for of_rows in ("", " of drawn rows")
    ),
    ("The # largest of # groups", "drawn values", "sizes"),
    ("within ± # of", "half_width"),
    ("… and # more column", "more columns"),
    ("Up to about # of these # margins", "margins that miss", "margins"),
    ("Margin: ± # people", "half_width"),
    ("by the bins alone, off by up to #", "bins"),
    *((f"off by up to {'…, ' * before}#{days} in", "bins") for before in range(4) for days in ("", " days")),
    # Totals and means.
    ("The mean of … is # ± #", "column in_all mean", "margin in_all mean"),
    ("Values above # count as #", "bounds", "bounds"),
    ("below # count as #, those above # as #", "bounds", "bounds", "bounds", "bounds"),
    ("from # to # in steps of #", "bounds", "bounds", "steps"),
    ("from # to #, in steps of #", "bounds", "bounds", "steps"),
    ("# % ± # are # or above", "percent in_all share_at_high", "points in_all share_at_high", "bounds"),
    ("# % ± # are # or below", "percent in_all share_at_low", "points in_all share_at_low", "bounds"),
    ("# % ± # are below #", "percent in_all share_at_low", "points in_all share_at_low", "bounds"),
    ("below # count as #: ", "bounds", "bounds"),
    *_AT_BOUND,
    ("below #, and # or above", "bounds", "bounds"),
    ("# or below, and # or above", "bounds", "bounds"),
    *((f"{words}{end}", "bounds") for words in ("below #", "# or below", "# or above") for end in (";", ")")),
    ("Below #", "bounds"),
    ("At # or above", "bounds"),
    ("At # or below", "bounds"),
    ("# group is not compared", "drawn"),
    ("# groups are not compared", "drawn"),
    ("rounded down to steps of #", "steps"),
    ("in steps of #/#", "step parts", "step parts"),
    ("Drawn are # of # groups", "drawn", "groups"),
    # Summaries.
    *(
        (
            f"# to # % are # {end}",
            "percent_down summary interval_lower",
            "percent summary interval_upper",
            "bounds",
        )
        for end in ("or below", "or above")
    ),
    ("how many lie in each of # steps of equal width", "equal steps"),
    ("it has # to # people", "column totals interval_lower", "column totals interval_upper"),
    ("Values were counted from # to #", "bounds", "bounds"),
    ("# ± # people, by …", "column summary estimate", "margin summary estimate"),
    ("Summary (Table #)", "1"),
    ("Table #", "1"),
    ("Table # is fitted to", "0"),
    ("Table #. # characteristic", "1", "characteristics"),
    # Answers.
    ("for each of the # queries", "lines answers"),
    ("# numbers of people, by …", "lines answers"),
    ("# sums of # cells", "sums", "cells"),
    ("The largest, …, is # ± #", "most answers answer", "margin answers answer"),
    ("All together: # ± #", "all together", "margin answers answer"),
    ("Answers # … Standard error # people", "lines answers", "significant root answers standard_error"),
    (
        "± # to ± # people, narrowest",
        "significant margin answers answer",
        "significant margin answers answer",
    ),
    ("± # people, narrowest", "significant margin answers answer"),
    ("± # to ± # people, narrowest", "margin answers answer", "margin answers answer"),
    ("± # people, narrowest", "margin answers answer"),
    ("in the table. # … #", "0", "scale answers answer"),
    ("weighs in the sum. # … #", "0", "1"),
    ("× # of the standard error; # is the best", "above bound", "1"),
    ("# times as wide; # is the best", "above bound", "1"),
    ("Margin: ± # people", "widest answers"),
    # Choices.
    ("was chosen, of # candidates", "candidates"),
    ("common value, of # candidates", "candidates"),
    ("common value, of # declared value", "declared values"),
    ("best option, of # candidates", "candidates"),
    ("fewest conflicts, of # candidates", "candidates"),
    ("among # declared candidates", "candidates"),
    ("among # declared value", "declared values"),
    ("is fewer than # people behind", "shortfall"),
    ("off by fewer than # ranks", "shortfall"),  # as earlier bundles say
    ("fewer than # people have values between", "shortfall"),
    # Randomised answers.
    ("randomised answers of # people", "lines answers"),
    ("Margin: ± # people", "margin estimates estimate"),
    *(
        (f"The largest group{of_rows}, …, has # ± #", "most estimates estimate", "margin estimates estimate")
        for of_rows in ("", " of drawn rows")
    ),
    # Rows of many columns.
    ("hold # columns", "columns"),
    ("# made-up rows with # columns stand in for # ±", "lines synthetic", "columns", "people"),
    ("or as independent. # … #", "0", "times measured"),
    ("in a grid of # cells", "grid"),
    ("#: #% of the variance", "components", "variances"),
    *(
        (f"Shares of the {cost}: columns #/#, tables #/#", "shares", "shares", "shares", "shares")
        for cost in ("cost", "loss")  # as earlier bundles say
    ),
    ("for the # of # pairs", "pairs", "lines pairs"),  # as earlier bundles say
    ("for # of # pairs", "good pairs", "lines pairs"),
    ("misplaces at most # % of", "10"),
    ("Small differences, in # of # pairs", "rough pairs", "lines pairs"),
    ("misplaces # to # % of the", "10", "30"),
    ("go together, in # of # pairs", "noisy pairs", "lines pairs"),
    ("misplaces over # % of", "30"),
    # Running counts.
    ("# period published up to # … #", "periods", "day", "year"),
    ("# periods published up to # … #", "periods", "day", "year"),
    ("Closed on # … #: no", "closed day", "closed year"),
    ("Up to …: # ± #", "newest count", "newest margin"),
    ("Up to # … #: #", "last day", "last year", "newest count"),
    ("Up to # … #, the total of", "last day", "last year"),
    ("the total of … is # ± #", "newest count", "newest margin"),
    ("New in that period: # ± #", "newest added", "newest added margin"),
)
# Where a person may have several rows, rows are counted.
_OF_ROWS = tuple(
    (phrase.replace("people", "rows"), *names) for phrase, *names in _OF_PEOPLE if "people" in phrase
)
# Of one, either is called by itself.
_OF_ONE = tuple(
    (phrase.replace(several, one), *names)
    for phrase, *names in (*_OF_PEOPLE, *_OF_ROWS)
    for several, one in (("people", "person"), ("rows", "row"))
    if f"# {several}" in phrase
)
PHRASES = (*_OF_PEOPLE, *_OF_ROWS, *_OF_ONE)


def placed(text: str, quantities: Quantities) -> dict[int, bool]:
    """Where numbers begin of which their sentence says what they are, and whether they are that."""
    known: dict[int, bool] = {}
    for phrase, *names in PHRASES:
        for match in _compiled(phrase).finditer(text):
            for number, name in enumerate(names, start=1):
                values = quantities.of(name)
                if len(values):
                    shown = bool(are_shown(match[number], values).any())
                    place = match.start(number)
                    known[place] = known.get(place, False) or shown
    return known


@cache
def _compiled(phrase: str) -> re.Pattern[str]:
    parts = re.split(r"([#…]| +)", phrase)
    return re.compile("".join(map(_pattern, parts)))


def _pattern(part: str) -> str:
    if part == "#":
        return f"[-\u2212]?({SHOWN.pattern})"
    if part == "…":
        return r"[^\n]{1,200}?"
    return r"\s+" if part.isspace() else re.escape(part)
