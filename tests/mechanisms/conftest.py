"""Training in a few steps: what it must keep, it keeps after each."""

from __future__ import annotations

import pytest

from mechanisms.microdata.adversarial import method


@pytest.fixture(autouse=True)
def short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "STEPS", 3)
    if not method.Adversarial().missing:
        monkeypatch.setattr("mechanisms.microdata.adversarial.training.ALONE", 1)
        monkeypatch.setattr("mechanisms.microdata.adversarial.training.BATCH", 64)
