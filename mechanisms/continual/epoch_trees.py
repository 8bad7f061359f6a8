"""The trees of the first epochs of a stream without an end, found once: a plan must not take seconds.

EPOCH_TREES: for the epochs of 2^0, 2^1, ... 2^11 periods the branching of a tree, and the weights of its levels from
single periods to the whole epoch, in proportion: what `best_levels(2**epoch, definition, REUSE)` finds, in
thousandths.
"""

from __future__ import annotations

from mechanisms.accounting import Definition

EPOCH_TREES: dict[Definition, tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]] = {
    Definition.PURE: (
        ((), (1000,)),
        ((2,), (326, 674)),
        ((4,), (390, 610)),
        ((8,), (442, 558)),
        ((16,), (495, 505)),
        ((32,), (549, 451)),
        ((8, 8), (324, 274, 402)),
        ((16, 8), (370, 260, 370)),
        ((16, 16), (339, 316, 345)),
        ((32, 16), (390, 294, 317)),
        ((8, 8, 16), (236, 200, 269, 295)),
        ((16, 16, 8), (273, 257, 194, 275)),
    ),
    Definition.ZCDP: (
        ((), (1000,)),
        ((2,), (560, 829)),
        ((2, 2), (529, 320, 786)),
        ((4, 2), (569, 356, 741)),
        ((4, 4), (540, 435, 721)),
        ((4, 4, 2), (516, 417, 329, 672)),
        ((4, 4, 4), (494, 399, 404, 659)),
        ((4, 4, 4, 2), (476, 384, 389, 304, 618)),
        ((4, 4, 4, 4), (458, 370, 375, 375, 610)),
        ((4, 4, 4, 4, 2), (443, 358, 363, 363, 284, 575)),
        ((4, 4, 4, 4, 4), (429, 346, 351, 351, 351, 572)),
        ((4, 4, 4, 4, 4, 2), (417, 336, 341, 342, 341, 267, 541)),
    ),
}
