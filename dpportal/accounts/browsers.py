"""What a browser says of itself, as coarse as a person needs to recognise it."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from dpportal.platform.listed_names import joint
from dpportal.platform.stored_texts import in_site_language

# In this order: most browsers also name those that they descend from.
FAMILIES = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "Chrome": "Chrome",
    "Chromium": "Chromium",
    "CriOS": "Chrome",
    "Safari": "Safari",
}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Macintosh": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


@in_site_language
def browser_family(request: HttpRequest) -> str:
    """Such as "Firefox, Windows"; what is not known is not repeated."""
    agent = request.headers.get("User-Agent", "")
    family = _name_in(FAMILIES, agent) or _("Another program")
    system = _name_in(SYSTEMS, agent)
    return f"{family}{joint(',')}{system}" if system else family


def _name_in(names: dict[str, str], agent: str) -> str:
    return next((name for mark, name in names.items() if mark in agent), "")
