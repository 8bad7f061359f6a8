"""28 workloads with Laplace noise, and the root mean squared error that HDMM's program has on them.

The figures are those of github.com/dpcomp-org/hdmm at 5aa9df93 (2024-10-06), run on 2026-11-22 with numpy 2.4 and
scipy 1.17: the best strategy of up to 25 random starts, as many as begin within 8 seconds, of OPT_0, of OPT_⊗, of OPT_+
with its sums reconciled up to 4,096 cells, and of OPT_M for marginal tables. Noise has variance 1 per unit of
sensitivity.
"""

from __future__ import annotations

from dataclasses import dataclass

# Cells of Adult's columns: age, education, race, sex, hours; and of ten columns as published for ResidualPlanner.
ADULT_5 = (75, 16, 5, 2, 20)
ADULT_10 = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100)


@dataclass(frozen=True)
class Case:
    """A workload over columns a, b, c, … of so many cells, in its text form, and HDMM's error."""

    name: str
    shape: tuple[int, ...]
    text: str
    hdmm: float


CASES = (
    Case("prefix 90", (90,), 'prefix("a")', 4.10309),
    Case("prefix 128", (128,), 'prefix("a")', 4.45043),
    Case("prefix 256", (256,), 'prefix("a")', 5.19718),
    Case("prefix 500", (500,), 'prefix("a")', 5.95197),
    Case("ranges 90", (90,), 'ranges("a")', 4.32237),
    Case("ranges 128", (128,), 'ranges("a")', 4.75276),
    Case("ranges 256", (256,), 'ranges("a")', 5.70314),
    Case("ranges 500", (500,), 'ranges("a")', 6.73585),
    Case("width 8 of 90", (90,), 'width(8, "a")', 2.82843),
    Case("width 16 of 256", (256,), 'width(16, "a")', 3.87955),
    Case("width 32 of 500", (500,), 'width(32, "a")', 4.51013),
    Case("ranges x ranges", (20, 20), 'ranges("a") x ranges("b")', 7.30432),
    Case("prefix x prefix", (90, 16), 'prefix("a") x prefix("b")', 10.55152),
    Case("prefix x ranges", (20, 30), 'prefix("a") x ranges("b")', 8.57867),
    Case("width x ranges", (90, 16), 'width(8, "a") x ranges("b")', 6.92820),
    Case("prefix x ranges x cells", (16, 12, 5), 'prefix("a") x ranges("b") x identity("c")', 5.55525),
    Case("prefix + prefix", (20, 20), 'prefix("a") + prefix("b")', 4.99960),
    Case("width + prefix", (20, 20), 'width(5, "a") + prefix("b")', 4.63917),
    Case(
        "ranges x cells + cells x ranges",
        (20, 16),
        'ranges("a") x identity("b") + identity("a") x ranges("b")',
        2.59554,
    ),
    Case("ranges + ranges", (64, 64), 'ranges("a") + ranges("b")', 7.73784),
    Case(
        "prefix x cells + cells x prefix",
        (32, 32),
        'prefix("a") x identity("b") + identity("a") x prefix("b")',
        4.06202,
    ),
    Case("prefix + prefix + prefix", (7, 7, 7), 'prefix("a") + prefix("b") + prefix("c")', 4.34248),
    Case("pairs + prefix", (7, 7, 7), 'marginals(=2) + prefix("a")', 3.75772),
    Case(
        "ranges x cells + prefix + pair",
        (12, 8, 5),
        'ranges("a") x identity("c") + prefix("b") + marginal("a", "b")',
        3.72490,
    ),
    Case("Adult: tables of 1", ADULT_5, "marginals(=1)", 3.76070),
    Case("Adult: tables of 2", ADULT_5, "marginals(=2)", 6.29968),
    Case("Adult: tables of 1 and 2", ADULT_5, "marginals(<=2)", 6.71484),
    Case("Adult, ten columns: 1 and 2", ADULT_10, "marginals(<=2)", 25.69898),
)
