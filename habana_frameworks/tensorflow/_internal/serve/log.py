"""Log of the front process, with the format and settings of the plugin's log (docs/user/logging.md)."""

from __future__ import annotations

import datetime
import logging
import os
import pathlib
import sys
import threading

from habana_frameworks.tensorflow import flags

_NAME = "BACKEND"
_LETTERS = {logging.DEBUG: "D", logging.INFO: "I", logging.WARNING: "W", logging.ERROR: "E", logging.CRITICAL: "C"}
# Python levels for LOG_LEVEL_BACKEND 0 to 6.
_LEVELS = (5, logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL, logging.CRITICAL + 10)


class _Formatter(logging.Formatter):
    """The plugin's line format: "2026-01-31 12:00:00.123456 4711/4712 W BACKEND: text"."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.datetime.fromtimestamp(record.created).isoformat(" ", "microseconds")
        letter = _LETTERS.get(record.levelno, "T")
        text = f"{time} {record.process}/{threading.get_native_id()} {letter} {_NAME}: {record.getMessage()}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def install() -> None:
    """Sends the front process's log to stderr if ENABLE_CONSOLE is set, else to a file."""
    level = flags.log_level_all()
    if os.environ.get("LOG_LEVEL_BACKEND", "").isdecimal():
        level = int(os.environ["LOG_LEVEL_BACKEND"])
    logger = logging.getLogger(__package__)
    logger.setLevel(_LEVELS[min(max(level, 0), len(_LEVELS) - 1)])
    logger.propagate = False
    for handler in logger.handlers:
        logger.removeHandler(handler)
    new = logging.StreamHandler(sys.stderr) if flags.enable_console() else logging.FileHandler(_path(), delay=True)
    new.setFormatter(_Formatter())
    logger.addHandler(new)


def _path() -> pathlib.Path:
    directory = pathlib.Path(flags.habana_logs() or pathlib.Path.home() / ".habana_logs")
    directory.mkdir(parents=True, exist_ok=True)
    return directory / f"{_NAME.lower()}_{os.getpid()}.log"
