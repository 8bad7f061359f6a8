"""A change of who is protected that a second person has approved is made: as it was asked for, or not at all."""

from __future__ import annotations

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.approvals.acts import Act, OutdatedError
from dpportal.approvals.models import Approval
from dpportal.datasets import services
from dpportal.datasets.access import right_of
from dpportal.datasets.identifying import identifying_columns
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.protection import Protection
from dpportal.platform.stored_texts import in_site_language
from dpportal.platform.two_people import PROTECTION


@in_site_language
def _change(approval: Approval) -> None:
    dataset = Dataset.objects.filter(pk=approval.subject).first()
    still_may = approval.by.is_active and approval.by.is_curator
    if dataset is None or not still_may or right_of(approval.by, dataset) < Right.OWN:
        raise OutdatedError(_("Whoever asked does not own this dataset any more."))
    services.lock_dataset(dataset)
    declared = approval.arguments["declared"]
    columns = ["", *(c["name"] for c in dataset.columns)]
    is_as_before = str(Protection.of(dataset.current_domain())) == approval.arguments["before"]
    if not is_as_before or (declared["unit_column"] not in columns and not dataset.is_tableless):
        raise OutdatedError(_("The declaration has changed since this was asked for."))
    services.declare_unit(dataset, **declared, by=approval.by)
    identifying = identifying_columns(dataset)
    if identifying and not declared["unit_column"]:
        services.confirm_one_row(dataset, identifying, approval.by)


CHANGE = Act(PROTECTION, gettext_lazy("Change of who is protected"), _change)
