"""Second budgets of known tables, changes of who is protected and of offered tables wait for a second administrator."""

from decimal import Decimal

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

from dpportal.accounts.models import AuditEntry, Role
from dpportal.approvals.acts import UnapprovedError
from dpportal.approvals.models import Approval
from dpportal.budgets.forms import protection_digest
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services as datasets
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from dpportal.platform.two_people import TwoPeople
from dpportal.tables.connections.models import Connection, SharedTable
from tests.dpportal import building
from tests.dpportal.approvals.conftest import answers, desk_of

State = Approval.State
pytestmark = pytest.mark.slow


class TestKnownTables:
    """A second budget for a table that somebody holds already."""

    @pytest.fixture
    def known(self, dataset, other_curator, two_people) -> Dataset:
        """The same table as that of `dataset`, of somebody else."""
        same = building.stored_dataset(other_curator, "The same")
        Dataset.objects.filter(pk=same.pk).update(fingerprint=dataset.fingerprint)
        same.refresh_from_db()
        return same

    @pytest.fixture
    def asked(self, known, dataset, administrator) -> Approval:
        form = {
            "protects": protection_digest(known),
            "amount": "0.5",
            "reason": "Two studies",
            "knowing": [str(dataset.pk)],
        }
        page = desk_of(administrator).post(reverse("grant", args=[known.pk]), form, follow=True)
        assert "Nothing is granted before it is approved" in page.text
        return Approval.objects.get()

    def test_it_is_granted_once_a_second_administrator_approved(self, asked, known, administrator, second):
        assert not known.budgets.exists() and "Small table" in asked.summary
        answers(second, asked)
        assert known.budgets.get().total == Decimal("0.5")
        line = LedgerEntry.objects.get(dataset=known)
        assert (line.by, line.reason) == (administrator, "Two studies (approved by second)")

    def test_who_asked_cannot_approve(self, asked, known, administrator):
        assert "You asked for this yourself" in answers(administrator, asked).text
        assert not known.budgets.exists()

    def test_no_code_grants_it_without(self, known, administrator):
        with pytest.raises(BudgetRefusedError, match="needs a second person"):
            building.granted(known, administrator, knowing=True)

    @pytest.mark.parametrize("change", ["protection", "administrator", "deleted"])
    def test_what_changed_meanwhile_is_not_granted(
        self, asked, known, administrator, second, change, settings
    ):
        if change == "protection":
            settings.TWO_PEOPLE = TwoPeople(frozenset({"known-tables"}))
            datasets.declare_unit(known, neighbours="replace-one", unit_column="", max_rows=1)
        if change == "administrator":
            administrator.role = Role.CURATOR
            administrator.save()
        if change == "deleted":
            Dataset.objects.filter(pk=known.pk).update(state=Dataset.State.ERASED)
        assert "Nothing was done" in answers(second, asked).text
        assert not known.budgets.exists() and Approval.objects.get().state == State.OUTDATED

    def test_a_first_budget_of_a_new_table_needs_nobody_else(self, two_people, curator, administrator):
        own = building.stored_dataset(curator, "Another")
        form = {"protects": protection_digest(own), "amount": "0.5", "reason": "A study"}
        desk_of(administrator).post(reverse("grant", args=[own.pk]), form)
        assert own.budgets.get().total and not Approval.objects.exists()


class TestProtection:
    """A change of who is protected, once a budget was spent on others."""

    @pytest.fixture
    def promised(self, dataset, two_people) -> Dataset:
        building.requested_release(dataset)
        return dataset

    @pytest.fixture
    def asked(self, promised) -> Approval:
        form = {"neighbours": "replace-one", "unit_column": "", "max_rows": "1"}
        page = desk_of(promised.owner).post(reverse("datasets:unit", args=[promised.pk]), form, follow=True)
        assert "Nothing changes before it is approved" in page.text
        assert "This waits for an administrator to approve" in page.text
        return Approval.objects.get()

    def test_it_changes_once_an_administrator_approved(self, asked, promised, second):
        assert promised.current_domain().neighbours == "add-remove"
        answers(second, asked)
        assert promised.current_domain().neighbours == "replace-one"
        assert AuditEntry.objects.get(action="approved as second person").by == second

    def test_no_code_changes_it_without(self, promised):
        with pytest.raises(DatasetError, match="needs a second person"):
            datasets.declare_unit(promised, neighbours="replace-one", unit_column="", max_rows=1)
        datasets.declare_unit(promised, neighbours="add-remove", unit_column="", max_rows=1)

    def test_an_owner_who_became_an_administrator_cannot_approve(self, asked, promised):
        owner = promised.owner
        owner.role = Role.ADMINISTRATOR
        owner.save()
        assert "You asked for this yourself" in answers(owner, asked).text
        assert promised.current_domain().neighbours == "add-remove"

    @pytest.mark.parametrize("change", ["owner", "declaration"])
    def test_what_changed_meanwhile_is_not_done(self, asked, promised, second, settings, change):
        if change == "owner":
            promised.owner.role = Role.ANALYST
            promised.owner.save()
        else:
            settings.TWO_PEOPLE = TwoPeople()
            datasets.declare_unit(promised, neighbours="add-remove", unit_column="colour", max_rows=1)
        assert "Nothing was done" in answers(second, asked).text
        assert promised.current_domain().neighbours == "add-remove"

    def test_before_anything_was_promised_it_needs_nobody(self, dataset, two_people):
        form = {"neighbours": "replace-one", "unit_column": "", "max_rows": "1"}
        desk_of(dataset.owner).post(reverse("datasets:unit", args=[dataset.pk]), form)
        assert dataset.current_domain().neighbours == "replace-one" and not Approval.objects.exists()


class TestDefinitions:
    """Another query behind an offered table, or another word for it."""

    @pytest.fixture
    def table(self, db, two_people) -> SharedTable:
        connection = Connection.objects.create(
            name="Register",
            kind="postgresql",
            host="db.example",
            port=5432,
            database="d",
            user="u",
            credential="c",
        )
        return SharedTable.objects.create(
            connection=connection, title="Visits", schema="public", table="visits"
        )

    def sends(self, person, offered: SharedTable, **changes: str):
        """The admin's page of a connection, with changes of its one table."""
        desk = desk_of(person)
        address = reverse("admin:connections_connection_change", args=[offered.connection_id])
        page = desk.get(address)
        form = {
            name: value
            for shown in (
                page.context["adminform"].form,
                *page.context["inline_admin_formsets"][0].formset.forms,
            )
            for bound in shown
            for name, value in [(bound.html_name, bound.value())]
            if value not in (None, False, [])
        }
        form |= {"tables-TOTAL_FORMS": 1, "tables-INITIAL_FORMS": 1}
        return desk.post(address, {**form, **{f"tables-0-{k}": v for k, v in changes.items()}}, follow=True)

    @pytest.fixture
    def asked(self, table, administrator) -> Approval:
        page = self.sends(
            administrator, table, table="", query="SELECT 1", vouched="One row a patient.", title="V"
        )
        assert "until a second administrator has approved the change" in page.text
        return Approval.objects.get()

    def test_the_admin_asks_and_leaves_the_table_as_it_is(self, asked, table):
        table.refresh_from_db()
        assert (table.table, table.query, table.vouched, table.title) == ("visits", "", "", "V")
        assert "table: visits → –; query: – → SELECT 1" in asked.summary
        assert not AuditEntry.objects.filter(action="vouched for a table").exists()

    def test_it_changes_once_a_second_administrator_approved(self, asked, table, administrator, second):
        answers(second, asked)
        table.refresh_from_db()
        assert (table.table, table.query, table.vouched) == ("", "SELECT 1", "One row a patient.")
        assert AuditEntry.objects.get(action="changed an offered table").by == administrator
        assert AuditEntry.objects.get(action="approved as second person").by == second

    def test_who_asked_cannot_approve_nor_send_it_again_as_done(self, asked, table, administrator):
        assert "You asked for this yourself" in answers(administrator, asked).text
        self.sends(administrator, table, table="", query="SELECT 1", vouched="One row a patient.")
        table.refresh_from_db()
        assert table.query == "" and Approval.objects.count() == 1

    def test_no_code_changes_it_without(self, table):
        table.query, table.table = "SELECT 2", ""
        with pytest.raises(UnapprovedError):
            table.save()

    def test_what_changed_meanwhile_is_not_done(self, asked, table, second):
        SharedTable.objects.update(table="others")
        assert "Nothing was done" in answers(second, asked).text
        table.refresh_from_db()
        assert (table.table, table.query) == ("others", "")

    def test_a_title_needs_nobody(self, table, administrator):
        self.sends(administrator, table, title="Visits of 2026")
        table.refresh_from_db()
        assert table.title == "Visits of 2026" and not Approval.objects.exists()


@pytest.mark.parametrize(
    "variables",
    [
        {"DPPORTAL_TWO_PEOPLE": "spend"},
        {"DPPORTAL_TWO_PEOPLE_EPSILON": "much"},
        {"DPPORTAL_TWO_PEOPLE_RHO": "-1"},
        {"DPPORTAL_TWO_PEOPLE_EPSILON": "NaN"},
        {"DPPORTAL_TWO_PEOPLE_DAYS": "0"},
        {"DPPORTAL_TWO_PEOPLE_DAYS": "366"},
    ],
)
def test_what_cannot_be_meant_is_refused_at_start(variables):
    with pytest.raises(ImproperlyConfigured, match="DPPORTAL_TWO_PEOPLE"):
        TwoPeople.of(variables)


def test_without_a_wish_no_act_needs_anybody():
    assert TwoPeople.of({}) == TwoPeople()
    assert TwoPeople.of({"DPPORTAL_TWO_PEOPLE": "spends, protection"}).acts == {"spends", "protection"}
