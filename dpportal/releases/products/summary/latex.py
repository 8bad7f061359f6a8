"""The table in LaTeX, with booktabs and longtable: a file that compiles by itself and can be cut from.

Any engine takes a table in Latin letters; one with others says that it is for LuaLaTeX or XeLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.releases.products.shared.cells import joined

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
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


def document(parts: Sequence[Json], loss: str) -> str:
    """A document with the table alone. parts: of `page.on_paper`. loss: in words."""
    note = _(
        "Each true number lies within its margin (±) with 95 %% probability; margins of shares are in percentage "
        "points. “Or more” and “or less” stand at a limit that was declared: the value itself may be any number "
        "beyond. The table is differentially private with %(loss)s: every number holds noise."
    )
    lines = [line for part in parts for line in _table(part)]
    return _document("\n".join([*lines, rf"\noindent {escaped(note % {'loss': loss})}"]))


def _table(shown: Json) -> Iterator[str]:
    head = ["", *(f"{h['name']}" for h in shown["heads"]), *_difference_heads(shown)]
    people = ["", *(f"n = {joined(h['value'], h['margin'])}" for h in shown["heads"])]
    people += [""] * (len(head) - len(people))
    # A part that goes on has the number of the one before.
    star = "*" if shown.get("goes_on") else ""
    yield rf"\begin{{longtable}}{{l{'r' * (len(head) - 1)}}}"
    yield rf"\caption{star}{{{escaped(shown['caption'])}}}\\"
    yield r"\toprule"
    yield _row(head)
    yield _row(people)
    yield r"\midrule\endhead"
    for block in shown["blocks"]:
        yield from _block(block, len(head))
    yield r"\bottomrule"
    yield r"\end{longtable}"


def _document(content: str) -> str:
    """content: what stands in it, escaped."""
    first, fonts = [], [r"\usepackage[utf8]{inputenc}", r"\usepackage[T1]{fontenc}", r"\usepackage{textcomp}"]
    if _OTHER_LETTERS.search(content):
        first = [
            "% !TeX program = lualatex",
            "% For LuaLaTeX or XeLaTeX: pdfLaTeX has not all of these letters.",
        ]
        fonts = [r"\usepackage{fontspec}"]
    if _EASTERN.search(content):
        fonts.append(r"\usepackage[scheme=plain]{ctex}")
    lines = [
        *first,
        r"\documentclass{article}",
        *fonts,
        r"\usepackage{booktabs,longtable,pdflscape}",
        r"\begin{document}",
        r"\begin{landscape}\small",
        content,
        r"\end{landscape}",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """A text that LaTeX prints as it is; control characters, which end lines or stop it, become spaces."""
    return _SPECIAL.sub(lambda found: _written(found[0]), text)


def _written(sign: str) -> str:
    if sign in "-,":
        return f"{sign}{{}}"
    return _SIGNS.get(sign, " ")


def _difference_heads(shown: Json) -> list[str]:
    return [shown["difference_name"], _("Standardised")] if shown["difference_name"] else []


def _block(block: Json, columns: int) -> Iterator[str]:
    yield rf"\multicolumn{{{columns}}}{{l}}{{\textbf{{{escaped(block['name'])}}}}}\\"
    for row in block["rows"]:
        cells = [*row["cells"], row.get("difference"), row.get("standardised")]
        texts = [joined(c["value"], c["margin"]) if c else "" for c in cells]
        yield r"\quad " + _row([row["label"], *texts][:columns])


def _row(texts: list[str]) -> str:
    return " & ".join(map(escaped, texts)) + r"\\"
