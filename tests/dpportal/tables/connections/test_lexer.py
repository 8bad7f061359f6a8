"""Comments and constants of a statement of PostgreSQL, by examples of its manual's chapter on lexical structure."""

from __future__ import annotations

import pytest

from dpportal.tables.engines.postgres.lexer import without_constants

EXAMPLES = {
    "SELECT 'it''s', a FROM b": "SELECT '', a FROM b",
    "'--' a": "'' a",
    '"--" a': '"--" a',
    "\"it's\" = 'x' AND c": "\"it's\" = '' AND c",
    "E'\\'' a 'b'": "'' a ''",
    "'\\' a 'b'": "'' a ''",
    "E'a'\n'b\\'c' d": "'' d",
    "E'a' -- it's\n -- b\n'c\\' /* ' d '*/'": "'' d ''",
    "size'\\' a": "size'' a",
    "e\u0301e'\\' a": "e\u0301e'' a",
    "$$it's$$ a": "'' a",
    "$q$ $$ ' $q$ a": "'' a",
    "$\u20ac$ ' $\u20ac$ a": "'' a",
    "a = $1 AND b = $2": "a = $1 AND b = $2",
    "a$b$c": "a$b$c",
    "a /* b /* c */ ' */ d": "a   d",
    "a -- '\nb": "a  \nb",
    "a /* never": "a  ",
    "a '/*' b '*/' c": "a '' b '' c",
    'U&"d\\0061t\\+000061"': '"data"',
    'U&"\\D83D\\DE00"': '"\U0001f600"',
    'U&"a\\0022b"': '"a""b"',
    'U&"a\\+999999\\D800\\0000"': '"a\ufffd\ufffd\ufffd"',
    "U&\"d!0061t!!a\" UESCAPE '!'": '"dat!a"',
}


@pytest.mark.parametrize("said", EXAMPLES)
def test_what_is_no_comment_and_no_constant_stays(said):
    assert without_constants(said) == EXAMPLES[said]
