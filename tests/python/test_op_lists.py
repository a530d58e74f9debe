"""Format of the op lists: errors name the position in the file."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from tests.support.processes import ROOT

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools/generate_op_lists.py"))
TEXT = (ROOT / "plugin/op_lists/gaudi.yaml").read_text()


def test_the_lists_of_the_tree_are_right() -> None:
    lists = {found.name: found for found in TOOL["read"]()}
    assert sorted(lists) == ["emulator", "gaudi"]
    assert lists["emulator"].accepts_all and not lists["gaudi"].accepts_all
    absolute = next(entry for entry in lists["gaudi"].entries if entry.op == "Abs")
    assert (absolute.verdict, absolute.source, absolute.max_rank) == ("documented", "table", 5)
    assert absolute.types == {"T": ["bfloat16", "float32", "int32"]}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Acos: {T: [float32]}", "Acos: {T: [float]}", "group 1: Acos: T: 'float' is not one of float32"),
        ("Acos: {T: [float32]}", "Tanh: {T: [float32]}", "listed twice: Tanh"),
        ("verdict: unknown", "verdict: guessed", "verdict 'guessed' is not one of documented, inferred, unknown"),
        ("source: logs", "source: rumour", "source 'rumour' is not one of table"),
        ("max_rank: 5", "rank: 5", r"group 1: unknown fields \['rank'\]"),
    ],
)
def test_faults(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(ValueError, match=message):
        TOOL["parse"](TEXT.replace(old, new))
