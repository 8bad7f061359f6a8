"""The words of a column's name, in the languages of many tables."""

from __future__ import annotations

import re


def words_of(name: str) -> list[str]:
    """In small letters: PersonNo, person_no and “person no” are of the same two.

    Of names in several lines the last says what the column holds, those above only what it belongs to.
    """
    plain = re.sub("[nN][°º]|№", "numéro ", name.rpartition(": ")[2])
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", plain)
    return [part.lower() for part in parts]
