"""What a file of a release may say: a name that is not known is a mistake, as in the API."""

from __future__ import annotations

from typing import Annotated

from ninja import Field
from pydantic import ValidationError, field_validator

from dpportal.api.declaration_schemas import DeclarationInput
from dpportal.api.field_errors import field_error
from dpportal.api.planning_schemas import ChoicesInput, MethodInput
from dpportal.api.problems import place_of
from dpportal.api.schemas import Strict
from dpportal.platform.json_types import Json
from dpportal.platform.visible_text import hidden_sign


class TableInput(Strict):
    """The table: a dataset of the portal, by its id, or a file, and what it will be called."""

    dataset: str | None = None
    file: str | None = None
    name: Annotated[str, Field(max_length=120)] = ""

    @field_validator("name")
    @classmethod
    def _visible(cls, name: str) -> str:
        if hidden := hidden_sign(name):
            raise ValueError(hidden)
        return name


class FileMethodInput(MethodInput):
    """A method; its cost may be written as a number, too."""

    @field_validator("amount", mode="before")
    @classmethod
    def _as_text(cls, amount: object) -> object:
        is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
        return str(amount) if is_number else amount


class FileChoicesInput(ChoicesInput):
    """What to release."""

    method: FileMethodInput | None = None


class ReleaseFileInput(Strict):
    """The three parts of a file."""

    table: TableInput = TableInput()
    declaration: DeclarationInput = DeclarationInput()
    release: FileChoicesInput = FileChoicesInput()


def checked(document: Json) -> Json:
    """What was said, if it all has its name and type. Raises ValueError with a line for each mistake."""
    try:
        return ReleaseFileInput(**document).dict(exclude_unset=True)
    except ValidationError as wrong:
        lines = {f"{place_of(('file', *error['loc']))}: {field_error(error)}" for error in wrong.errors()}
        raise ValueError("\n".join(sorted(lines))) from None
