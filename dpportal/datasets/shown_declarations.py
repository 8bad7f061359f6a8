"""What the form of a column begins with: what is declared, or else what the column's name suggests."""

from __future__ import annotations

from collections.abc import Sequence

from dpportal.datasets.labels import lines_of
from dpportal.datasets.progressions import number_text
from dpportal.datasets.proposals import proposed, proposed_kind, proposed_step
from dpportal.datasets.truths import truth_lines
from dpportal.platform.json_types import Json
from mechanisms import domain


def initial_of(attribute: domain.Attribute | None, name: str, truths: Sequence[str] = ()) -> Json:
    """What the form shows for a declaration, or for a column that has none yet: what its name suggests.

    truths: how the table writes no and yes there, if that is known. They are proposed as the column's two values.
    """
    written: Json = dict(zip(("no", "yes"), truths, strict=False))
    attribute = attribute or proposed(name, tuple(truths))
    if attribute is None:
        kind = proposed_kind(name) or "ignored"
        binning = "width" if kind == "real" else "per_value"
        shown = {"kind": kind, "binning": binning, "missing_cell": True, "closed": "", **written}
        return {**shown, "step": proposed_step(name)}
    values = {**written, **attribute.to_json()}
    to = attribute.misfits_to
    values["closed"] = "open" if not attribute.closed else "left-out" if to is None else "value"
    values["misfits_to"] = "" if to is None else attribute.regular_labels()[to]
    if isinstance(attribute, domain.Categorical):
        values |= {"values": "\n".join(lines_of(attribute)), "with_words": bool(attribute.words)}
    if isinstance(attribute, domain.Boolean):
        values["no"], values["yes"] = truth_lines(attribute)
    edges = values.get("edges")
    if isinstance(edges, list):
        values["edges"] = " ".join(map(str, edges))
        by_value = isinstance(attribute, domain.Integer) and attribute.width == 1
        values["binning"] = "edges" if edges else "per_value" if by_value else "width"
    if isinstance(attribute, domain.Integer | domain.Real):
        values["single_values"] = " ".join(number_text(value) for value in attribute.single_values)
    return values
