"""Other people's datasets, releases and streams do not exist: every address of the portal is tried."""

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import transaction
from django.http import HttpResponseNotFound
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from dpportal.accounts.models import Role, User
from dpportal.datasets import sharing
from dpportal.datasets.models import DirectUpload, Right, Share
from dpportal.releases import services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period
from tests.dpportal.building import requested_values
from tests.dpportal.streams import building

# What addresses name that somebody owns. One that names nothing is for each test of its own page.
OWNED = {"dataset_id", "release_id", "stream_id", "upload_id"}
# Addresses that name something, but nobody's dataset, release or stream.
GENERAL = {
    *("accounts:choose", "accounts:replace"),
    *("approve", "refuse_approval"),
    *("checked", "check_progress"),
    "decline",
    "forbid_webhook_host",
    *("notices:webhook", "notices:test", "notices:pause", "notices:delete"),
    "tokens:revoke",
}
# For administrators alone, whoever owns what it names.
OFFICE = {"enter_missing", "grant", "grant_meaning", "reduction"}
# Only releases of some products have these, and the one here is a histogram.
OF_OTHER_PRODUCTS = {"releases:compare_report"}
# Only where browsers send files to a bucket themselves.
OF_BUCKETS = {
    "datasets:direct_again",
    "datasets:direct_part",
    "datasets:direct_finish",
    "datasets:direct_give_up",
}
# Whoever it is opens it once something of the dataset is public, and nobody before.
OF_PUBLISHED = {"public_dataset"}
ARTIFACT = "release.json"
CHARTS = {
    "releases:chart": "main",
    "releases:embed": "main",
    "streams:chart": "series",
    "streams:embed": "series",
}
# What a right to see opens, and what the right to release opens besides. All else is for owners.
FOR_SEERS = {
    "datasets:home",
    "datasets:codebook_export",
    "budgets:ledger",
    "budgets:ledger_csv",
    "releases:public",
    "releases:download",
    "releases:explore",
    "releases:cite",
    *("releases:croissant", "streams:croissant"),
    *("releases:chart", "releases:embed", "streams:chart", "streams:embed"),
    "streams:public",
    "streams:download",
    "streams:cite",
    "streams:periods",
    "values:chosen",
    "values:progress",
}
OF_RELEASERS = ("releases:", "streams:")
# 401 asks a program for a stream's token, whether there is such a stream or not.
CLOSED = {401, 404, 405}
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')


def named(resolver: URLResolver, space: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every named address outside the admin and the API, which have doors of their own."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            if pattern.namespace not in ("admin", "api"):
                yield from named(pattern, f"{pattern.namespace}:" if pattern.namespace else space)
        else:
            yield f"{space}{pattern.name}", pattern


@pytest.fixture
def ready(ready):
    """The finished release, of its dataset a period of a stream and a choice of values, an announced file, a share."""
    stream = building.open_stream(ready.dataset)
    requested_values(ready.dataset)
    publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
    DirectUpload.objects.create(owner=ready.dataset.owner, file_name="new.csv", size=1, megabytes=1)
    colleague = User.objects.create_user("colleague", password="colleague", role=Role.CURATOR)
    Share.objects.create(dataset=ready.dataset, person=colleague, right=Right.SEE)
    return ready


@pytest.fixture
def no_page(monkeypatch):
    """What is not found has no page, which takes half the time where every address is tried."""

    def not_found(_request, exception):
        return HttpResponseNotFound()

    monkeypatch.setattr("dpportal.urls.handler404", not_found, raising=False)


def colleague_with(right: Right) -> User:
    """The person with whom the dataset is shared, for this."""
    Share.objects.update(right=right)
    return User.objects.get(username="colleague")


def owned_addresses(release) -> dict[str, str]:
    """Every address that speaks of this release, of its dataset or of that one's stream."""
    known = {"dataset_id": release.dataset_id, "release_id": release.pk, "position": 0, "name": ARTIFACT}
    known["form"] = "bib"
    known["stream_id"] = release.dataset.streams.get().pk
    known["upload_id"] = DirectUpload.objects.get().pk
    known["choice_id"] = release.dataset.value_choices.get().pk
    known["share_id"] = Share.objects.get().pk
    known["ending"] = "json"
    found = {}
    for name, pattern in named(get_resolver()):
        if OWNED & set(pattern.pattern.converters) and name not in OFFICE:
            of_chart = {"chart": CHARTS[name], "form": "svg"} if name in CHARTS else {}
            arguments = {key: {**known, **of_chart}[key] for key in pattern.pattern.converters}
            found[name] = reverse(name, kwargs=arguments)
    return found


def answers(client, address: str) -> dict[str, int]:
    """The status by method; what a request changed is undone."""
    found = {}
    for method in ("get", "head", "post"):
        with transaction.atomic():
            found[method] = getattr(client, method)(address).status_code
            transaction.set_rollback(True)
    return found


@pytest.mark.slow
@pytest.mark.every_day
def test_every_address_that_names_something_either_is_general_or_names_something_owned(db):
    of_names = {name: set(pattern.pattern.converters) for name, pattern in named(get_resolver())}
    not_owned = {name for name, parts in of_names.items() if parts and not OWNED & parts}
    assert not_owned == GENERAL, (
        f"{sorted(not_owned ^ GENERAL)}: in GENERAL, if what the address names belongs to nobody's dataset; else its "
        "part is called dataset_id, release_id or stream_id, and the view finds it by `access.py`"
    )


@pytest.mark.slow
def test_the_owner_finds_something_at_every_address(client, ready):
    client.force_login(ready.dataset.owner)
    for name, address in owned_addresses(ready).items():
        if name in OF_OTHER_PRODUCTS | OF_BUCKETS | OF_PUBLISHED:
            continue
        found = answers(client, address)
        assert 404 not in found.values(), (name, found)
        assert set(found.values()) - CLOSED, (name, found)


@pytest.mark.slow
@pytest.mark.parametrize("right", Right)
def test_a_share_opens_what_its_right_says_and_nothing_else(client, no_page, ready, right):
    client.force_login(colleague_with(right))
    for name, address in owned_addresses(ready).items():
        if name in OF_OTHER_PRODUCTS | OF_BUCKETS | OF_PUBLISHED:
            continue
        found = answers(client, address)
        if name in FOR_SEERS or (right == Right.OWN) or (right == Right.RELEASE and is_of_releasers(name)):
            assert 404 not in found.values(), (name, found)
            assert set(found.values()) - CLOSED, (name, found)
        elif name != "datasets:take_back":  # everyone gives back their own
            assert set(found.values()) <= CLOSED, f"{name} opens: {found}. If it should: FOR_SEERS"
            assert 404 in found.values(), (name, found)


def is_of_releasers(name: str) -> bool:
    return name.startswith(OF_RELEASERS)


@pytest.mark.slow
def test_a_share_that_is_taken_back_opens_nothing_any_more(client, no_page, ready):
    addresses = owned_addresses(ready)
    client.force_login(colleague_with(Right.OWN))
    sharing.take_back(Share.objects.get(), ready.dataset.owner)
    for name, address in addresses.items():
        found = client.get(address).status_code
        assert found in CLOSED, (name, found)


@pytest.mark.slow
def test_a_share_opens_nothing_to_who_is_not_a_curator_any_more(client, no_page, ready):
    former = colleague_with(Right.OWN)
    former.role = Role.ANALYST
    former.save()
    client.force_login(former)
    for name, address in owned_addresses(ready).items():
        assert set(answers(client, address).values()) <= CLOSED, name


@pytest.mark.slow
@pytest.mark.parametrize("right", Right)
def test_lists_show_what_is_shared(client, ready, right):
    client.force_login(colleague_with(right))
    for address in ("datasets:list", "releases:list", "streams:list"):
        assert ready.dataset.name in client.get(reverse(address)).text


@pytest.mark.slow
@pytest.mark.every_day
@pytest.mark.parametrize("visitor", ["other_curator", "administrator", "analyst"])
def test_nobody_else_finds_anything(client, no_page, ready, request, visitor):
    client.force_login(request.getfixturevalue(visitor))
    for name, address in owned_addresses(ready).items():
        found = answers(client, address)
        assert set(found.values()) <= CLOSED, (name, found)
        assert 404 in found.values(), (name, found)


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.ANALYST, Role.ADMINISTRATOR])
def test_a_former_curator_finds_nothing_either(client, no_page, ready, role):
    former = ready.dataset.owner
    former.role = role
    former.save()
    client.force_login(former)
    for name, address in owned_addresses(ready).items():
        found = answers(client, address)
        assert set(found.values()) <= CLOSED, (name, found)
        assert 404 in found.values(), (name, found)


@pytest.mark.slow
def test_a_curator_who_is_switched_off_is_a_stranger_at_once(client, ready):
    client.force_login(ready.dataset.owner)
    User.objects.update(is_active=False)
    assert client.get(reverse("releases:public", args=[ready.pk])).status_code == 404
    assert client.get(reverse("datasets:list")).status_code == 302


@pytest.mark.slow
@pytest.mark.every_day
def test_a_stranger_is_asked_to_sign_in_or_finds_nothing(client, ready):
    sign_in = reverse("accounts:sign_in")
    for name, address in owned_addresses(ready).items():
        response = client.get(address)
        led = response.headers.get("Location")
        assert response.status_code in CLOSED or led == f"{sign_in}?next={address}", (
            name,
            response.status_code,
        )


@pytest.mark.slow
def test_another_persons_release_looks_like_one_that_never_was(client, ready, other_curator):
    client.force_login(other_curator)
    theirs = client.get(reverse("releases:job", args=[ready.pk]))
    nobodys = client.get(reverse("releases:job", args=[uuid4()]))
    assert TOKEN.sub("", theirs.text) == TOKEN.sub("", nobodys.text)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["datasets:list", "releases:list", "releases:finished"])
def test_lists_leave_other_peoples_things_out(client, ready, other_curator, address):
    client.force_login(other_curator)
    page = client.get(reverse(address)).text
    assert ready.dataset.name not in page
    assert ready.title not in page


@pytest.mark.slow
@pytest.mark.every_day
@pytest.mark.parametrize("visitor", ["", "other_curator", "analyst"])
def test_no_page_without_an_id_names_what_is_another_persons(client, ready, request, visitor):
    """Lists, homes, feeds: all that they show, they get by the right of whoever looks."""
    if visitor:
        client.force_login(request.getfixturevalue(visitor))
    addresses = {name: reverse(name) for name, p in named(get_resolver()) if not p.pattern.converters}
    for name, address in addresses.items():
        answer = client.get(address)
        page = b"".join(answer.streaming_content).decode() if answer.streaming else answer.text
        for text in (ready.dataset.name, ready.title, str(ready.dataset_id), str(ready.pk)):
            assert text not in page, (
                f"{name} shows “{text}” to who has no right to it: a view gets datasets by `open_datasets` of "
                "`datasets/access.py`, and what was made of them by `dataset__in` these"
            )


@pytest.mark.django_db  # the role is a fixture named at run time
@pytest.mark.parametrize("role", ["administrator", "analyst"])
@pytest.mark.parametrize(
    "address",
    ["datasets:list", "datasets:upload", "datasets:connect_table", "datasets:tableless", "releases:finished"],
)
def test_rooms_of_curators_are_closed_to_other_roles(client, request, role, address):
    client.force_login(request.getfixturevalue(role))
    assert client.get(reverse(address)).status_code == 404


@pytest.mark.slow
def test_a_published_release_is_open_to_strangers_and_its_comparison_is_not(client, ready):
    services.publish(ready, ready.created_by)
    assert client.get(reverse("releases:public", args=[ready.pk])).status_code == 200
    assert client.get(reverse("releases:download", args=[ready.pk, ARTIFACT])).status_code == 200
    assert client.get(reverse("releases:compare", args=[ready.pk])).status_code == 302
