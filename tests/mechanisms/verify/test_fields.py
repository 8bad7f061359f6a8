"""What is the portal's word stands in the README with its reason, and nothing else does."""

from __future__ import annotations

import re
from pathlib import Path

from mechanisms.verify.fields import PORTALS_WORD, _is_any
from mechanisms.verify.json_values import is_same, leaves

README = Path(__file__).parents[3] / "mechanisms/verify/README.md"


def test_the_readme_lists_each_entry_that_cannot_be_checked_with_its_reason():
    listed = re.findall(r"^\| `([^`]+)` \| (.+) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(listed) == PORTALS_WORD


def test_an_entry_that_only_begins_as_another_one_is_none_of_the_portals_words():
    for listed in (
        "about",
        "about.text",
        "read_from.table",
        "protects.other_protections.0.spent",
        "versions.numpy",
    ):
        assert _is_any(listed, PORTALS_WORD), listed
    for other in (
        "about_true_count",
        "domain_true_count",
        "domain.true_count",
        "versions_of",
        "plan.twice_true",
    ):
        assert not _is_any(other, PORTALS_WORD), other


def test_every_entry_has_a_path():
    facts = {"a": {"b.c": [1, {"d": None}]}, "e": [], "f": {}}
    assert dict(leaves(facts)) == {"a.b.c.0": 1, "a.b.c.1.d": None, "e": [], "f": {}}


def test_floats_are_the_same_up_to_a_billionth_and_all_else_exactly():
    assert is_same(1.0 + 1e-12, 1.0) and not is_same(1.0 + 1e-6, 1.0)
    assert not is_same(1, 1.0) and not is_same(True, 1) and not is_same("1", 1)
    assert is_same({"a": [1]}, {"a": [1]}) and not is_same({"a": [1], "b": 2}, {"a": [1]})
