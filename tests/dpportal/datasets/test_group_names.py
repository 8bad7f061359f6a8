"""Of a name that was joined of several header lines the group's word suggests no kind of column."""

from __future__ import annotations

from dataclasses import replace

from dpportal.datasets.proposals import is_contradicted, proposed, proposed_kind


def test_of_a_joined_name_the_last_part_suggests_and_the_group_does_not():
    suggested = {
        "Stay: admitted": "",
        "Stay: emergency": "",
        "Patient: sex": "categorical",
        "Stay: days": "integer",
    }
    assert {name: proposed_kind(name) for name in suggested} == suggested
    assert proposed("Patient: age") == replace(proposed("age"), name="Patient: age")
    assert proposed("Age: group of the patient") is None
    # A kind without bounds gives way to first rows that are plainly of another, too.
    assert is_contradicted("stay", {"kind": "date"}) and is_contradicted("visits", {"kind": "boolean"})
    assert not is_contradicted("visits", {"kind": "integer"})
