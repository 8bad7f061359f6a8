"""A receipt of erasure holds as the bytes that a portal gave out, and as no others with the same facts."""

from __future__ import annotations

import json

import pytest

from dpportal.platform.signing import SigningKeys
from mechanisms.verify.__main__ import FAILED, NOT_ALL_CHECKED, main
from mechanisms.verify.finding import State
from mechanisms.verify.receipt import ENTRIES, ERASED, as_file, check, signed_text

KEYS = SigningKeys("a secret")
FACTS = {name: f"the {name}" for name in ENTRIES} | {
    "what": ERASED,
    "name": "Größe 收入",
    "key": {"destroyed": True, "sha256_when_wrapped": "00"},
    "files": [{"name": "a", "sha256_of_first_48_bytes": "11"}],
}


def receipt(**more: object) -> bytes:
    facts = {**FACTS, **more}
    return as_file(facts, KEYS.sign(signed_text(facts)))


def reordered(content: bytes) -> bytes:
    document = json.loads(content)
    document["receipt"] = dict(reversed(document["receipt"].items()))
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def inside_reordered(content: bytes) -> bytes:
    document = json.loads(content)
    document["receipt"]["key"] = dict(reversed(document["receipt"]["key"].items()))
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def test_a_receipt_holds_as_it_was_given_out_with_what_a_later_version_adds():
    assert check(receipt(), KEYS.public[0]).state is State.HOLDS
    assert check(receipt(witness="nobody", alarm=None), KEYS.public[0]).state is State.HOLDS


@pytest.mark.parametrize(
    "written",
    [
        reordered,
        inside_reordered,
        lambda content: json.dumps(json.loads(content)).encode(),
        lambda content: json.dumps(json.loads(content), indent=2).encode() + b"\n",
        lambda content: content.rstrip(b"\n"),
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.replace(b": ", b":  ", 1),
    ],
)
def test_the_same_facts_in_other_bytes_are_no_receipt(written):
    assert check(written(receipt()), KEYS.public[0]).state is State.FAILED


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b'"receipt"', b'{"receipt": 1, "key": "", "signature": ""}', b"\xff"]
)
def test_what_is_no_receipt_is_refused_in_words(content):
    assert check(content).state is State.FAILED


@pytest.mark.parametrize(
    "signed", [{"release.json": "00"}, {"position": 7, "digest": "00"}, {**FACTS, "what": "a bundle"}]
)
def test_another_thing_that_the_portal_signed_is_no_receipt(signed):
    content = as_file(signed, KEYS.sign(signed_text(signed)))
    assert check(content, KEYS.public[0]).state is State.FAILED


def test_an_earlier_version_s_receipt_that_does_not_say_what_stays_holds():
    earlier = {name: value for name, value in FACTS.items() if name != "stays"}
    assert check(as_file(earlier, KEYS.sign(signed_text(earlier))), KEYS.public[0]).state is State.HOLDS


def test_a_receipt_that_anybody_may_have_signed_does_not_hold_without_the_portals_key(tmp_path, capsys):
    path = tmp_path / "receipt.json"
    path.write_bytes(receipt(by="evil"))
    assert main([str(path)]) == NOT_ALL_CHECKED
    said = capsys.readouterr().out
    assert f"not checked  receipt: by the key {KEYS.public[0]}" in said and "0 hold" in said
    assert "Give the portal's key by --key" in said
    assert main([str(path), "--key", SigningKeys("another").public[0]]) == FAILED
    assert main([str(path), "--key", KEYS.public[0]]) == 0
