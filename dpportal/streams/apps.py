from django.apps import AppConfig


class StreamsConfig(AppConfig):
    name = "dpportal.streams"

    def ready(self) -> None:
        from dpportal.budgets import second_person
        from dpportal.budgets.ledger import BudgetRefusedError
        from dpportal.datasets.services import erasing
        from dpportal.streams import downloads, job_execution  # noqa: F401 (two kinds of job)
        from dpportal.streams.measure import StreamDraftError
        from dpportal.streams.models import Stream
        from dpportal.streams.services import StreamError, forget, request_opening

        erasing.connect(forget, dispatch_uid="streams forget what is erased")
        refusals = (StreamDraftError, StreamError, BudgetRefusedError)
        second_person.declare(second_person.Spender(Stream, request_opening, refusals))
