"""A measurement that no table could have is told, in a bundle of every product."""

from __future__ import annotations

import numpy as np
import pytest
from django.conf import settings

from dpportal.datasets import services as dataset_services
from mechanisms.histogram.noisy import LaplaceHistogram
from mechanisms.protocol import Measurement
from mechanisms.verify import extremes, planned
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.test_verified import MADE, downloaded

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("make", [each for name, each in MADE.items() if name != "a choice"])
def test_numbers_that_no_table_could_have_are_told(rich, tmp_path, make):
    read = Bundle.read(downloaded(make(rich), tmp_path))
    found, own = planned.read(read), read.measurement
    assert [finding.state for finding in extremes.check(read, found)] == [State.HOLDS]
    values = own.copy()
    # Of several steps the first numbers say how many parts there are, and how large each is.
    values.flat[1 + int(own.flat[0]) if found.stated.mechanism == "tree-of-pairs" else -1] = -(2**50)
    read.__dict__["measurement"] = values
    assert [finding.state for finding in extremes.check(read, found)] == [State.FAILED]


def test_a_count_far_below_0_fails_whoever_measured_it(rich, tmp_path, monkeypatch):
    """So far as no noise of ε = 9 goes; all that follows from it, and the signature, are right."""
    own = LaplaceHistogram.measure

    def absurd(self, *given):
        values = own(self, *given).values
        values[0] = -40_000
        return Measurement(values)

    monkeypatch.setattr(LaplaceHistogram, "measure", absurd)
    release = finished(rich, "histogram", ["colour", "age"], "9", "laplace-histogram")
    found = list(verify(Bundle.read(downloaded(release, tmp_path)), *settings.SIGNING_KEYS.public))
    assert [finding.what for finding in found if finding.state is State.FAILED] == ["tails"]


@pytest.mark.parametrize("mechanism", ["randomised-response", "unary-encoding"])
def test_answers_that_chance_does_not_give_are_told(rich, tmp_path, mechanism):
    """Where nobody reports any value but the first, at an ε of 0.1, which makes others common."""
    dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    read = Bundle.read(downloaded(finished(rich, "response", ["colour"], "0.1", mechanism), tmp_path))
    found = planned.read(read)
    assert [finding.state for finding in extremes.check(read, found)] == [State.HOLDS]
    read.__dict__["measurement"] = np.zeros_like(read.measurement)
    assert [finding.state for finding in extremes.check(read, found)] == [State.FAILED]


def test_a_public_number_of_rows_bounds_counts_from_above(rich, tmp_path):
    dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    release = finished(rich, "histogram", ["colour", "age"], "9", "laplace-histogram")
    read = Bundle.read(downloaded(release, tmp_path))
    found, values = planned.read(read), read.measurement.copy()
    values[0] = int(found.stated.parameters["total"]) + 40
    read.__dict__["measurement"] = values
    [finding] = extremes.check(read, found)
    assert finding.state is State.FAILED
