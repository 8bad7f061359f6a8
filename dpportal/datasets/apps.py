from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import gettext_lazy as _


class DatasetsConfig(AppConfig):
    name = "dpportal.datasets"
    verbose_name = _("Datasets")

    def ready(self) -> None:
        """Whatever starts, a page included, refuses an origin to which no page could send."""
        from dpportal.accounts import bell
        from dpportal.approvals import acts

        # Models and jobs.
        from dpportal.datasets import (  # noqa: F401
            approved_protection,
            area_map,
            begun_uploads,
            domain_fit_job,
            followed_table,
            frozen_declarations,
            import_job,
            keys,
            left_traces,
            near_duplicates,
            notifications,
            receipts,
        )

        bell.add(notifications.news)
        acts.declare(approved_protection.CHANGE)
        acts.declare(followed_table.FOLLOW)
        self._watch()
        if settings.DIRECT_UPLOADS:
            from dpportal.platform.objects import multipart

            multipart.require_origin()

    def _watch(self) -> None:
        """Whose a dataset is and where its records lie, who else may what, and what everyone sees of it."""
        from dpportal.datasets import keys
        from dpportal.datasets.area_map import AreaMap
        from dpportal.datasets.keys import DatasetKey
        from dpportal.datasets.models import Dataset, PublicDescription, Share
        from dpportal.datasets.near_duplicates import TableSketch
        from dpportal.datasets.receipts import ErasureReceipt
        from dpportal.history.watched import Forgettable, watch

        named = ("owner", "name", "description", "state", "created_at", "erase_on")
        files = ("source", "relations", "file_name", "upload", "table")
        reading = ("options", "reading_frozen", "unit_declared")
        people = ("fingerprint", "granted_fingerprint", "duplicate_of", "same_people")
        # Names of columns may be the first record of a file without a line of names.
        of_records = ("megabytes", "columns", "one_row_columns", "filled_columns")
        # Sealed for their column, so that those of another row can be opened in their place.
        sealed = ("rows", "facts", "column_looks")
        read = Forgettable((*of_records, *sealed), keys.opened)
        watch(Dataset, *named, *files, *reading, *people, forgettable=read)
        watch(DatasetKey, "is_for_all", "created_at")
        watch(TableSketch, "content")
        watch(ErasureReceipt, "document", "key_gone_at")
        watch(Share, "dataset", "person", "right", "at")
        watch(AreaMap, "dataset", "column", "outlines", "credit")
        about = ("text", "keywords", "place", "first", "last", "publisher", "contact", "licence")
        watch(PublicDescription, "shown", *about)
