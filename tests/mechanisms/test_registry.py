from __future__ import annotations

import pytest

from mechanisms.registry import HISTOGRAMS, mechanism


def test_names_are_distinct_and_find_their_mechanism() -> None:
    assert [mechanism(m.name) for m in HISTOGRAMS] == list(HISTOGRAMS)


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(KeyError, match=r"gaussian-histogram, .*laplace-histogram"):
        mechanism("perfect-histogram")


@pytest.mark.parametrize("m", HISTOGRAMS, ids=lambda m: m.name)
def test_the_default_of_every_choice_is_one_of_them(m: object) -> None:
    assert all(p.default in dict(p.choices) for p in m.parameters if p.kind == "choice")  # type: ignore[attr-defined]
