"""What a bundle says to programs of where its bounds are from, and in which unit its noise is."""

from __future__ import annotations

import pytest

from dpportal.datasets import fill_column
from dpportal.streams import bundle as stream_bundle, execution
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import published
from mechanisms.disclosure import AFTER, AFTER_TAKEN, BOUNDS, BOUNDS_TAKEN
from mechanisms.verify.bundle import Bundle
from tests.dpportal.publications.forging import faults, forged
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.test_verified import downloaded
from tests.dpportal.streams import building

pytestmark = pytest.mark.slow
DECLARED = {"bounds": BOUNDS, "bounds_taken_from_data": [], "after_the_noise": AFTER}


def test_bounds_that_were_taken_from_the_data_are_disclosed_and_a_denial_is_caught(rich, tmp_path):
    fill_column.fill(rich, "colour", rich.owner)
    path = downloaded(finished(rich, "histogram", ["colour"], "1", "hierarchical-histogram"), tmp_path)
    facts = Bundle.read(path).release
    taken = {
        "bounds": BOUNDS_TAKEN,
        "bounds_taken_from_data": ["colour"],
        "after_the_noise": AFTER_TAKEN,
    }
    assert {name: facts["disclosure"][name] for name in taken} == taken
    assert list(faults(path)) == []
    for denied in (DECLARED, {"bounds": BOUNDS}, {"bounds_taken_from_data": []}):
        other = {**facts, "disclosure": {**facts["disclosure"], **denied}}
        assert any("disclosure" in fault for fault in faults(forged(path, {}, other)))


def test_other_bounds_are_said_to_be_declared(rich, tmp_path):
    path = downloaded(finished(rich, "histogram", ["colour"], "1", "hierarchical-histogram"), tmp_path)
    disclosed = Bundle.read(path).release["disclosure"]
    assert {name: disclosed[name] for name in DECLARED} == DECLARED


def test_a_running_count_discloses_taken_bounds_and_the_unit_of_its_noise(dataset, tmp_path):
    dataset.current_domain().attributes.filter(column="colour").update(filled_from_data=True)
    stream = building.open_stream(dataset, column="colour", split=True, cells=[], mechanism="fda")
    execution.publish(stream.pk, [Update(1, tuple(range(len(stream.labels))), Period.Source.TYPED)])
    stream = Stream.objects.get(pk=stream.pk)
    series = published(stream)
    assert series is not None
    path = stream_bundle.write(stream, series, tmp_path)[0].path
    facts = Bundle.read(path).release
    disclosed = facts["disclosure"]
    assert (disclosed["bounds_taken_from_data"], disclosed["bounds"]) == (["colour"], BOUNDS_TAKEN)
    # 33554432 steps of which a person moves 16777216 are two people.
    assert disclosed["noise"]["sensitivity"] == facts["plan"]["sensitivity"]
    assert int(disclosed["noise"]["scale"]) / disclosed["noise"]["sensitivity"]["l1"] == 2
    assert list(faults(path)) == []
    for change in ({"bounds_taken_from_data": ["age"]}, {"noise": facts["plan"]["noise"]}):
        other = {**facts, "disclosure": {**disclosed, **change}}
        assert any("disclosure" in fault for fault in faults(forged(path, {}, other)))
