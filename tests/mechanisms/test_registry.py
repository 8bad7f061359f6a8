from __future__ import annotations

import pytest

from mechanisms.registry import HISTOGRAMS, STREAMS, mechanism, stream


def test_names_are_distinct_and_find_their_mechanism() -> None:
    assert [mechanism(m.name) for m in HISTOGRAMS] == list(HISTOGRAMS)


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(KeyError, match=r"gaussian-histogram, .*laplace-histogram"):
        mechanism("perfect-histogram")


def test_streams_are_found_by_distinct_names_too() -> None:
    assert [stream(m.name) for m in STREAMS] == list(STREAMS)
    with pytest.raises(KeyError, match=r"binary-tree, .*fda"):
        stream("perfect-stream")


def test_streams_shown_only_to_compare_with_come_last() -> None:
    references = [m.reference for m in STREAMS]
    assert references == sorted(references)


@pytest.mark.parametrize("m", HISTOGRAMS, ids=lambda m: m.name)
def test_the_default_of_every_choice_is_one_of_them(m: object) -> None:
    assert all(p.default in dict(p.choices) for p in m.parameters if p.kind == "choice")  # type: ignore[attr-defined]
