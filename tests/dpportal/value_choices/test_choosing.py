"""A column's values are chosen once, paid for with ε and δ, and declared; whatever dies on the way."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.utils import timezone

from dpportal.accounts.models import Role, User
from dpportal.budgets import charge_journal, ledger
from dpportal.budgets.models import Budget
from dpportal.datasets import records, services as datasets, sharing
from dpportal.datasets.declared import declared_of
from dpportal.datasets.models import Dataset, Right
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState
from dpportal.platform import storage
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from dpportal.value_choices import execution, keeping, services
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from dpportal.value_choices.services import ChoiceError
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building

EPSILON, DELTA = Decimal("0.5"), Decimal("0.0000001")
# Two that everybody keeps at this cost, one that nobody may, and one that is no text of a list.
TOWNS = ["Ulm"] * 200 + ["Köln"] * 90 + ["Hamlet"] + ["Other"] * 9


@pytest.fixture
def towns(curator, administrator) -> Dataset:
    """Three hundred people of four towns, which nobody declared, with a budget of ε = 1 and δ = 2 · 10⁻⁷."""
    dataset = building.stored_dataset(curator)
    with storage.scratch_folder() as scratch:
        path = scratch / "table.parquet"
        pq.write_table(
            pa.table({"town": TOWNS, "age": [str(number % 90) for number in range(len(TOWNS))]}), path
        )
        dataset.table = storage.keep_under_random_name(path, records.folder(dataset.pk))
    dataset.columns = [{"name": "town", "kind": "text"}, {"name": "age", "kind": "integer"}]
    dataset.save()
    datasets.declare_all(dataset, [Integer("age", lower=0, upper=99, width=10)], ignored=["colour"])
    terms = ledger.GrantTerms(delta=2 * DELTA)
    ledger.grant(dataset, Decimal(1), definition="pure", reason="Towns", by=administrator, terms=terms)
    dataset.refresh_from_db()
    return dataset


def confirmed(
    dataset: Dataset, column: str = "town", delta: Decimal = DELTA, by: User | None = None
) -> ValueChoice:
    plan = services.plan_of(dataset, EPSILON, delta)
    reviewed = services.reviewed_as(dataset, column, plan)
    return services.request(dataset, column, plan, reviewed=reviewed, by=by or dataset.owner)


def amounts(dataset: Dataset) -> tuple[Decimal, ...]:
    """(spent, reserved) of ε and then of δ."""
    budget = Budget.objects.get(dataset=dataset)
    return budget.spent, budget.reserved, budget.delta_spent, budget.delta_reserved


def test_values_that_enough_people_have_are_declared_and_paid_for(towns):
    choice = confirmed(towns)
    assert amounts(towns) == (0, EPSILON, 0, DELTA)
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert (choice.state, choice.kept, choice.undeclared) == (JobState.DONE, ["Köln", "Ulm"], "")
    assert declared_of(towns)["town"] == Categorical("town", values=("Köln", "Ulm"))
    assert amounts(towns) == (EPSILON, 0, DELTA, 0)


def test_a_second_run_draws_nothing(towns, monkeypatch):
    choice = confirmed(towns)
    CHOICES.run(choice.pk)
    monkeypatch.setattr(records, "people_by_value", None)
    assert not CHOICES.run(choice.pk)
    assert amounts(towns) == (EPSILON, 0, DELTA, 0)


def test_a_worker_that_dies_before_it_commits_leaves_nothing_but_its_reservation(towns, monkeypatch):
    choice = confirmed(towns)
    with monkeypatch.context() as dying:
        dying.setattr(execution, "_commit", died)
        with pytest.raises(KeyboardInterrupt):
            CHOICES.work(CHOICES.row(choice.pk), claimed(choice))
    assert amounts(towns) == (0, EPSILON, 0, DELTA) and not charge_journal.keys(towns.pk)


def test_what_was_remembered_before_a_worker_died_is_taken_and_not_drawn_anew(towns, monkeypatch):
    """As if it was killed between the journal's file and the end of its transaction."""
    choice = confirmed(towns)
    remembered = json.dumps(["Only this"])
    charge_journal.settle(choice.charge, {execution.VALUES: remembered})
    monkeypatch.setattr(records, "people_by_value", None)
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert (choice.state, choice.kept) == (JobState.DONE, ["Only this"])
    assert amounts(towns) == (EPSILON, 0, DELTA, 0)


def test_a_choice_that_fails_gives_its_budget_back(towns):
    choice = confirmed(towns)
    Dataset.objects.filter(pk=towns.pk).update(state=Dataset.State.ERASED)
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert choice.state == JobState.FAILED and choice.kept is None
    assert amounts(towns) == (0, 0, 0, 0)


def test_who_may_not_declare_any_more_has_no_values_chosen(towns, other_curator):
    """A right to release alone declares no column."""
    sharing.share(towns, other_curator.username, Right.OWN, towns.owner)
    choice = confirmed(towns, by=other_curator)
    sharing.share(towns, other_curator.username, Right.RELEASE, towns.owner)
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert (choice.state, choice.kept) == (JobState.FAILED, None)
    assert amounts(towns) == (0, 0, 0, 0)
    with pytest.raises(ChoiceError, match="does not own"):
        confirmed(towns, by=other_curator)


@pytest.mark.parametrize("lost", [{"role": Role.ANALYST}, {"is_active": False}])
def test_who_lost_the_role_while_the_job_ran_has_no_values_chosen(towns, monkeypatch, lost):
    choice, count = confirmed(towns), records.people_by_value

    def counted(*given):
        for name, value in lost.items():
            setattr(towns.owner, name, value)
        towns.owner.save()
        yield from count(*given)

    monkeypatch.setattr(records, "people_by_value", counted)
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert (choice.state, choice.kept) == (JobState.FAILED, None)
    assert amounts(towns) == (0, 0, 0, 0)


def test_what_a_worker_that_slept_has_paid_for_is_taken_up_by_the_sweep(towns):
    """As if the job was given up while the memory could not be reached, and a worker remembered its choice then."""
    choice = confirmed(towns)
    ValueChoice.objects.filter(pk=choice.pk).update(state=JobState.FAILED)
    charge_journal.settle(choice.charge, {execution.VALUES: json.dumps(["Only this"])})
    execution.void_left()
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert (choice.state, choice.kept) == (JobState.DONE, ["Only this"])
    assert amounts(towns) == (EPSILON, 0, DELTA, 0)


def test_a_worker_that_wakes_late_leaves_what_was_declared_since(towns, monkeypatch):
    choice, declare, woken = confirmed(towns), execution._declare, []
    since = Categorical("town", values=("Elsewhere", "Ulm"))

    def late(choice_id, claim):
        """It wakes once another worker has declared what was chosen, and the curator has declared it anew."""
        if not woken:
            woken.append(claim.fence)
            ValueChoice.objects.update(lease_until=timezone.now())
            CHOICES.run(choice_id)
            assert ValueChoice.objects.get().state == JobState.DONE
            datasets.declare(towns, "town", since, by=towns.owner)
        declare(choice_id, claim)

    monkeypatch.setattr(execution, "_declare", late)
    CHOICES.run(choice.pk)
    assert woken == [1]
    assert declared_of(towns)["town"] == since


def test_a_choice_that_the_memory_lost_is_given_up_and_not_drawn_anew(towns, monkeypatch):
    choice = confirmed(towns)
    charge_journal.settle(choice.charge, {})
    monkeypatch.setattr(records, "people_by_value", None)
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert choice.state == JobState.FAILED and "Choose anew" in choice.failure
    assert amounts(towns) == (EPSILON, 0, DELTA, 0)


def test_rho_pays_for_a_choice_with_a_delta_besides(towns, administrator):
    other = building.stored_dataset(towns.owner, "In rho")
    terms = ledger.GrantTerms(delta=DELTA)
    ledger.grant(other, Decimal(1), definition="zcdp", reason="Rho", by=administrator, terms=terms)
    plan = services.plan_of(other, Decimal("0.125"), DELTA)
    assert plan.epsilon == EPSILON
    reviewed = services.reviewed_as(other, "colour", plan)
    choice = services.request(other, "colour", plan, reviewed=reviewed, by=other.owner)
    CHOICES.run(choice.pk)
    choice.refresh_from_db()
    assert choice.kept == ["blue", "green", "red"] and str(choice.loss) == "ρ = 0.125, δ = 10⁻⁷"


def test_a_budget_without_delta_pays_for_no_choice(towns):
    with pytest.raises(
        ledger.BudgetRefusedError, match=r"needs δ = 3 × 10⁻⁷; Small table has δ = 2 × 10⁻⁷ left"
    ):
        confirmed(towns, delta=3 * DELTA)
    assert amounts(towns) == (0, 0, 0, 0) and not ValueChoice.objects.exists()


def test_what_changed_since_it_was_read_is_not_confirmed(towns):
    plan = services.plan_of(towns, EPSILON, DELTA)
    reviewed = services.reviewed_as(towns, "town", plan)
    datasets.declare_unit(towns, neighbours="add-remove", unit_column="age", max_rows=2)
    with pytest.raises(ChoiceError, match="declaration changed"):
        services.request(towns, "town", plan, reviewed=reviewed, by=towns.owner)


def test_values_of_the_column_of_persons_and_of_numbers_are_not_chosen(towns):
    datasets.declare_unit(towns, neighbours="add-remove", unit_column="town", max_rows=1)
    assert "names people" in services.why_not(towns, "town")
    assert "not as categories" in services.why_not(towns, "age")


def test_one_choice_of_a_column_at_a_time(towns):
    confirmed(towns)
    with pytest.raises(ChoiceError, match="being chosen already"):
        confirmed(towns)


def test_later_releases_say_what_the_values_cost(towns):
    CHOICES.run(confirmed(towns).pk)
    release = building.complete_draft(towns)
    Release.objects.filter(pk=release.pk).update(columns=["town"])
    release.refresh_from_db()
    building.confirm(release)
    RELEASES.run(release.pk)
    release.refresh_from_db()
    [about] = release.artifacts.filter(name="release.json")
    with storage.local_path(about.stored) as path:
        facts = json.loads(path.read_text())
    [told] = facts["domain"]["values_chosen_privately"]
    assert facts["disclosure"]["values_chosen_privately"] == [told]
    assert told.pop("of_the_same_budget") is True
    assert told == {"column": "town", "definition": "pure", "amount": "0.50", "delta": "0.0000001"}
    assert "were chosen privately, at ε = 0.50, δ = 10⁻⁷ besides" in facts["statement"]


def test_what_no_list_can_hold_is_left_out_of_what_was_kept():
    kept = ["b", "Other", "missing", "a", "a ", "e\u0301", "é", " "]
    assert keeping.declarable([*kept, "b\u202ea"]) == ["a", "b", "e\u0301"]
    assert len(keeping.declarable(str(number) for number in range(3000))) == keeping.MOST


def died(*_given, **_named):
    raise KeyboardInterrupt


def claimed(choice: ValueChoice):
    claim = claims.claim(ValueChoice, choice.pk, CHOICES.name)
    assert claim is not None
    return claim
