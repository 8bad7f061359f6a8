"""All 15 columns of the demonstration's census table: from the wizard's pages to published rows."""

from __future__ import annotations

import gzip
import io

import pandas as pd
import pytest

from dpportal.accounts.models import User
from dpportal.datasets import codebooks, services as dataset_services
from dpportal.datasets.identifying import columns_to_ask_about
from dpportal.operations.demonstration import FOLDER
from dpportal.releases import execution
from dpportal.releases.models import Release
from mechanisms.domain import Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, page_of


@pytest.mark.slow
def test_a_curator_publishes_fifteen_columns(curator: User, administrator: User, client) -> None:
    client.force_login(curator)
    original = gzip.decompress((FOLDER / "adult.csv.gz").read_bytes())
    dataset = building.uploaded(client, original)
    names = [c["name"] for c in dataset.columns]
    declared = codebooks.read((FOLDER / "codebook.json").read_bytes(), names).attributes
    weight = Integer("fnlwgt", lower=0, upper=1_499_999, width=15_000)
    dataset_services.declare_all(dataset, [*declared, weight])
    dataset_services.confirm_one_row(dataset, columns_to_ask_about(dataset), curator)
    building.granted(dataset, administrator, "10")
    draft = Release.objects.create(dataset=dataset, created_by=curator, product="microdata", title="Census")
    at = f"/releases/{draft.pk}"
    asked = {"columns": names, "people": 32_000, "target": "income", "rows": ""}
    assert client.post(f"{at}/columns/", asked).status_code == 302
    offers = client.get(f"{at}/method/").content.decode()
    assert 'value="latent-classes"' in offers and "The recommendation will appear here" in " ".join(
        offers.split()
    )
    assert client.post(f"{at}/method/", {"mechanism": "latent-classes", "amount": "5"}).status_code == 302
    building.confirm(Release.objects.get(pk=draft.pk))
    execution.RELEASES.run(draft.pk)
    release = Release.objects.get(pk=draft.pk)
    assert release.is_ready, release.job.failure
    assert client.post(f"{at}/publish/", {"all_the_same": "on"}).status_code in (200, 302)

    true = pd.read_csv(io.BytesIO(original)).rename(columns=lambda name: name.replace("-", "_"))
    made = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    # Beside codes stands what the codebook calls them.
    made = made[[name for name in made.columns if not name.endswith("_label")]]
    assert sorted(made.columns) == sorted(name.replace("-", "_") for name in names) and len(
        made
    ) == pytest.approx(len(true), rel=0.02)
    for pair in (["education", "education_num"], ["marital_status", "relationship"], ["sex", "relationship"]):
        one, other = (t.value_counts(pair, normalize=True) for t in (true, made))
        apart = one.sub(other, fill_value=0).abs().sum() / 2
        independent = 0.5 * sum(
            abs(one.get((x, y), 0) - p * q)
            for x, p in true[pair[0]].value_counts(normalize=True).items()
            for y, q in true[pair[1]].value_counts(normalize=True).items()
        )
        assert apart < independent / 3
    client.logout()
    assert "Pairs of columns" in page_of(client, release)
