"""That the values of a column are known areas: their outlines, which everyone sees on the maps of its releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.charts.area_map import Areas
from dpportal.datasets.models import Dataset
from dpportal.history.watched import WatchedManager
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Categorical


class AreaMap(models.Model):
    """The outlines of a column's values, as `geojson` reads them. credit: whose they are, shown under each map."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+", editable=False)
    column = models.CharField(max_length=200)
    outlines = models.JSONField()
    credit = models.CharField(_("source of the areas"), max_length=200, blank=True)

    objects = WatchedManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "column"], name="one_map_per_column")]

    def __str__(self) -> str:
        return f"Areas of {self.column}"

    def areas(self, attribute: Attribute) -> Areas:
        """By the labels of the attribute's cells: the file names values, or what they are called."""
        own: Json = self.outlines
        shapes: Mapping[str, Any] = own["shapes"]
        names = dict(zip(attribute.labels(), attribute.labels(), strict=True))
        if isinstance(attribute, Categorical) and attribute.words:
            names |= dict(zip(attribute.words, attribute.values, strict=True))
        known = {label: shapes.get(label) or shapes.get(name) for label, name in names.items()}
        outlines = {label: rings for label, rings in known.items() if rings}
        others = {name: rings for name, rings in shapes.items() if rings not in outlines.values()}
        return Areas(own["width"], own["height"], outlines, self.credit, others)


@transaction.atomic
def declare_areas(dataset: Dataset, column: str, areas: Areas, credit: str, by: User) -> None:
    """Give a column its map, in place of one that it has."""
    outlines = {"width": areas.width, "height": areas.height, "shapes": areas.shapes}
    AreaMap.objects.update_or_create(
        dataset=dataset, column=column, defaults={"outlines": outlines, "credit": credit}
    )
    audit.record(by, "gave a map to a column of", dataset)


@transaction.atomic
def remove_areas(dataset: Dataset, column: str, by: User) -> None:
    """Take a column's map away."""
    AreaMap.objects.filter(dataset=dataset, column=column).delete()
    audit.record(by, "took a map from a column of", dataset)
