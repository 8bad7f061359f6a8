"""What a role opens: the admin for administrators, records for their curator, nothing else."""

import re

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import Role, User
from dpportal.datasets import records
from dpportal.datasets.models import Conversion
from tests.dpportal import building

ADMIN_MODELS = [
    "accounts_user",
    "accounts_auditentry",
    "datasets_dataset",
    "datasets_conversion",
    "budgets_budget",
    "budgets_ledgerentry",
    "releases_release",
    "releases_releasejob",
]


@pytest.mark.parametrize("role", Role)
def test_administrators_only_are_staff(db, role):
    user = building.person("someone", role)
    assert user.is_staff == user.is_superuser == (role == Role.ADMINISTRATOR)


def test_a_curator_who_was_an_administrator_is_staff_no_more(administrator):
    administrator.role = Role.CURATOR
    administrator.save()
    assert not User.objects.filter(is_staff=True).exists()


@pytest.mark.parametrize("role", [Role.CURATOR, Role.ANALYST])
def test_the_admin_is_closed_to_others(client, db, role):
    client.force_login(building.person("someone", role))
    assert client.get(reverse("admin:index")).status_code == 302


def test_an_administrator_makes_a_user_with_a_role(client, administrator):
    client.force_login(administrator)
    client.post(reverse("admin:accounts_user_add"), {"username": "new", "role": "curator"})
    assert User.objects.get(username="new").is_curator


@pytest.mark.slow
def test_an_administrator_sees_every_list(client, administrator, ready):
    client.force_login(administrator)
    seen = {m: client.get(reverse(f"admin:{m}_changelist")).status_code for m in ADMIN_MODELS}
    assert seen == dict.fromkeys(ADMIN_MODELS, 200)


def test_the_admin_does_not_tell_how_large_a_table_is_that_is_being_read(client, administrator, dataset):
    """How far the reading is says that."""
    far, size = 48_151_623, 98_765_432
    Conversion.objects.update_or_create(
        dataset=dataset, defaults={"state": "running", "progress": far, "progress_total": size}
    )
    client.force_login(administrator)
    page = client.get(f"/admin/datasets/conversion/{dataset.pk}/change/")
    assert page.status_code == 200 and not {str(far), str(size)} & set(re.findall(r"\d+", page.text))


def test_administrators_do_not_read_at_which_line_a_table_could_not_be_read(client, administrator, dataset):
    """There are as many lines at least. That, and why, its owners read."""
    Conversion.objects.update_or_create(
        dataset=dataset,
        defaults={
            "state": "failed",
            "failure": "Line 48,151,623 holds a NUL byte.",
            "finished_at": timezone.now(),
        },
    )
    client.force_login(administrator)
    pages = [
        client.get(f"/admin/datasets/conversion/{dataset.pk}/change/"),
        client.get(reverse("health_page")),
    ]
    assert [page.status_code for page in pages] == [200, 200]
    assert not any("48,151,623" in page.text for page in pages) and "owners read why" in pages[1].text


@pytest.mark.parametrize(
    "asked",
    [
        "datasets/conversion/?progress__gt=100",
        "datasets/dataset/?megabytes__gt=1",
        "streams/streamjob/?progress__gt=100",
        "releases/release/?people__gt=100",
        "streams/stream/?token_sha256__startswith=a",
    ],
)
def test_no_filter_of_the_admin_tells_what_its_lists_do_not(client, administrator, ready, asked):
    client.force_login(administrator)
    assert client.get(f"/admin/{asked}").status_code == 400


@pytest.mark.parametrize(
    "offered", ["datasets/dataset/?state__exact=stored", "datasets/dataset/?created_at__year=2026"]
)
def test_what_the_lists_offer_filters_them(client, administrator, ready, offered):
    client.force_login(administrator)
    assert client.get(f"/admin/{offered}").status_code == 200


@pytest.mark.slow
def test_the_admin_needs_no_record_to_show_datasets_and_releases(client, administrator, ready):
    """With every file of the records gone, the admin says the same: it reads none of them."""
    client.force_login(administrator)
    pages = [
        reverse(f"admin:{model}_change", args=[pk])
        for model, pk in [
            ("datasets_dataset", ready.dataset_id),
            ("datasets_conversion", ready.dataset_id),
            ("releases_release", ready.pk),
            ("releases_releasejob", ready.pk),
        ]
    ]
    before = [client.get(page) for page in pages]
    records.erase(ready.dataset)
    assert not default_storage.exists(ready.true_counts)
    after = [client.get(page) for page in pages]
    assert [r.status_code for r in before] == [200] * len(pages)
    assert [_main(r) for r in before] == [_main(r) for r in after]


def _main(response) -> str:
    """The page without its random parts."""
    content = response.text.partition('<div id="content-main">')[2].partition("<script")[0]
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", content)
