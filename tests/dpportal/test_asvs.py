"""Each requirement of the security standard's chapters that the document answers, and what several rows of it say."""

from __future__ import annotations

import ast
import math
import re
import secrets
from base64 import urlsafe_b64decode as b64decode
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import crypto

from dpportal.accounts import locking
from dpportal.accounts.factors import totp
from dpportal.accounts.program_tokens import ProgramToken
from dpportal.accounts.session_store import SessionStore
from dpportal.accounts.sign_ins import How
from dpportal.api import tokens
from dpportal.datasets import near_duplicates
from dpportal.platform import keys, sealed_files
from dpportal.platform.keyed import keyed
from dpportal.platform.signing import SigningKeys
from dpportal.streams import tokens as stream_tokens
from dpportal.tables.similarity import sketch

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "dpportal/asvs.md"
STATES = {"holds", "partly", "operator", "does not arise"}
# Of ASVS 5.0, the numbers of each level: those of level 3 are left out.
LEVEL_1 = (
    "6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.3.1 6.3.2 6.4.1 6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 "
    "11.3.1 11.3.2 11.4.1 14.2.1 14.3.1"
)
LEVEL_2 = (
    "6.1.2 6.1.3 6.2.9 6.2.10 6.2.11 6.2.12 6.3.3 6.3.4 6.4.3 6.4.4 6.5.1 6.5.2 6.5.3 6.5.4 6.5.5 6.6.1 6.6.2 6.6.3 "
    "6.8.1 6.8.2 6.8.3 6.8.4 7.1.1 7.1.2 7.1.3 7.3.1 7.3.2 7.4.3 7.4.4 7.4.5 7.5.1 7.5.2 7.6.1 7.6.2 11.1.1 11.1.2 "
    "11.2.1 11.2.2 11.2.3 11.3.3 11.4.2 11.4.3 11.4.4 11.5.1 11.6.1 14.1.1 14.1.2 14.2.2 14.2.3 14.2.4 14.3.2 14.3.3 "
    "16.1.1 16.2.1 16.2.2 16.2.3 16.2.4 16.2.5 16.3.1 16.3.2 16.3.3 16.3.4 16.4.1 16.4.2 16.4.3 16.5.1 16.5.2 16.5.3"
)
# The files that encrypt, sign or make keys: those that the table of keys is about.
# The search for near copies has a keyed permutation beside them.
PERMUTATION = "dpportal/tables/similarity/sketch.py"
CRYPTOGRAPHY = {
    "dpportal/platform/keys.py", "dpportal/platform/sealed_files.py", "dpportal/platform/signing.py",
    "mechanisms/verify/signature.py",
}  # fmt: skip


# The words of the document for each means of signing in.
IN_THE_TABLE = {
    How.PASSWORD: "name and password",
    How.CODE: "a code of an app",
    How.KEY: "a passkey or a recovery code where",
    How.RECOVERY: "a recovery code",
    How.PASSKEY: "a passkey alone",
    How.PROVIDER: "the institution's provider",
}


def rows() -> list[list[str]]:
    lines = re.findall(r"^\| (\d+\.\d+\.\d+ \|.*) \|$", DOCUMENT.read_text(), re.M)
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


@cache
def named_tests(path: str) -> set[str]:
    """The tests of a file as pytest names them: those of a class after it."""
    module = ast.parse((ROOT / "tests" / path).read_text())
    names = set()
    for node in module.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        begin = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        names |= {
            begin + each.name for each in inside if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        }
    return names


def sources() -> Iterator[tuple[str, str]]:
    """The portal's own code, by path."""
    for room in ("dpportal", "mechanisms"):
        for path in (ROOT / room).rglob("*.py"):
            yield str(path.relative_to(ROOT)), path.read_text()


def test_every_number_of_both_levels_is_answered_once():
    wanted = [(each, "1") for each in LEVEL_1.split()] + [(each, "2") for each in LEVEL_2.split()]
    assert sorted((row[0], row[1]) for row in rows()) == sorted(wanted)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_each_answer_says_what_holds_and_names_tests_that_are_there(row):
    _number, _level, state, text, *proofs = row
    tests = re.findall(r"`([^`]+)`", proofs[0]) if proofs else []
    assert state in STATES and text.endswith(".")
    assert tests or state == "does not arise"
    for name in tests:
        path, _, test = name.partition("::")
        assert test in named_tests(path), name


def test_every_use_of_cryptography_is_in_a_file_that_the_inventory_knows():
    found = {
        path
        for path, text in sources()
        if re.search(r"^\s*from cryptography\.hazmat\.primitives", text, re.M)
    }
    assert found == CRYPTOGRAPHY | {PERMUTATION}
    ciphers = {
        name
        for path in CRYPTOGRAPHY
        for name in re.findall(r"ciphers\.\w+ import (.+)", (ROOT / path).read_text())
    }
    assert ciphers == {"AESGCM"}


def test_keys_have_at_least_128_bits_of_security(monkeypatch, tmp_path):
    """AES-256 wherever something is sealed or sampled, with keys of 256 bits or, of the portal's secrets, 384."""
    sizes = []
    for module, name in ((keys, "AESGCM"), (sealed_files, "AESGCM"), (sketch.algorithms, "AES")):
        monkeypatch.setattr(module, name, _measured(getattr(module, name), sizes))
    keys.Keyring(keys.new_secret()).seal(b"true counts", bound_to="test")
    with sealed_files.SealedPath(tmp_path / "file", sealed_files.new_key(), "file").open("wb") as file:
        file.write(b"records")
    sketch.Sketcher(near_duplicates.sketch_key(), 1)
    assert sizes == [256, 256, 256]
    assert len(b64decode(keys.new_secret())) == 48 and len(b64decode(keys.new_token() + "=")) == 32
    assert len(sealed_files.new_key()) == 32
    [public] = SigningKeys(keys.new_secret()).public
    assert len(bytes.fromhex(public)) == 32  # Ed25519 has one size, of 128 bits
    assert keyed(b"").digest_size == 32


def _measured(cipher: Callable[[bytes], object], sizes: list[int]) -> Callable[[bytes], object]:
    def made(key: bytes) -> object:
        sizes.append(8 * len(key))
        return cipher(key)

    return made


def test_weak_digests_are_said_to_protect_nothing():
    calls = [
        line for _path, text in sources() for line in text.splitlines() if re.search(r"\b(md5|sha1)\(", line)
    ]
    assert calls and all("usedforsecurity=False" in line for line in calls)


def test_nothing_that_is_not_to_be_guessed_comes_from_a_simple_generator():
    """Nothing in the portal imports one; simulations of mechanisms, which are not secret, have NumPy's."""
    for path, text in sources():
        if path.startswith("dpportal"):
            imported = [
                alias.name
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Import)
                for alias in node.names
            ]
            assert "random" not in imported, path


@pytest.mark.django_db
def test_a_sessions_key_has_165_bits_from_the_systems_generator(monkeypatch):
    taken = []

    def choice(signs: str) -> str:
        taken.append(len(set(signs)))
        return signs[-1]

    own = SessionStore()._get_new_session_key()
    assert len(own) == 32 and own != SessionStore()._get_new_session_key()
    assert crypto.secrets is secrets  # whose numbers are the system's
    monkeypatch.setattr(secrets, "choice", choice)
    SessionStore()._get_new_session_key()
    assert taken == [36] * 32 and int(32 * math.log2(36)) == 165


def test_every_way_to_sign_in_is_in_the_table_of_ways():
    """One function begins sessions, by means that it names; what else opens anything is a token or a link."""
    begin = {path for path, text in sources() if re.search(r"(?<!def )(?<!_)\blogin\(", text)}
    assert begin == {"dpportal/accounts/sign_ins.py"}
    callers = {path for path, text in sources() if "sign_ins.begin(" in text}
    assert callers == {"dpportal/accounts/factors/door.py", "dpportal/accounts/provider/views.py"}
    backends = ["axes.backends.AxesStandaloneBackend", "dpportal.accounts.backend.WrittenPeople"]
    assert backends == settings.AUTHENTICATION_BACKENDS  # the first counts tries, the second takes a password
    assert {each.__name__ for each in ProgramToken.__subclasses__()} == {"ApiToken", "Token"}
    table = DOCUMENT.read_text().partition("### Ways to sign in")[2].partition("###")[0]
    for words in (*IN_THE_TABLE.values(), "a link to choose a password", "a program's token"):
        assert words in table, words
    assert set(IN_THE_TABLE) == set(How)
    assert sum(line.startswith("| ") for line in table.splitlines()) == 2 + 5


def test_scripts_store_nothing_in_the_browser():
    stores = re.compile(r"localStorage|sessionStorage|indexedDB|document\.cookie\s*=")
    scripts = [path for path in (ROOT / "static/js").rglob("*.js") if stores.search(path.read_text())]
    assert scripts == [] and list((ROOT / "static/js").rglob("*.js"))


def test_there_are_the_five_cookies_that_the_document_names():
    named = {name for name in dir(settings) if name.endswith("_COOKIE_NAME")}
    assert named == {
        f"{kind}_COOKIE_NAME" for kind in ("SESSION", "CSRF", "KNOWN_BROWSER", "LANGUAGE", "MESSAGE")
    }
    setting = {path for path, text in sources() if "set_cookie(" in text or "set_signed_cookie(" in text}
    assert setting == {"dpportal/accounts/known_browsers.py", "dpportal/accounts/languages.py"}


def test_limits_are_those_that_the_document_states():
    text = " ".join(DOCUMENT.read_text().split())
    said = (
        f"{settings.AXES_FAILURE_LIMIT} wrong tries of a name from one address, {locking.NAME_LIMIT} of a name from "
        f"everywhere, {locking.ADDRESS_LIMIT} from one address for all names",
        f"each in {settings.AXES_COOLOFF_TIME.seconds // 60} minutes; {totp.MOST_WRONG} wrong codes in a row",
        f"{stream_tokens.REQUESTS_PER_MINUTE} requests a minute for a stream, {tokens.REQUESTS_PER_MINUTE} for the API",
    )
    assert [each for each in said if each not in text] == []
