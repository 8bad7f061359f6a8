"""Someone at a page, whose every action is counted: a click, a tick, a choice, a typed text, a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import FilePayload, Locator, Page

from tests.browser.visiting import JOB_MS


@dataclass
class Actor:
    """What they did, in order. Looking at a page, and waiting for it, is no action."""

    page: Page
    did: list[str] = field(default_factory=list)

    def click(self, role: str, name: str) -> None:
        self._doing(f"click {name}", self.page.get_by_role(role, name=name).first).click(timeout=JOB_MS)

    def tick(self, label: str) -> None:
        self._doing(f"tick {label}", self.page.get_by_label(label, exact=True)).check()

    def agree(self, beginning: str) -> None:
        self._doing(f"tick {beginning} …", self.page.get_by_label(beginning)).check()

    def type(self, label: str, text: str) -> None:
        self._doing(f"type {label}", self.page.get_by_label(label)).fill(text)

    def pick(self, label: str, choice: str) -> None:
        self._doing(f"choose {choice}", self.page.get_by_label(label)).select_option(choice)

    def give(self, place: Locator, file: FilePayload | Path) -> None:
        self._doing("choose a file", place).set_input_files(file)

    def _doing(self, what: str, place: Locator) -> Locator:
        self.did.append(what)
        return place
