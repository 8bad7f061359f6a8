"""Someone at a page, whose every action is counted: a click, a tick, a choice, a typed text, a file.

What they read before each of them is counted, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import FilePayload, Locator, Page

from tests.browser.visiting import JOB_MS

WORDS_A_MINUTE, SECONDS_AN_ACTION = 230, 1.5
# The texts in sight: not those behind a line that was not opened, nor the choices of a list.
IN_SIGHT = """() => {
  const texts = [], unread = ["SCRIPT", "STYLE", "SELECT", "TEXTAREA", "svg"];
  const read = (node) => node.childNodes.forEach((part) => {
    if (part.nodeType === Node.TEXT_NODE) texts.push(part.textContent.trim());
    else if (part.nodeType === Node.ELEMENT_NODE && !unread.includes(part.tagName) && part.checkVisibility()
      && !part.classList.contains("visually-hidden")) read(part);
  });
  read(document.querySelector("main"));
  return texts;
}"""
WORD = re.compile(r"[^\W\d_]+")


@dataclass
class Actor:
    """What they did, in order, and read. Looking at a page, and waiting for it, is no action.

    A text is read once, wherever it stands again.
    """

    page: Page
    did: list[str] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)

    @property
    def words(self) -> int:
        return sum(len(WORD.findall(text)) for text in self.texts)

    @property
    def seconds(self) -> float:
        """Of a person's time, beside what they waited."""
        return self.words / WORDS_A_MINUTE * 60 + SECONDS_AN_ACTION * len(self.did)

    def read(self) -> None:
        """All that is in sight."""
        self.texts.update(self.page.evaluate(IN_SIGHT))

    def click(self, role: str, name: str) -> None:
        self._doing(f"click {name}", self.page.get_by_role(role, name=name).first).click(timeout=JOB_MS)

    def tick(self, label: str) -> None:
        self._doing(f"tick {label}", self.page.get_by_label(label, exact=True)).check()

    def type(self, label: str, text: str) -> None:
        self._doing(f"type {label}", self.page.get_by_label(label)).fill(text)

    def pick(self, label: str, choice: str) -> None:
        self._doing(f"choose {choice}", self.page.get_by_label(label)).select_option(choice)

    def give(self, place: Locator, file: FilePayload | Path) -> None:
        self._doing("choose a file", place).set_input_files(file)

    def _doing(self, what: str, place: Locator) -> Locator:
        place.wait_for(state="attached", timeout=JOB_MS)
        self.read()
        self.did.append(what)
        return place
