"""Result of a check by the rules of a card, with its text, HTML and JSON forms."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import pathlib
from typing import Any

from habana_frameworks.tensorflow._internal.version import REPORT_BUG
from habana_frameworks.tensorflow.card_check import page, text
from habana_frameworks.tensorflow.card_check.model import CheckedProgram

FORMAT = 2
"""Version of the JSON format; increases when a field changes its meaning or is removed."""


@dataclasses.dataclass(frozen=True)
class CheckResult(CheckedProgram):
    """Result of a check."""

    def summary(self, strict: bool = False) -> str:
        """Returns a summary for a terminal."""
        return text.summarize(self, strict)

    def to_html(self, path: str | os.PathLike[str], strict: bool = False) -> None:
        """Writes a self-contained HTML page."""
        pathlib.Path(path).write_text(page.render(self, strict), encoding="utf-8")

    def to_json(self, strict: bool = False, indent: int | None = None) -> str:
        """Returns a JSON object with the fields of this class, "format" and "verdict"."""
        values = dataclasses.asdict(self)
        values["card"]["sources"] = dict(self.card.sources)
        data = {"format": FORMAT, "verdict": self.verdict(strict).value, **values}
        return json.dumps(data, indent=indent, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    raise TypeError(f"cannot write {type(value).__name__} as JSON; {REPORT_BUG}")
