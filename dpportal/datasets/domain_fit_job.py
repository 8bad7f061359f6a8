"""The look at the fit, run by a worker: its answer goes to a file beside the records, and nowhere else."""

from __future__ import annotations

from dpportal.datasets import records, stored_fits
from dpportal.datasets.models import Dataset, DomainVersion, Fit
from dpportal.jobs.claims import Claim, JobState
from dpportal.jobs.memoised import Topic, key_of
from dpportal.jobs.runner import JobKind, register
from dpportal.tables.faults import SourceFault
from mechanisms.domain import Domain

FIT = Topic("fit", 2)


def fit_digest(dataset: Dataset, version: DomainVersion, domain: Domain) -> str:
    """The digest of all that a fit depends on: table, reading options, declarations, whose rows belong together."""
    return key_of(
        FIT.asks(
            table=dataset.table,
            options=records.options_of(dataset).settled().to_json(),
            domain=domain.to_json(),
            persons=[version.unit_column, version.max_rows, version.ignore_case],
        )
    )


class Fits(JobKind[Fit]):
    """Looks at the fit, whose job says no more than that it was done."""

    name = "Fit"
    model = Fit
    related = ("dataset",)
    too_long = "The look took too long and was stopped. Declare fewer columns and look again."
    refusals = (SourceFault,)

    def work(self, job: Fit, claim: Claim) -> None:
        _look(job.dataset, claim)


FITS = register(Fits())


def _look(dataset: Dataset, claim: Claim) -> None:
    version = dataset.current_domain()
    if version is None or not dataset.has_records:
        if dataset.state == Dataset.State.ERASED:
            records.erase(dataset)  # an attempt that died may have written after the records were erased
        claim.step("")  # how far it came says how many rows there were
        claim.finish(JobState.CANCELLED)
        return
    claim.step("looking")
    domain = version.domain()
    digest = fit_digest(dataset, version, domain)
    stored_fits.keep(dataset.pk, digest, records.fit(dataset, version, domain, claim.advance))
    # Who erases first says so and then deletes: a file that came after that is deleted here.
    if not Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.STORED).exists():
        stored_fits.forget(dataset.pk, digest)
    claim.write(asked=digest)
    claim.finish(JobState.DONE)
