"""The table in LaTeX, with booktabs and longtable: a file that compiles by itself and can be cut from.

Any engine takes a table in Latin letters; one with others says that it is for LuaLaTeX or XeLaTeX, and asks for a font
that has Greek and Cyrillic ones, or ctex. Cells break into lines, so that the table is as wide as the sheet at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_\allowbreak{}",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    # No line ends between the sign and its number.
    "± ": r"$\pm$~",
    "±": r"$\pm$",
    "−": r"$-$",
    "…": r"\dots{}",
    "–": "--",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "€": r"\texteuro{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "„": r"\quotedblbase{}",
    "‚": r"\quotesinglbase{}",
    "—": "---",
    "ε": r"$\varepsilon$",
    "ρ": r"$\rho$",
    "δ": r"$\delta$",
    "⁻": r"\textsuperscript{--}",
    **{raised: rf"\textsuperscript{{{digit}}}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
}
# Two of these would be printed as another sign.
_DOUBLED = "[-,](?=[-,])"
_CONTROL = "[\x00-\x1f\x7f-\x9f]"
_SPECIAL = re.compile("|".join([*map(re.escape, _SIGNS), _DOUBLED, _CONTROL]))
# Beyond the letters that fonts of eight bits have; among them those of Chinese, Japanese and Korean.
_OTHER_LETTERS = re.compile("[^\x00-\u017f]|[\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f]")
_EASTERN = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)

_EIGHT_BITS = [
    r"\usepackage[utf8]{inputenc}",
    r"\usepackage[T1]{fontenc}",
    r"\usepackage{textcomp}",
    # Outlines, of which a reader can search and copy the letters.
    r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}",
]
# Of the width of the line: the labels, and all columns of numbers together; the rest is between them.
_LABELS, _NUMBERS, _WIDEST = 0.2, 0.73, 0.25
# The first one that there is; without it letters that the usual font lacks would be missing without a word.
FONTS = ("Times New Roman", "DejaVu Serif", "FreeSerif", "Noto Serif")


def document(parts: Sequence[Json], loss: str) -> str:
    """A document with the table alone. parts: of `page.on_paper`. loss: in words."""
    note = _(
        "Each true number lies within its margin (±) with 95 %% probability; margins of shares are in percentage "
        "points. “[0 to 39]” are both ends of one that reaches farther to one side. “Or more” and “or less” stand at a "
        "limit that was declared: the value itself may be any number beyond. The table is differentially private with "
        "%(loss)s: every number holds noise."
    )
    lines = [line for part in parts for line in _table(part)]
    return _document("\n".join([*lines, rf"\noindent {escaped(note % {'loss': loss})}"]))


def _table(shown: Json) -> Iterator[str]:
    head = ["", *(f"{h['name']}" for h in shown["heads"]), *_difference_heads(shown)]
    people = ["", *(f"n = {h['text']}" for h in shown["heads"])]
    people += [""] * (len(head) - len(people))
    yield rf"\begin{{longtable}}{{{_columns(len(head) - 1)}}}"
    # The caption has its number by itself.
    yield rf"\caption*{{{escaped(shown['caption'])}}}\\"
    yield r"\toprule"
    yield _row(head)
    yield _row(people)
    yield r"\midrule\endhead"
    for block in shown["blocks"]:
        yield from _block(block, len(head))
    yield r"\bottomrule"
    yield r"\end{longtable}"


def _columns(numbers: int) -> str:
    """Columns that break their texts into lines: one of labels, and so many of numbers, alike."""
    wide = min(_NUMBERS / max(numbers, 1), _WIDEST)
    labels = rf">{{\raggedright\arraybackslash\hangindent=2em\hspace{{0pt}}}}p{{{_LABELS}\linewidth}}"
    return (
        rf"{labels}*{{{numbers}}}{{>{{\raggedleft\arraybackslash\hspace{{0pt}}}}p{{{wide:.3f}\linewidth}}}}"
    )


def _document(content: str) -> str:
    """content: what stands in it, escaped."""
    first, fonts = [], _EIGHT_BITS
    if _OTHER_LETTERS.search(content):
        first = [
            "% !TeX program = lualatex",
            "% For LuaLaTeX or XeLaTeX: pdfLaTeX has not all of these letters.",
        ]
        fonts = [r"\usepackage{fontspec}", _main_font()]
    if _EASTERN.search(content):
        fonts = [*fonts, r"\usepackage[scheme=plain]{ctex}"]
    lines = [
        *first,
        "% Typeset it three times: longtable learns the widths of its columns.",
        r"\documentclass{article}",
        *fonts,
        r"\usepackage{array,booktabs,longtable}",
        r"\usepackage[a4paper,landscape,margin=15mm]{geometry}",
        r"\begin{document}",
        r"\footnotesize\setlength{\tabcolsep}{4pt}\renewcommand{\arraystretch}{1.1}",
        content,
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _main_font() -> str:
    """Chooses the first font that there is."""
    chosen = ""
    for font in reversed(FONTS):
        chosen = rf"\IfFontExistsTF{{{font}}}{{\setmainfont{{{font}}}}}{{{chosen}}}"
    return chosen


def escaped(text: str) -> str:
    """A text that LaTeX prints as it is; control characters, which end lines or stop it, become spaces."""
    return _SPECIAL.sub(lambda match: _written(match[0]), text)


def _written(sign: str) -> str:
    if sign in "-,":
        return f"{sign}{{}}"
    return _SIGNS.get(sign, " ")


def _difference_heads(shown: Json) -> list[str]:
    return [shown["difference_name"], _("Standardised")] if shown["difference_name"] else []


def _block(block: Json, columns: int) -> Iterator[str]:
    name = rf"\raggedright\textbf{{{escaped(block['name'])}}}"
    # No sheet ends with the name of a column.
    yield rf"\multicolumn{{{columns}}}{{p{{{_LABELS + _NUMBERS:.2f}\linewidth}}}}{{{name}}}\\*"
    for row in block["rows"]:
        cells = [*row["cells"], row.get("difference"), row.get("standardised")]
        texts = [c["text"] if c else "" for c in cells]
        yield r"\quad " + _row([row["label"], *texts][:columns])


def _row(texts: list[str]) -> str:
    return " & ".join(map(escaped, texts)) + r"\\"
