"""TensorFlow's own text in the messages of errors, without nodes, devices and stack traces."""

from __future__ import annotations

import re

# Lines that TensorFlow adds around the text of a kernel.
_FRAME = re.compile(
    r"Graph execution error|Detected at node|Stack trace|File \"|<stack traces|dummy_file_name|\[\[|\d+ root error"
    r"|\d+ (successful|derived)|Function was cancelled"
)


def own_lines(message: str) -> list[str]:
    """Returns the lines of a message without the names of nodes, of functions and of root errors.

    GatherNd calls the indexed tensor "param", which checks do not.
    """
    text = re.sub(r"\{\{[^}]*\}\} ?| ?\[Op:[^\]]*\]( name: .*)?|\(\d+\) [A-Z_]+: +", "", message)
    text = text.replace("param shape", "shape")
    lines = [re.split(r", node(?: name)?:", line.strip())[0] for line in text.splitlines()]
    return [line for line in lines if line and not _FRAME.match(line)]


def has_line(message: str, line: str) -> bool:
    """Whether a line of own_lines(message) is `line`. A check appends the name of the op that it checks."""
    return any(re.fullmatch(re.escape(line) + r"( \([^ ]+\))?", own) for own in own_lines(message))
