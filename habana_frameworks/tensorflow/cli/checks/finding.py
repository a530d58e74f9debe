"""What a check says."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class Level(enum.Enum):
    """How bad it is: only an error keeps the HPU from being used."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the doctor's report; `data` is for programs."""

    subject: str
    level: Level
    text: str
    remedy: str = ""
    data: dict[str, Any] = dataclasses.field(default_factory=dict)
