"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


def printable(text: str) -> str:
    """A text of one line, of signs that are shown and written everywhere."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


class State(StrEnum):
    """How a check ended."""

    HOLDS = "holds"
    FAILED = "FAILED"
    # What could not be looked at, and why; it proves nothing.
    NOT_CHECKED = "not checked"
    # What is the portal's word, and no bundle can show; that it was signed is checked apart.
    STATED = "stated"


@dataclass(frozen=True)
class Finding:
    """One line of the report. what: was checked; details: what holds, or the first thing that does not.

    Anybody may have made a bundle, whose names details quote: each sign of them that is not shown as one, such as the
    end of a line, half of a character or one that turns the direction of writing, is a question mark here.
    """

    what: str
    state: State
    details: str

    def __post_init__(self) -> None:
        for name in ("what", "details"):
            object.__setattr__(self, name, printable(getattr(self, name)))

    def __str__(self) -> str:
        return f"{self.state.value:>11}  {self.what}: {self.details}"

    @classmethod
    def of(cls, what: str, fault: str, holds: str) -> Finding:
        """A check that failed if there is a fault."""
        return cls(what, State.FAILED, fault) if fault else cls(what, State.HOLDS, holds)

    @classmethod
    def by_version(cls, what: str, fault: str, *, is_sure: bool) -> Finding:
        """A difference that is a fault only if this version wrote the bundle: else nobody can tell.

        is_sure: whether it says to be of this version, or the difference is a fault in any. Which version wrote it
        is its own word alone, so no difference is passed over.
        """
        if is_sure:
            return cls(what, State.FAILED, fault)
        return cls(what, State.NOT_CHECKED, f"another version made it, as it says; {fault}")
