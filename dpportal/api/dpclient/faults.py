"""What the portal refuses, and what does not come in time."""

from __future__ import annotations

from collections.abc import Mapping


class PortalError(Exception):
    """A request that the portal did not do; the message says why, of what that was sent, and what to do.

    status: of the answer, 0 where there was none in time. errors: sentences by the name of what was sent. page: the
    address of the page on which a person can do what a program may not; empty without one.
    """

    def __init__(
        self, status: int, detail: str, errors: Mapping[str, list[str]] | None = None, page: str = ""
    ) -> None:
        self.errors = dict(errors or {})
        messages = {f"{name}: {text}": text for name, texts in self.errors.items() for text in texts}
        super().__init__("\n".join(messages if detail in messages.values() else [detail, *messages]))
        self.status = status
        self.page = page
