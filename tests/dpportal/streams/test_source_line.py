"""What time the data of a running count are of, where they are from and under which licence: wherever its chart is."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dpportal.datasets.models import PublicDescription
from dpportal.streams import services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "address",
    [
        lambda stream: stream.get_absolute_url(),
        lambda stream: reverse("streams:embed", args=[stream.pk, "series"]),
        lambda stream: reverse("streams:chart", args=[stream.pk, "series", "svg"]),
    ],
    ids=["page", "frame", "picture"],
)
def test_time_source_and_licence_stand_with_the_numbers(client, stream, curator, address) -> None:
    publish(stream.pk, [Update(1, (12,), Period.Source.TYPED)])
    services.publish(stream, curator)
    PublicDescription.objects.create(
        dataset=stream.dataset, shown=True, first="2020", publisher="Office of Reds", licence="CC-BY-4.0"
    )
    text = " ".join(client.get(address(stream)).text.split('id="everything"')[0].split())
    for words in ("Data of 2020", "Office of Reds", "Creative Commons Attribution 4.0"):
        assert words in text
