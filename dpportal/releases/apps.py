from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ReleasesConfig(AppConfig):
    name = "dpportal.releases"
    verbose_name = _("Releases")

    def ready(self) -> None:
        from dpportal.budgets import continuing, second_person
        from dpportal.budgets.ledger import BudgetRefusedError
        from dpportal.datasets import gone_columns
        from dpportal.jobs.memoised import StoredQuestion
        from dpportal.releases import (
            drafts,
            execution,  # noqa: F401 (a kind of job, as the next two)
            gone_choices,
            services,
        )
        from dpportal.releases.models import Release
        from dpportal.releases.products import DraftError
        from dpportal.releases.products.microdata import simulations  # noqa: F401
        from dpportal.releases.products.queries import strategies
        from mechanisms.matrix.mechanism import set_keeper

        set_keeper(strategies.StoredInputs())
        refusals = (DraftError, services.ReleaseError, BudgetRefusedError)
        spender = second_person.Spender(Release, drafts.plan_of, services.request_release, refusals)
        second_person.declare(spender)
        continuing.declare_drafts("releases:review", Release, "release_id")
        gone_columns.declare(gone_choices.forget, Release, StoredQuestion)
        self._listen()
        self._watch()

    def _listen(self) -> None:
        """To what is said of datasets, which stands in the files of their releases, and to the end of their records."""
        from django.db.models.signals import post_delete, post_save

        from dpportal.accounts.models import User
        from dpportal.budgets import ledger
        from dpportal.datasets.models import Dataset, PublicDescription
        from dpportal.datasets.services import erasing
        from dpportal.releases import tasks

        post_save.connect(tasks.dataset_saved, sender=Dataset)
        post_save.connect(tasks.person_saved, sender=User)
        ledger.charged.connect(tasks.budget_charged)
        erasing.connect(tasks.records_erased, dispatch_uid="why releases failed goes with the records")
        for changed in (post_save, post_delete):
            changed.connect(tasks.description_saved, sender=PublicDescription)

    def _watch(self) -> None:
        """What was confirmed, measured and published."""
        from dpportal.history.watched import watch
        from dpportal.releases import file_imprints  # noqa: F401 (declares what its files are)
        from dpportal.releases.models import Release

        own = ("title", "product", "columns", "parameters", "purpose", "people", "publishes_itself")
        measured = ("measured_at", "measurement", "measurement_sha256", "true_counts", "read_from", "result")
        paid = ("amount", "priced_in", "charge", "domain_version")
        watch(Release, *Release.CONFIRMED, *paid, *own, *measured, rows=Release.IS_CONFIRMED)
