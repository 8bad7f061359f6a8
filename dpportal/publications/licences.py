"""Licences for data that a curator can choose from: names and texts by their SPDX identifiers.

Source: SPDX License List 3.27, https://spdx.org/licenses/.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Licence:
    """What it is called, and where its text is."""

    name: str
    text: str


_CREATIVE_COMMONS = "https://creativecommons.org"
LICENCES = {
    "CC0-1.0": Licence(
        "Creative Commons Zero 1.0: no rights reserved", f"{_CREATIVE_COMMONS}/publicdomain/zero/1.0/"
    ),
    "CC-BY-4.0": Licence("Creative Commons Attribution 4.0", f"{_CREATIVE_COMMONS}/licenses/by/4.0/"),
    "CC-BY-SA-4.0": Licence(
        "Creative Commons Attribution, Share Alike 4.0", f"{_CREATIVE_COMMONS}/licenses/by-sa/4.0/"
    ),
    "CC-BY-NC-4.0": Licence(
        "Creative Commons Attribution, Non-Commercial 4.0", f"{_CREATIVE_COMMONS}/licenses/by-nc/4.0/"
    ),
    "PDDL-1.0": Licence(
        "Open Data Commons Public Domain Dedication 1.0", "https://opendatacommons.org/licenses/pddl/1-0/"
    ),
    "ODC-By-1.0": Licence(
        "Open Data Commons Attribution 1.0", "https://opendatacommons.org/licenses/by/1-0/"
    ),
    "ODbL-1.0": Licence(
        "Open Data Commons Open Database 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"
    ),
    "DL-DE-ZERO-2.0": Licence("Data licence Germany, zero 2.0", "https://www.govdata.de/dl-de/zero-2-0"),
    "DL-DE-BY-2.0": Licence("Data licence Germany, attribution 2.0", "https://www.govdata.de/dl-de/by-2-0"),
    "etalab-2.0": Licence(
        "Etalab Open Licence 2.0 (France)",
        "https://www.etalab.gouv.fr/wp-content/uploads/2017/04/ETALAB-Licence-Ouverte-v2.0.pdf",
    ),
    "OGL-UK-3.0": Licence(
        "Open Government Licence 3.0 (United Kingdom)",
        "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/",
    ),
}
