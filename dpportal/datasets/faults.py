"""Why something cannot be done to a dataset."""


class DatasetError(Exception):
    """Something that cannot be done now; the message says why and what to do."""
