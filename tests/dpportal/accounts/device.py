"""A device with passkeys, in software: it makes a key for a portal's name and signs challenges (WebAuthn level 2)."""

from __future__ import annotations

import hashlib
import json
import os
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

USER_PRESENT, USER_VERIFIED, HAS_KEY = 1, 4, 64


def text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


@dataclass
class Device:
    """verifies: whether it asks its user for a PIN or a finger. count: how often it signed."""

    origin: str = "http://localhost"
    verifies: bool = True
    count: int = 0
    credential: bytes = field(default_factory=lambda: os.urandom(32))

    def __post_init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())

    def makes(self, options: dict) -> str:
        """The answer to the options of a new passkey."""
        numbers = self.key.public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        described = (
            bytes(16) + len(self.credential).to_bytes(2, "big") + self.credential + cbor2.dumps(public)
        )
        data = self._data(options["rp"]["id"], HAS_KEY) + described
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", options["challenge"])
        return self._answer({"clientDataJSON": text(client), "attestationObject": text(attestation)})

    def signs(self, options: dict) -> str:
        """The answer to the options of a sign-in."""
        self.count += 1
        data = self._data(options["rpId"])
        client = self._client("webauthn.get", options["challenge"])
        signed = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        parts = {"clientDataJSON": client, "authenticatorData": data, "signature": signed}
        return self._answer({name: text(part) for name, part in parts.items()})

    def _data(self, name: str, flags: int = 0) -> bytes:
        flags |= USER_PRESENT | (USER_VERIFIED if self.verifies else 0)
        return hashlib.sha256(name.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _answer(self, response: dict) -> str:
        named = text(self.credential)
        return json.dumps({"id": named, "rawId": named, "type": "public-key", "response": response})
