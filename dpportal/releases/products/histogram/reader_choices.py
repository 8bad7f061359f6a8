"""How a reader looks at released counts: along which column, by which groups, of whom, as counts or shares."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from dpportal.charts.area_map import Areas, area_figure
from dpportal.charts.cell_names import cell_names
from dpportal.charts.chosen_counts import ChosenCounts, chosen_figure, may_face
from dpportal.charts.chosen_panels import ChosenPanels, pages_of, panels_figure
from dpportal.charts.counted_word import counted_word
from dpportal.charts.largest_first import is_long
from dpportal.charts.own_cells import ShownCells, cells_to_show, own_cells
from dpportal.charts.reader_counts import axes_of_two
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.releases.products.shared.figures import figure_json
from mechanisms.arrays import Floats
from mechanisms.box_queries import CellSum, Picks
from mechanisms.domain import Domain

# Cells of a release that are added up while a page waits, bars along a chart or groups of it, and values that a list
# offers.
MAX_CELLS, MAX_ALONG, LISTED = 2**17, 400, 60
NOBODY, HEAT_MAP = "none", "heat"
_OF_AXES = ("along", "by", "apart", "page", "scale", "order")


class ChartForm(forms.Form):
    """The choices of one release's chart; what an address says otherwise is as if it were left out.

    domain: one of whose columns fits along a chart, see `fits`. maps: the areas of columns, by their place.
    has_heat_map: whether the stored chart is one, to which a reader can come back.
    """

    map = forms.ChoiceField(label=_("Chart"), required=False)
    along = forms.ChoiceField(label=_("Along"), required=False)
    by = forms.ChoiceField(label=_("Groups"), required=False)
    apart = forms.ChoiceField(label=_("A chart for each"), required=False)
    page = forms.ChoiceField(label=_("Charts"), required=False)
    scale = forms.ChoiceField(label=_("Scale"), required=False)
    order = forms.ChoiceField(
        label=_("Order"),
        required=False,
        choices=[("declared", _("as declared")), ("size", _("largest first"))],
    )

    def __init__(
        self,
        domain: Domain,
        data: QueryDict,
        maps: Mapping[int, Areas] | None = None,
        *,
        has_heat_map: bool = False,
    ) -> None:
        self.domain, self._is_apart, self.maps = domain, bool(data.get("apart")), maps or {}
        chosen = {key: value for key, value in data.items() if value}
        defaults = _defaults(domain, self.maps)
        if has_heat_map and not any(key in _OF_AXES or key.startswith("where-") for key in chosen):
            defaults["map"] = HEAT_MAP
        super().__init__({**defaults, **chosen}, label_suffix="")
        self._offer_kinds(has_heat_map)
        if self.on_map is None and not self.is_heat_map:
            columns = [(str(place), name) for place, name in enumerate(domain.shown_names)]
            self._offer_axes([columns[place] for place in _fitting(domain)])
            self._offer_values({*self.axes(), self.panels()})
        else:
            for name in _OF_AXES:
                del self.fields[name]
        if self.on_map is not None:
            self._offer_values({self.on_map})

    def _offer_kinds(self, has_heat_map: bool) -> None:
        """Bars or lines, or a map; no choice where there is none."""
        heat_map = [(HEAT_MAP, _("heat map"))] if has_heat_map else []
        maps_of = [(str(place), _("map of %s") % self.domain.shown_names[place]) for place in self.maps]
        self._offer("map", [*heat_map, (NOBODY, _("bars or lines")), *maps_of])
        if not (heat_map or maps_of):
            del self.fields["map"]

    def choices(self) -> dict[str, str]:
        """What is chosen of each field."""
        return {name: self.value(name) for name in self.fields}

    def _offer_axes(self, drawable: list[tuple[str, str]]) -> None:
        """What is drawn along, side by side, and one chart after the other."""
        self._offer("along", drawable)
        self._offer("by", [(NOBODY, _("no groups")), *drawable])
        along, by = self.axes()
        self.data = {"order": "size" if is_long(self.domain.attributes[along]) else "declared", **self.data}
        share = _("share of all") if by is None else _("share of the group")
        self._offer("scale", [("", counted_word()), ("share", share)])
        self._offer("apart", [(NOBODY, _("all in one chart")), *drawable])
        apart = self.panels()
        pages = [] if apart is None else pages_of(self.domain.attributes[apart])
        self._offer("page", [(str(place) if place else "", words) for place, words in enumerate(pages)])
        if len(pages) < 2:
            del self.fields["page"]
        if len(self.domain.shape) == 1:
            del self.fields["along"], self.fields["by"], self.fields["apart"]
        if all(attribute.ordered for attribute in self.domain.attributes):
            del self.fields["order"]

    def _offer_values(self, shown_axes: Collection[int | None]) -> None:
        """The values of each column that is not drawn, of which one can be picked."""
        for place, attribute in enumerate(self.domain.attributes):
            if place not in shown_axes and attribute.size <= LISTED:
                labels = [(str(cell), label) for cell, label in enumerate(cell_names(attribute))]
                self.fields[f"where-{place}"] = forms.ChoiceField(
                    label=_("Only %(column)s") % {"column": attribute.shown_name},
                    required=False,
                    choices=[("", _("all")), *labels],
                )

    @property
    def on_map(self) -> int | None:
        """The column that is drawn as a map."""
        chosen = self.value("map")
        return int(chosen) if chosen not in ("", NOBODY, HEAT_MAP) else None

    @property
    def is_heat_map(self) -> bool:
        """Whether the stored heat map is chosen."""
        return self.value("map") == HEAT_MAP

    def _offer(self, name: str, choices: Sequence[tuple[str, object]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def value(self, name: str) -> str:
        """What is chosen of a field; empty where that is nothing, or none of what it offers."""
        chosen = str(self.data.get(name) or "")
        field = self.fields.get(name)
        offered = isinstance(field, forms.ChoiceField) and field.valid_value(chosen)
        return chosen if offered else ""

    def axes(self) -> tuple[int, int | None]:
        """The column along the chart and that of the groups, by default as the first chart has them."""
        along, by = self.value("along"), self.value("by")
        first, _second = first_axes(self.domain)
        chosen = int(along) if along else first
        groups = int(by) if by not in ("", NOBODY) else None
        return chosen, None if groups in (chosen, self.panels()) else groups

    def panels(self) -> int | None:
        """The column whose values have charts of their own, which then makes no groups; none that runs along them."""
        apart = self.value("apart")
        others = (self.value("along"), "" if self._is_apart else self.value("by"))
        return int(apart) if apart not in ("", NOBODY, *others) else None

    def shown_axes(self) -> list[int]:
        """The columns of a chart, in the order of its axes, groups and panels."""
        return [axis for axis in (*self.axes(), self.panels()) if axis is not None]

    def picked_values(self, axes: Collection[int]) -> list[str]:
        """Of which value of each further column people are counted, where one is picked: month 3."""
        cells = [(place, self.value(f"where-{place}")) for place in range(len(self.domain.shape))]
        columns = self.domain.attributes
        return [
            f"{columns[place].shown_name} {cell_names(columns[place])[int(cell)]}"
            for place, cell in cells
            if cell and place not in axes
        ]

    def picks(self, axes: Collection[int]) -> list[np.ndarray]:
        """The cells of each column that are counted. axes: the columns that are drawn, with all their cells."""
        chosen = [self.value(f"where-{place}") for place in range(len(self.domain.shape))]
        return [
            np.array([int(cell)]) if cell and place not in axes else np.arange(size)
            for place, (cell, size) in enumerate(zip(chosen, self.domain.shape, strict=True))
        ]


def fits(domain: Domain) -> bool:
    """Whether a reader can choose a chart at all: of columns with more cells only the stored one is shown."""
    return domain.size <= MAX_CELLS and bool(_fitting(domain))


def _fitting(domain: Domain) -> list[int]:
    """The columns that are drawn along a chart, or make its groups."""
    return [place for place, size in enumerate(domain.shape) if size <= MAX_ALONG]


def first_axes(domain: Domain) -> tuple[int, int | None]:
    """As the first chart of two columns has them; of more an ordered one along, else the one with most cells.

    By that with fewest. domain: one of them fits.
    """
    fitting = _fitting(domain)
    if (axes := axes_of_two(domain)) and len(fitting) == len(axes):
        return axes
    along = max(fitting, key=lambda place: (domain.attributes[place].ordered, domain.shape[place]))
    others = [place for place in fitting if place != along]
    return along, min(others, key=lambda place: domain.shape[place], default=None)


def _defaults(domain: Domain, maps: Collection[int] = ()) -> dict[str, str]:
    """Of areas alone a map; else bars or lines, and of three columns small charts."""
    along, by = first_axes(domain)
    others = [place for place in _fitting(domain) if place not in (along, by)]
    apart = min(others, key=lambda place: domain.shape[place], default=None)
    on_map = 0 if maps and len(domain.shape) == 1 else None
    return {"along": str(along), "by": _named(by), "apart": _named(apart), "map": _named(on_map)}


def _named(column: int | None) -> str:
    return NOBODY if column is None else str(column)


def begins_chosen(domain: Domain) -> bool:
    """Whether the first chart is one of those that readers choose: of two sides, or small charts for a third column."""
    return begins_mirrored(domain) or (fits(domain) and _defaults(domain)["apart"] != NOBODY)


def begins_mirrored(domain: Domain) -> bool:
    """Whether the first chart is one of two sides: an order of some length by two values, or by three cells."""
    if len(domain.shape) != 2 or not _fitting(domain):
        return False
    along, by = first_axes(domain)
    return by is not None and may_face(domain.attributes[along], domain.attributes[by])


def map_figure(form: ChartForm, values: np.ndarray, summed: Callable[[Picks], CellSum | None]) -> Json:
    """The map that is chosen, of the people of each area; see `figure`."""
    domain, on_map = form.domain, form.on_map
    assert on_map is not None
    picks = form.picks([on_map])
    counts = _marginal(values.reshape(domain.shape)[np.ix_(*picks)], [on_map])
    margin = _margin(summed, picks, [on_map])
    attribute = domain.attributes[on_map]
    areas = area_figure(
        form.maps[on_map], attribute.labels(), np.rint(counts), half_width=margin, column=attribute.shown_name
    )
    return figure_json(areas)


def figure(
    form: ChartForm,
    values: np.ndarray,
    summed: Callable[[Picks], CellSum | None],
    of_a_cell: int | None = None,
    adjusted: np.ndarray | None = None,
) -> Json:
    """The chart that is chosen. values: (cells,) estimates; summed: of a box, with its margin if all boxes have one.

    of_a_cell: half the interval of any single cell, where there is one. adjusted: (cells,) counts that a reader may
    have in place of the estimates, save on a map.
    """
    if form.on_map is not None:
        shown, axes = map_figure(form, values, summed), [form.on_map]
    else:
        shown, axes = _counts_figure(form, values, summed, of_a_cell, adjusted), form.shown_axes()
    return {**shown, "title": joint(",").join([shown["title"], *form.picked_values(axes)])}


def _counts_figure(
    form: ChartForm,
    values: np.ndarray,
    summed: Callable[[Picks], CellSum | None],
    of_a_cell: int | None,
    adjusted: np.ndarray | None,
) -> Json:
    domain, (_along, by), apart = form.domain, form.axes(), form.panels()
    axes_shown = form.shown_axes()
    picks = form.picks(axes_shown)
    picked = np.ix_(*picks)
    table = np.rint(_marginal(values.reshape(domain.shape)[picked], axes_shown))
    one_page = apart is None or len(pages_of(domain.attributes[apart])) == 1
    axes = axes_shown if one_page else axes_shown[:-1]
    shown = _with_people(domain, axes, table, lambda axis: _margin(summed, picks, [axis], of_a_cell))
    for axis, places in zip(axes, shown.places, strict=True):
        picks[axis] = places
    groups = None if by is None else shown.attributes[1]
    shape = shown.attributes[0].size, groups.size if groups else 1, -1
    cells, other = shown.of(table).reshape(shape), None
    if adjusted is not None:
        other = shown.of(_marginal(adjusted.reshape(domain.shape)[picked], axes_shown)).reshape(shape)
    chosen = ChosenCounts(
        shown.attributes[0],
        groups,
        cells.sum(axis=2),
        _margin(summed, picks, axes_shown, of_a_cell),
        by_size=form.value("order") == "size",
        not_shown=shown.caption,
    )
    if form.value("scale") == "share":
        chosen = _in_shares(chosen, summed, picks, axes_shown)
    if apart is None:
        return figure_json(chosen_figure(chosen, None if other is None else other[:, :, 0]))
    panels = shown.attributes[-1] if one_page else domain.attributes[apart]
    page = int(form.value("page") or 0)
    return figure_json(panels_figure(ChosenPanels(chosen, panels, cells, page, other)))


def _with_people(
    domain: Domain, axes: Sequence[int], table: Floats, margin: Callable[[int], int | None]
) -> ShownCells:
    """The cells of some columns, without those of the portal's own in which perhaps nobody is. margin: of a column."""
    columns = [domain.attributes[axis] for axis in axes]
    margins = [margin(axis) if own_cells(domain.attributes[axis]) else None for axis in axes]
    return cells_to_show(columns, table, margins)


def _margin(
    summed: Callable[[Picks], CellSum | None],
    picks: list[np.ndarray],
    axes: list[int],
    of_a_cell: int | None = None,
) -> int | None:
    """Of one bar or area: a cell of the columns that are kept. of_a_cell: where that is a single cell."""
    one = [np.array([0]) if axis in axes else places for axis, places in enumerate(picks)]
    half_width = _half_width(summed(one))
    return of_a_cell if half_width is None and all(places.size == 1 for places in one) else half_width


def _in_shares(
    chosen: ChosenCounts,
    summed: Callable[[Picks], CellSum | None],
    picks: list[np.ndarray],
    axes: list[int],
) -> ChosenCounts:
    """With the margins of a group without one of its bars, and of all of it. axes: the first one is along the chart."""
    along, others = axes[0], axes[1:]
    one = [np.array([0]) if axis in others else places for axis, places in enumerate(picks)]
    group = _half_width(summed(one))
    one[along] = picks[along][1:]
    rest = _half_width(summed(one)) if one[along].size else 0
    return replace(chosen, shares=True, rest_half_width=rest, group_half_width=group)


def _half_width(total: CellSum | None) -> int | None:
    return None if total is None or total.half_width is None else int(np.ceil(total.half_width))


def _marginal(box: np.ndarray, axes: list[int]) -> Floats:
    """The columns that are kept, in that order; the others added up."""
    rest = tuple(axis for axis in range(box.ndim) if axis not in axes)
    table = np.asarray(box.sum(axis=rest), dtype=np.float64)
    return table.transpose([sorted(axes).index(axis) for axis in axes])
