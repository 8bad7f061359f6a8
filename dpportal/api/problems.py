"""What goes wrong, as programs are told of it: problem details of RFC 9457, with the sentences that pages show."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _, gettext_noop, override
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from dpportal.accounts.languages import named_language
from dpportal.accounts.program_tokens import TooManyRequestsError
from dpportal.api.field_errors import detail_of, field_error
from dpportal.api.spending import LimitError
from dpportal.budgets.asking import AskRefusedError
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.datasets.codebooks import CodebookError
from dpportal.datasets.faults import DatasetError
from dpportal.notices.outbound import HostRefusedError
from dpportal.notices.services import WebhookError
from dpportal.platform.json_types import Json
from dpportal.platform.middleware import Middleware
from dpportal.platform.problem_details import MEDIA_TYPE, problem_facts
from dpportal.platform.stored_texts import translated
from dpportal.platform.unavailable import UnavailableResponse
from dpportal.publications.idempotency_keys import KeyRefusedError
from dpportal.releases.comparing import NotComparedError
from dpportal.releases.products import AwaitedError, DraftError
from dpportal.releases.services import ReleaseError
from dpportal.releases.wizard.choosing import DraftChoiceError
from dpportal.serving.programs import PROGRAMS
from dpportal.streams.comparison import NothingToCompareError
from dpportal.streams.execution import PeriodRefusedError
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.services import StreamError
from dpportal.streams.vault import VaultError
from mechanisms.domain import DomainError
from mechanisms.protocol import PlanError

# After so many seconds a plan that is being searched for is asked for again.
SEARCH_SECONDS = 2
_TYPE = re.compile(r"str|int|float|bool")
_HELD_TYPE = re.compile(r"(list|dict|function-before)\[.*\]")
# Of statuses, as `HTTPStatus` has them: for the catalogue of translations.
TITLES = (
    gettext_noop("Bad Request"),
    gettext_noop("Unauthorized"),
    gettext_noop("Forbidden"),
    gettext_noop("Not Found"),
    gettext_noop("Method Not Allowed"),
    gettext_noop("Conflict"),
    gettext_noop("Gone"),
    gettext_noop("Precondition Failed"),
    gettext_noop("Request Entity Too Large"),
    gettext_noop("Unsupported Media Type"),
    gettext_noop("Unprocessable Entity"),
    gettext_noop("Too Many Requests"),
    gettext_noop("Internal Server Error"),
    gettext_noop("Service Unavailable"),
)
FieldErrors = Mapping[str, list[str]]
# What services refuse: nothing is wrong with how it was asked, but it cannot be done now.
REFUSALS = (
    AskRefusedError,
    BudgetRefusedError,
    DatasetError,
    DraftError,
    HostRefusedError,
    NotComparedError,
    NothingToCompareError,
    PeriodRefusedError,
    PlanError,
    ReleaseError,
    StreamDraftError,
    StreamError,
    WebhookError,
)


class RefusedError(Exception):
    """A request that is answered with a status and a sentence.

    errors: sentences by the name of what was sent. page: the path of the page on which a person can do it. wait: after
    how many seconds the same request is answered otherwise; None: it is not. headers: of a protocol that asks for them.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        errors: FieldErrors | None = None,
        *,
        page: str = "",
        wait: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.headers = headers
        self.status = status
        self.errors = errors
        self.page = page
        self.wait = wait


def problem(
    status: int,
    detail: str,
    errors: FieldErrors | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    page: str = "",
    wait: int | None = None,
) -> HttpResponse:
    """An answer that says what is wrong and what to do.

    page: the address of the page on which a person does it. wait: after how many seconds to ask again; None: not.
    """
    facts = problem_facts(status, detail)
    if errors:
        facts["errors"] = {name: list(texts) for name, texts in errors.items()}
    if page:
        facts["page"] = page
    retry = {} if wait is None else {"Retry-After": str(wait)}
    return JsonResponse(facts, status=status, content_type=MEDIA_TYPE, headers={**(headers or {}), **retry})


def add_handlers(api: NinjaAPI) -> None:
    """Have every fault of a request answered so."""
    statuses: dict[type[Exception], int] = {
        **dict.fromkeys(REFUSALS, 409),
        DomainError: 422,
        KeyRefusedError: 400,
        LimitError: 403,
        VaultError: 503,
    }
    own: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
        AwaitedError: lambda _request, _fault: awaited(),
        RefusedError: _refused,
        DraftChoiceError: _choice,
        CodebookError: _codebook,
        TooManyRequestsError: _too_many,
        AuthenticationError: _stranger,
        ValidationError: _invalid,
        HttpError: _http,
        Http404: lambda _request, _fault: problem(404, nothing_here()),
    }
    for refused, status in statuses.items():
        api.add_exception_handler(refused, partial(_plain_problem, status))
    for fault, answer in own.items():
        api.add_exception_handler(fault, answer)


def _plain_problem(status: int, _request: HttpRequest, fault: Any) -> HttpResponse:
    return problem(status, str(fault))


def nothing_here() -> str:
    """What is said of what is not there, or is not for this person: the two look alike."""
    return _("There is nothing at this address, or nothing that this token opens.")


def _refused(request: HttpRequest, fault: RefusedError) -> HttpResponse:
    page = request.build_absolute_uri(fault.page) if fault.page else ""
    return problem(fault.status, str(fault), fault.errors, fault.headers, page=page, wait=fault.wait)


def _choice(_request: HttpRequest, fault: DraftChoiceError) -> HttpResponse:
    if fault.is_awaited:
        return awaited()
    return problem(422, str(fault), fault.placed)


def _codebook(_request: HttpRequest, fault: CodebookError) -> HttpResponse:
    return problem(422, str(fault), {".".join(("columns", *fault.place)): [str(fault)]})


def _too_many(_request: HttpRequest, fault: TooManyRequestsError) -> HttpResponse:
    return problem(429, str(fault), wait=fault.wait)


def _stranger(_request: HttpRequest, _fault: AuthenticationError) -> HttpResponse:
    text = _(
        "Send a token in the header “Authorization: Bearer …”. You make one on the page “Tokens” of your account. "
        "One that has expired or was revoked opens nothing."
    )
    return problem(401, text, headers={"WWW-Authenticate": "Bearer"})


def _invalid(_request: HttpRequest, fault: ValidationError) -> HttpResponse:
    errors: dict[str, list[str]] = {}
    for error in fault.errors:
        errors.setdefault(place_of(error["loc"]), []).append(field_error(error))
    return problem(422, _("Some of what was sent does not fit the description of the API."), errors)


def place_of(parts: Sequence[object]) -> str:
    """The name of what was sent, as whoever sent it wrote it: “unit.max_rows”.

    The framework's has what holds it before, the body with our name for it, and of a field that takes several types
    each of these: after it, or before the place in a list.
    """
    own = [str(part) for part in parts[2 if tuple(parts[:2]) == ("body", "payload") else 1 :]]
    steps = [part for part in own if not _HELD_TYPE.fullmatch(part)]
    while len(steps) > 1 and _TYPE.fullmatch(steps[-1]):
        steps.pop()
    return ".".join(steps) or "body"


def _http(request: HttpRequest, fault: HttpError) -> HttpResponse:
    """The framework's own; what the reader of bodies refused is the cause of it."""
    if isinstance(fault.__cause__, RefusedError):
        return _refused(request, fault.__cause__)
    text = _("The body is not JSON.") if fault.status_code == HTTPStatus.BAD_REQUEST else str(fault)
    return problem(fault.status_code, text)


def awaited() -> HttpResponse:
    """Of a plan that a worker searches for: the same request is answered in some seconds."""
    text = _("The plan is being worked out. Send the same request again in some seconds.")
    return problem(409, text, wait=SEARCH_SECONDS)


class ProblemDetails(Middleware):
    """Has programs told in the same form of what goes wrong before or after a view of theirs, in their language."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code < HTTPStatus.BAD_REQUEST or not request.path.startswith(PROGRAMS):
            return response
        if not response.headers.get("Content-Type", "").startswith((MEDIA_TYPE, "application/json")):
            _replace(response, problem(response.status_code, _detail(response)).content)
        language = named_language(request)
        if language != settings.LANGUAGE_CODE and response.headers["Content-Type"] == MEDIA_TYPE:
            with override(language):
                _replace(response, json.dumps(_in_active_language(json.loads(response.content))).encode())
            response.headers["Content-Language"] = language
        return response


def _detail(response: HttpResponse) -> str:
    if response.status_code == HTTPStatus.NOT_FOUND:
        return nothing_here()
    if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        methods = ", ".join(sorted(response.headers["Allow"].split(", ")))
        return _("This address takes only %(methods)s.") % {"methods": methods}
    if isinstance(response, UnavailableResponse):
        return response.reason
    if response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
        return _(
            "Nothing was spent or published by this request. Try again, and tell an administrator when it was."
        )
    return _(HTTPStatus(response.status_code).phrase)


def _replace(response: HttpResponse, content: bytes) -> None:
    response.content, response.headers["Content-Type"] = content, MEDIA_TYPE
    response.headers.pop("Content-Length", None)


def _in_active_language(facts: Json) -> Json:
    """Problem details, whose sentences are English, in the active language."""
    errors = facts.get("errors", {})
    again = {name: [translated(text) for text in texts] for name, texts in errors.items()}
    is_of_errors = facts["detail"] == detail_of(errors)
    return {
        **facts,
        "title": _(facts["title"]),
        "detail": detail_of(again) if is_of_errors else translated(facts["detail"]),
        **({"errors": again} if errors else {}),
    }
