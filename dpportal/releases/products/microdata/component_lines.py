"""Principal components as a table to read: the directions in which columns vary most together."""

from __future__ import annotations

from dpportal.platform.json_types import Json
from mechanisms.microdata.components import UNIT
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.principal_components import ordered_columns


def component_lines(plan: MicrodataPlan, result: MicrodataResult) -> Json:
    """Of each component its share of the columns' variance and each column's loading, from noisy answers; or empty."""
    components = result.components
    if components is None:
        return {}
    names = [plan.domain.shown_names[j] for j in ordered_columns(plan.domain)]
    shares = components.variances / UNIT / len(names)
    return {
        "shares": [round(100 * float(share), 1) for share in shares],
        "loadings": [
            [name, *(f"{loading / UNIT:.2f}" for loading in of_column)]
            for name, of_column in zip(names, components.loadings.T.tolist(), strict=True)
        ],
        "cells": components.cells,
    }
