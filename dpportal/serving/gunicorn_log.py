"""What Gunicorn says goes where the rest of the log goes, in the form that the site has chosen."""

from __future__ import annotations

from gunicorn.config import Config
from gunicorn.glogging import Logger


class Log(Logger):  # type: ignore[misc]
    """Gunicorn's, without handlers of its own."""

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = True
