"""Every page in Chinese, for whom it is there: no English sentence, and no comma of English beside Chinese.

So are pictures, and the figures that a browser draws: their texts are looked at where they stand in the page.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from dpportal.accounts.models import User
from dpportal.approvals import services as approvals
from dpportal.approvals.services import ApprovalQuestion
from dpportal.platform.two_people import SPENDS
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.serving.chinese_spacing import spaced
from dpportal.streams import services as streams
from tests.dpportal.accounts.test_doors import OFFICE, named, owned_addresses, ready as everything
from tests.dpportal.chinese import half_width, shown_lines

pytestmark = pytest.mark.slow
PORTAL = Path(__file__).resolve().parents[2] / "dpportal"
MARKED = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy"}
CHINESE = "[\u4e00-\u9fff]"
FIGURE = re.compile(r'<script id="[\w-]+" type="application/json">(.*?)</script>', re.DOTALL)
STEPS = {
    "releases": ("product", "columns", "method", "review"),
    "streams": ("counted", "timing", "strategy", "review"),
}
ADMIN = [
    "/admin/",
    "/admin/budgets/budget/",
    "/admin/budgets/ledgerentry/",
    "/admin/connections/connection/add/",
    "/admin/datasets/dataset/",
    "/health/portal/",
    "/office/",
    "/office/approvals/",
    "/office/webhook-hosts/",
]
__all__ = ["everything"]


def wrong_marks(client: Client, address: str) -> list[str]:
    """Of a page or picture, and of the figures in it; none of what is neither."""
    answer = client.get(address)
    if not answer.headers.get("Content-Type", "").startswith(("text/html", "image/svg")):
        return []
    page = b"".join(answer).decode()
    figures = [text for figure in FIGURE.findall(page) for text in texts(json.loads(figure))]
    lines = [*shown_lines(page), *figures]
    is_page = answer.headers["Content-Type"].startswith("text/html")
    return half_width(lines) + [line for line in lines if is_page and spaced(line) != line]


def texts(figure: Any) -> Iterator[str]:
    """Every text in a figure; marks of HTML part one from the next."""
    match figure:
        case str():
            yield from (part for part in re.split(r"<[^<>]+>", figure) if re.search(CHINESE, part))
        case dict():
            for value in figure.values():
                yield from texts(value)
        case list():
            for value in figure:
                yield from texts(value)


@pytest.fixture
def addresses(everything: Release) -> list[str]:
    """All that its owner has of a published release, a running count, their dataset, and drafts like both."""
    owner = everything.created_by
    services.publish(everything, owner)
    own = owned_addresses(everything)
    stream = everything.dataset.streams.get()
    for kept, draft in (
        (everything, services.duplicate(everything, owner)),
        (stream, streams.duplicate(stream, owner)),
    ):
        steps = [own[f"{kept._meta.app_label}:{step}"] for step in STEPS[kept._meta.app_label]]
        own |= {f"draft {step}": step.replace(str(kept.pk), str(draft.pk)) for step in steps}
    of_nothing = [name for name, found in named(get_resolver()) if not found.pattern.converters]
    return [*own.values(), *map(reverse, of_nothing)]


def test_every_page_of_an_owner_has_chinese_marks(
    client: Client, everything: Release, addresses: list[str]
) -> None:
    sign_in(client, everything.created_by)
    assert not {address: found for address in addresses if (found := wrong_marks(client, address))}


def test_every_page_of_an_administrator_has_chinese_marks(
    client: Client, everything: Release, administrator: User
) -> None:
    approvals.ask(ApprovalQuestion(SPENDS, everything.pk, "Spend ε 1.", "/", {}), everything.created_by)
    sign_in(client, administrator)
    of_dataset = [reverse(name, args=[everything.dataset_id]) for name in OFFICE]
    found = {address: wrong_marks(client, address) for address in [*ADMIN, *of_dataset]}
    assert not {address: marks for address, marks in found.items() if marks}


def sign_in(client: Client, person: User) -> None:
    """In Chinese."""
    User.objects.update(language="zh-hans")
    client.force_login(User.objects.get(pk=person.pk))


def test_no_text_is_filled_before_its_language_is_known() -> None:
    """`gettext_lazy(…) % …` is a text of the language in which its module was read."""
    assert filled_early("from x import gettext_lazy as _\nclass A:\n    a = _('b %(c)s') % {'c': 1}") == [
        "_('b %(c)s')"
    ]
    assert not [text for path in PORTAL.rglob("*.py") for text in filled_early(path.read_text())]


def filled_early(source: str) -> list[str]:
    """Marked texts that a module or a class fills with values as it is read."""
    open_nodes, found = [ast.parse(source) if "gettext" in source else ast.parse("")], []
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Call):
            found += [ast.unparse(node.left)] if ast.unparse(node.left.func) in MARKED else []
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            open_nodes += ast.iter_child_nodes(node)
    return found
