"""Numbers that a program sends: no truth is one, though Python takes `true` for 1."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError


def _not_boolean(value: object) -> object:
    """The value, unless it is true or false: refused by the framework's name for what is no whole number."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "Input should be a whole number")
    return value


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("float_type", "Input should be a number")
    return value


IS_INTEGER = BeforeValidator(_not_boolean)
JsonInteger = Annotated[int, IS_INTEGER]
Number = Annotated[float, BeforeValidator(_number)]
