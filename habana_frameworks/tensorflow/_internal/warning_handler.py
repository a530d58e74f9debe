"""Output of this package's warnings in programs that do not configure logging."""

from __future__ import annotations

import logging
import sys

_logger = logging.getLogger("habana_frameworks.tensorflow")


class WarningHandler(logging.Handler):
    """Writes "HPU: WARNING: text" to stderr if neither the package's logger nor the root logger has another handler.

    logging.lastResort, which this handler replaces, writes the text alone.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("HPU: %(levelname)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging."""
        if all(handler is self for handler in (*_logger.handlers, *logging.getLogger().handlers)):
            sys.stderr.write(self.format(record) + "\n")


def install() -> None:
    """Adds the handler to the package's logger."""
    _logger.addHandler(WarningHandler())
