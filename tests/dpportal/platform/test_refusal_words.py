"""Refusals of mechanisms are looked up in the visitor's language before their values are filled in."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings
from django.utils import translation
from django.utils.translation import trans_real

from mechanisms.protocol import PlanError

TEMPLATE = "{title} needs at least {number} cells."
GERMAN = "{title}: mindestens {number} Zellen."


def catalogue(folder: Path, said: dict[str, str]) -> None:
    """A compiled catalogue, as gettext's programs write it."""
    texts = {"": "Content-Type: text/plain; charset=UTF-8\n", **said}
    pairs = [(a.encode(), b.encode()) for a, b in sorted(texts.items())]
    place = 28 + 16 * len(pairs)
    tables, body = [b"", b""], b""
    for side in (0, 1):
        for pair in pairs:
            tables[side] += struct.pack("<II", len(pair[side]), place + len(body))
            body += pair[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    path = folder / "de" / "LC_MESSAGES"
    path.mkdir(parents=True)
    (path / "django.mo").write_bytes(head + tables[0] + tables[1] + body)


@pytest.fixture
def german(tmp_path: Path) -> Iterator[None]:
    catalogue(tmp_path, {TEMPLATE: GERMAN})
    trans_real._translations.clear()
    with override_settings(LOCALE_PATHS=[tmp_path]), translation.override("de"):
        yield
    trans_real._translations.clear()


def test_a_refusal_is_said_in_the_language_of_whoever_reads_it(german: None) -> None:
    with translation.override("en"):
        refusal = PlanError(TEMPLATE, title="Privelet", number=4)
        assert str(refusal) == "Privelet needs at least 4 cells."
    assert str(refusal) == "Privelet: mindestens 4 Zellen."
    assert refusal.wording.template == TEMPLATE


def test_a_sentence_that_no_catalogue_has_stays_as_it_is(german: None) -> None:
    assert str(PlanError("Choose {number} columns.", number=2)) == "Choose 2 columns."
