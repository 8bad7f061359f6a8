"""What is public names its curator as the curator wants, and never by the name that opens the account."""

import io
import json
import zipfile

import pytest
from django.urls import reverse

from dpportal.accounts.models import Role
from dpportal.releases import execution, services as release_services
from dpportal.streams import services as stream_services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period
from tests.dpportal import building
from tests.dpportal.streams import building as stream_building

SIGN_IN_NAME = "opens-the-account"
NEUTRAL = "a curator of this portal"


@pytest.fixture
def person(db):
    person = building.person(SIGN_IN_NAME, Role.CURATOR)
    person.first_name, person.last_name = "Erika", "Mustermann"
    person.save()
    return person


@pytest.fixture
def published(person, administrator):
    """A published release and a published stream of the person."""
    dataset = building.granted(building.stored_dataset(person), administrator)

    def make():
        release = building.requested_release(dataset)
        execution.RELEASES.run(release.pk)
        release.refresh_from_db()
        release_services.publish(release, person)
        stream = stream_building.open_stream(dataset)
        publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
        stream_services.publish(stream, person)
        stream_building.with_files(stream)
        return release, stream

    return make


def downloads(client, page: str) -> dict[str, bytes]:
    """Every file that a page links to, those inside an archive too."""
    found = {}
    for part in client.get(page).text.split('href="')[1:]:
        address = part.partition('"')[0]
        if "/download/" in address:
            content = b"".join(client.get(address).streaming_content)
            found[address.rpartition("/")[2]] = content
            if address.endswith(".zip"):
                with zipfile.ZipFile(io.BytesIO(content)) as archive:
                    names = archive.namelist()
                    found |= {f"zip/{name.rpartition('/')[2]}": archive.read(name) for name in names}
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen, shown", [("", NEUTRAL), ("Health Statistics Office", "Health Statistics Office")]
)
def test_no_public_page_or_download_has_the_sign_in_name(client, person, published, chosen, shown):
    person.display_name = chosen
    person.save()
    for thing in published():
        address = thing.get_absolute_url()
        files = downloads(client, address)
        assert {"release.json", "datapackage.json", "README.md", "zip/release.json"} <= files.keys()
        page = client.get(address).text
        everything = [page.encode(), *files.values()]
        for name in (SIGN_IN_NAME, "Erika", "Mustermann"):
            assert not [content for content in everything if name.encode() in content]
        assert shown in page
        assert shown in files["README.md"].decode()
        assert json.loads(files["release.json"])["curator"] == shown


@pytest.mark.slow
@pytest.mark.parametrize("address", ["releases:list", "streams:list", "home", "guide"])
def test_no_list_for_strangers_has_the_sign_in_name(client, published, address):
    published()
    assert SIGN_IN_NAME not in client.get(reverse(address), follow=True).text


@pytest.mark.slow
def test_the_series_for_programs_has_no_name(client, published):
    _release, stream = published()
    assert SIGN_IN_NAME not in client.get(reverse("streams:periods", args=[stream.pk])).text


def save(client, name: str):
    return client.post(reverse("accounts:display_name"), {"display_name": name}, follow=True)


def test_people_choose_their_name_on_a_page_of_the_account_menu(client, person):
    client.force_login(person)
    assert reverse("accounts:display_name") in client.get(reverse("datasets:list")).text
    assert "What you publish says “Health Office”." in save(client, "  Health Office ").text
    person.refresh_from_db()
    assert person.public_name == "Health Office"
    assert f"What you publish says “{NEUTRAL}”." in save(client, "").text


@pytest.mark.parametrize("name", [SIGN_IN_NAME, SIGN_IN_NAME.upper(), "x" * 81, "Two\nlines", "\u202eeciffO"])
def test_a_name_that_cannot_be_gets_a_sentence(client, person, name):
    client.force_login(person)
    assert "Nothing was saved yet" in save(client, name).text
    person.refresh_from_db()
    assert person.display_name == ""


def test_a_stranger_has_no_name_to_choose(client, db):
    address = reverse("accounts:display_name")
    assert client.get(address).url == f"{reverse('accounts:sign_in')}?next={address}"


@pytest.mark.slow
def test_who_publishes_without_a_name_is_told_before(person, administrator, client):
    release = building.requested_release(building.granted(building.stored_dataset(person), administrator))
    execution.RELEASES.run(release.pk)
    client.force_login(person)
    address, link = reverse("releases:publish", args=[release.pk]), reverse("accounts:display_name")
    told = f"Readers will see “{NEUTRAL}” as the publisher"
    before = client.get(address).text
    assert told in before and before.count(f'href="{link}"') > 1, "in the menu, and in the notice"
    person.display_name = "Office of Statistics"
    person.save()
    assert "as the publisher" not in client.get(address).text
