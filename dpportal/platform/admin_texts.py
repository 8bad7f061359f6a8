"""Texts of Django's own admin that Django lacks in a language of the portal, or writes unlike the portal's pages.

What is marked here comes into the portal's catalogue, which is asked before Django's.
"""

from __future__ import annotations

from django.utils.translation import gettext, gettext_noop as _
from django.views.i18n import JavaScriptCatalog

# Of templates and forms. The last two are the mark behind a label, and the marks after which none is put.
OF_PAGES = (
    _("Model name"),
    _("Add link"),
    _("Change or view list link"),
    _("Add %(name)s"),
    _("Add %s"),
    _("Change %s"),
    _("View %s"),
    _("Select %s"),
    _("Select %s to change"),
    _("Select %s to view"),
    _("Add another %(verbose_name)s"),
    _("Error:"),
    _("After you’ve created a user, you’ll be able to edit more user options."),
    _(":"),
    _(":?.!"),
)
# Of scripts, for which Django asks its own catalogue alone.
OF_SCRIPTS = (
    _('Choose %s by selecting them and then select the "Choose" arrow button.'),
    _("Choose all %s"),
    _("Choose selected %s"),
    _('Remove %s by selecting them and then select the "Remove" arrow button.'),
    _("Remove all %s"),
    _("Remove selected %s"),
    _("(click to clear)"),
)
# Counted texts of scripts, said as the portal says them in any language.
COUNTED = "%(sel)s of %(cnt)s selected"


class ScriptTexts(JavaScriptCatalog):
    """Django's texts for its scripts, with the portal's."""

    packages = ["django.contrib.admin"]

    def get_catalog(self) -> dict[str, list[str] | str]:
        """Translations by their English text."""
        ticked = gettext("%(sel)s of %(cnt)s ticked")
        own = {text: gettext(text) for text in OF_SCRIPTS}
        return {**super().get_catalog(), **own, COUNTED: [ticked, ticked]}
