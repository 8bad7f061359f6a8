"""What Gunicorn says goes where the rest of the log goes, in the form that the site has chosen."""

from __future__ import annotations

from typing import Any

from gunicorn.glogging import Logger


class Log(Logger):
    """Gunicorn's, without handlers of its own."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = True
