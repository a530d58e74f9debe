"""Explanation of a program, with its text, HTML and JSON forms."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any

from habana_frameworks.tensorflow.explanation import page, text
from habana_frameworks.tensorflow.explanation.memory import Buffer, ClusterMemory
from habana_frameworks.tensorflow.explanation.model import (
    FORMAT,
    Cluster,
    ClusterSplit,
    Findings,
    Graph,
    Op,
    Refusal,
    Rewrite,
)
from habana_frameworks.tensorflow.explanation.times import InstructionTime
from habana_frameworks.tensorflow.statistics import Eager


@dataclasses.dataclass(frozen=True)
class Explanation(Findings):
    """Placement, clustering and copies of every op of every graph."""

    def summary(self) -> str:
        """Returns a summary for a terminal."""
        return text.summarize(self)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes a self-contained HTML page."""
        pathlib.Path(path).write_text(page.render(self, self.summary()), encoding="utf-8")

    def to_json(self, indent: int | None = None) -> str:
        """Returns a JSON object with the fields of this class and "format". from_json() is the inverse."""
        return json.dumps({"format": FORMAT, **dataclasses.asdict(self)}, indent=indent)


def from_json(text: str) -> Explanation:
    """Inverse of to_json(). Raises ValueError for text that is not an explanation, and for other formats."""
    data = json.loads(text)
    found = data.get("format") if isinstance(data, dict) else type(data).__name__
    if found != FORMAT:
        raise ValueError(
            f"not an explanation of format {FORMAT} (found {found}): recreate it with this release's "
            "`hpu explain --json`"
        )
    graphs = tuple(_graph(entry) for entry in data["graphs"])
    times, memory = data.get("times"), data.get("memory")
    return Explanation(
        graphs,
        Eager(**data["eager"]),
        data["dropped_graphs"],
        None if times is None else tuple(InstructionTime(**time) for time in times),
        None if memory is None else tuple(map(_memory, memory)),
        data.get("backend", ""),
    )


def _memory(data: dict[str, Any]) -> ClusterMemory:
    return ClusterMemory(**{**data, "buffers": tuple(Buffer(**buffer) for buffer in data["buffers"])})


def _graph(data: dict[str, Any]) -> Graph:
    lists: dict[str, Any] = {
        "ops": tuple(Op(**{**op, "dtypes": tuple(op["dtypes"]), "inputs": tuple(op["inputs"])}) for op in data["ops"]),
        "clusters": tuple(Cluster(**cluster) for cluster in data["clusters"]),
        "splits": tuple(ClusterSplit(**{**split, "through": tuple(split["through"])}) for split in data["splits"]),
        "rewrites": tuple(Rewrite(**rewrite) for rewrite in data["rewrites"]),
        "lowered": tuple(Refusal(**refusal) for refusal in data["lowered"]),
    }
    return Graph(**{**data, **lists})
