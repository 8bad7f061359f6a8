"""What is answered to a request that the web server or the door does not read, so that it never comes to Django.

A program is told as RFC 9457 says; a person gets a page in every language, since nothing of the request says which.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext as _, override

from dpportal.platform.problem_details import MEDIA_TYPE, problem_facts
from dpportal.serving.programs import PROGRAMS

_FIRST_LINE = re.compile(rb"[A-Z]{3,10} (/[!-~]{0,200})")


class Answer(NamedTuple):
    """media_type: with its encoding."""

    media_type: str
    body: bytes


def path_of(data: bytes) -> str | None:
    """The beginning of the path in what begins as the head of a request does; None for anything else."""
    begun = _FIRST_LINE.match(data[:256])
    return begun[1].decode("ascii") if begun else None


def answer(status: int, path: str) -> Answer:
    """Why the request was not read, and what to do; never a word of the request itself."""
    return _problem(status) if path.startswith(PROGRAMS) else _page(status)


def _texts(status: int) -> tuple[str, str]:
    """A heading, and what to do."""
    if status == HTTPStatus.REQUEST_URI_TOO_LONG:
        return _("That address is too long"), _(
            "Shorten it, or choose fewer values at a time. Nothing was changed."
        )
    if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return _("That request’s headers are too large"), _(
            "Delete the cookies of this site in your browser, or send fewer headers. Nothing was changed."
        )
    return _("That request could not be read"), _("It is not what HTTP asks for. Send it again as HTTP says.")


@lru_cache(maxsize=16)
def _problem(status: int) -> Answer:
    with override(settings.LANGUAGE_CODE):
        heading, remedy = _texts(status)
    facts = problem_facts(status, f"{heading}. {remedy}")
    return Answer(MEDIA_TYPE, json.dumps(facts).encode())


@lru_cache(maxsize=16)
def _page(status: int) -> Answer:
    return _in_every_language(lambda: _texts(status))


def page(remedy: Callable[[], str]) -> Answer:
    """For a person, why a request was not read to its end. remedy: in the active language."""
    return _in_every_language(lambda: (_("That request could not be read"), remedy()))


def _in_every_language(texts: Callable[[], tuple[str, str]]) -> Answer:
    sentences = []
    for code, _name in settings.LANGUAGES:
        with override(code):
            sentences.append((code, *texts(), _("Go to the start")))
    html = render_to_string("early_refusal.html", {"said": sentences, "language": settings.LANGUAGE_CODE})
    return Answer("text/html; charset=utf-8", html.encode())
