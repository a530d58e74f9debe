"""Result of a check."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class Level(enum.Enum):
    """Severity. Only an error means that the HPU cannot be used."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the report; `data` is for the JSON output."""

    subject: str
    level: Level
    text: str
    remedy: str = ""
    data: dict[str, Any] = dataclasses.field(default_factory=dict)
