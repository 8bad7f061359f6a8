"""Whose rows belong together, and that nobody's rows decide which of another's count.

Only rows that name a person count: a row whose field is empty, one of the words that are declared to mean "no value",
or one that programs write for it (`number_syntax.NOBODY`, of a float its NaN), is left out, as a closed column leaves a
row out. With max_rows = m, the counts are x = Σ_p c_p over the
identifiers p: c_p counts at most m rows of p, drawn at random among p's rows by numbers that no other row has a part
in. So the c_p are independent, and the law of c_p depends on the rows of p alone.

- Add-remove: a neighbour has all rows of one identifier q more, or rows without one more. Draw the rows of all others
  alike in both tables; then x' - x = c_q, with |c_q|₁ <= m, or 0 for rows without an identifier.
- Replace-one: the rows of q are replaced by those of r, an identifier that the table has not, or by rows without one.
  Then x' - x = c_r - c_q, with |c_q|₁, |c_r|₁ <= m, where either may be 0: a person can have no row that counts, so the
  number of rows is not public (`DomainVersion.unit`), and `mechanisms.sensitivity` covers both relations.

For each draw, the noise covers that difference at the declared loss; the laws of the draws are the same, so mixing over
them keeps it. Rows without an identifier could not be one person together: whoever enters them moves the draw of the
others, and with m = 1 the loss was ln((1 + e^{2ε})/2), 1.43 at ε = 1. Nor could each be a person of its own: whoever
has k of them would lose kε.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Persons:
    """Whose rows belong together, and how many of each person's count.

    column: of the identifier, compared without the spaces around it and composed (`python_semantics.person_of`); rows
    without one are left out.
    """

    column: str
    max_rows: int = 1
    ignore_case: bool = False
