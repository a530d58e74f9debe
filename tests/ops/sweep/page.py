"""Writer of docs/user/ops.md, from the HPU's registered ops and the accepted differences."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from habana_frameworks.tensorflow.op_registry.text import types_text
from tests.ops.sweep import differences, excluded
from tests.ops.sweep.records import Claim

_HEAD = """# Ops on the HPU

TensorFlow's ops on the HPU, with their types. `make ops` runs each op on generated arguments, valid and invalid. It
compares values and errors with the CPU's, and writes this page.

```python
import tensorflow as tf
from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
print(tf.raw_ops.Softmax(logits=tf.ones([2, 2])).device)
```

```text
/job:localhost/replica:0/task:0/device:HPU:0
```

How to read the tables:

- *Compiled*: the op joins clusters in a `tf.function` or Session, and `jit_compile=True` supports it. An eager op runs
  as its own recipe; its first calls run on the CPU's kernel (`HPU_EAGER_COMPILE_AFTER`).
- *Kernel*: the op runs on the HPU, outside clusters, with a kernel that only copies or computes nothing.
- *Clusters only*: the op is compiled in clusters. Elsewhere TensorFlow places it on the CPU.
- TensorFlow places all other ops, and ops with other types, on the CPU.
- [op_times.md](op_times.md) lists the ops that take longer on the emulator than on TensorFlow's CPU.
- *numbers* are all whole numbers, floats and complex numbers; *floats* are float16, bfloat16, float32 and float64.
"""


def write(claims: Iterable[Claim]) -> str:
    """Returns the page."""
    shown = [claim for claim in claims if claim.op not in excluded.reasons()]
    lines = [_HEAD]
    for title, ways in _WAYS.items():
        group = [claim for claim in shown if _way(claim) == ways]
        lines += [f"## {title}", "", "| ops | types |", "|---|---|"]
        by_types: dict[str, list[str]] = {}
        for claim in group:
            by_types.setdefault(types_text(claim.types), []).append(f"`{claim.op}`")
        lines += [f"| {' '.join(ops)} | {types or 'any'} |" for types, ops in sorted(by_types.items())]
        lines.append("")
    lines += ["## Differences from the CPU", "", "| ops | difference |", "|---|---|"]
    lines += [f"| {_pattern(entry.ops)} | {entry.reason} |" for entry in differences.accepted()]
    lines += ["", "## Not tested here", ""]
    for reason, ops in _excluded(claim.op for claim in claims):
        lines += [*textwrap.wrap(f"- {reason}: " + ", ".join(f"`{op}`" for op in ops), 118, subsequent_indent="  ")]
    return "\n".join(lines) + "\n"


_WAYS = {"Compiled": "compiled", "Kernel": "kernel", "Clusters only": "clusters"}


def _way(claim: Claim) -> str:
    if claim.lowering:
        return "compiled" if claim.kernel else "clusters"
    return "kernel"


def _pattern(ops: str) -> str:
    return "all" if ops == ".*" else f"`{ops}`".replace("|", "\\|")


def _excluded(ops: Iterable[str]) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for op in ops:
        if op in excluded.reasons():
            found.setdefault(excluded.reasons()[op], []).append(op)
    return sorted(found.items())
