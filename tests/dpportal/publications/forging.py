"""Bundles that somebody who has the portal's own key has altered: every digest and the signature are made anew."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings

from mechanisms.verify.bundle import Bundle, BundleError
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from mechanisms.verify.json_values import leaves
from mechanisms.verify.signature import signed_text

RELEASE, SIGNATURE, PACKAGE, CROISSANT = (
    "release.json",
    "signature.json",
    "datapackage.json",
    "croissant.json",
)
Facts = dict[str, Any]


def forged(path: Path, files: Mapping[str, bytes], facts: Facts | None = None) -> Path:
    """The bundle with other files, or another release.json, and all that names their digests."""
    bundle = Bundle.read(path)
    contents = {name: bundle.content(name) for name in bundle.entries} | dict(files)
    about = facts or json.loads(bundle.content(RELEASE))
    for document in (PACKAGE, CROISSANT):
        if document in bundle.entries and document not in files:
            contents[document] = _with_digests(json.loads(contents[document]), contents)
    if facts is None:
        listed = {name: content for name, content in contents.items() if name not in (RELEASE, SIGNATURE)}
        about["files"] = {name: _digest(content) for name, content in listed.items()}
    contents[RELEASE] = as_written(about)
    signed = settings.SIGNING_KEYS.sign(signed_text(sha256(contents[RELEASE]).hexdigest()))
    contents[SIGNATURE] = as_written(signed)
    copy = path.with_name("forged.zip")
    return zipped(copy, {f"folder/{name}": content for name, content in contents.items()})


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    """As a portal zips files, so that what is found in them is found for their own sake."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return path


def digest_of(content: bytes) -> str:
    """In hexadecimal digits, as a bundle writes it."""
    return sha256(content).hexdigest()


def _digest(content: bytes) -> Facts:
    return {"bytes": len(content), "sha256": digest_of(content)}


def _with_digests(document: Facts, contents: Mapping[str, bytes]) -> bytes:
    for resource in document.get("resources", []):
        own = _digest(contents[resource["path"]])
        resource |= {"bytes": own["bytes"], "hash": f"sha256:{own['sha256']}"}
    for file in document.get("distribution", []):
        own = _digest(contents[file["name"]])
        file |= {"contentSize": f"{own['bytes']} B", "sha256": own["sha256"]}
    return as_written(document)


def as_written(value: Facts) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def faults(path: Path, known: frozenset[str] = frozenset()) -> Iterator[str]:
    """What is not as it should be, one thing after the other; of `known` nothing. Signed by the portal's own key."""
    try:
        for finding in verify(Bundle.read(path), *settings.SIGNING_KEYS.public):
            if finding.state in (State.FAILED, State.NOT_CHECKED) and str(finding) not in known:
                yield str(finding)
    except BundleError as fault:
        yield str(fault)
    except Exception as fault:  # which the program answers with “no portal writes it so”
        yield type(fault).__name__


def is_caught(path: Path, known: frozenset[str]) -> bool:
    return next(faults(path, known), "") != ""


def one_of_each(facts: Facts) -> Iterator[str]:
    """A path of every kind of entry: of a list the last one."""
    kinds = {}
    for path, _value in leaves(facts):
        kinds[".".join("*" if part.isdigit() else part for part in path.split("."))] = path
    yield from kinds.values()


def altered(facts: Facts, path: str) -> Facts:
    """The same with another entry at that path."""
    copy = json.loads(json.dumps(facts))
    *steps, last = _steps(copy, path)
    place: Any = copy
    for step in steps:
        place = place[step]
    place[last] = _another(place[last])
    return copy


def _steps(facts: Any, path: str) -> list[Any]:
    """Names may have dots themselves, as those of files."""
    if not path:
        return []
    if isinstance(facts, list):
        number, _dot, rest = path.partition(".")
        return [int(number), *_steps(facts[int(number)], rest)]
    name = max((n for n in facts if path == n or path.startswith(f"{n}.")), key=len)
    return [name, *_steps(facts[name], path[len(name) + 1 :])]


def _another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return "1/7" if value.replace("/", "").isdigit() else f"{value}, and 71234.5 more"
    return ["further"] if isinstance(value, list) else {"further": 1} if isinstance(value, dict) else 1
