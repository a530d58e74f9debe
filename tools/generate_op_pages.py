"""Generates docs/user/op_support.md: which ops run on the HPU, which do not, and why. Requires the built plugin.

generate_op_pages.py --tree     writes the page (make generate)
generate_op_pages.py --check    exit code 1 if --tree would change the page
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from habana_frameworks.tensorflow import op_registry
from habana_frameworks.tensorflow._internal.text import number
from habana_frameworks.tensorflow.op_registry import Refusal, RegisteredOp, kernels, text

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/user/op_support.md"
_WIDTH = 118
_HEAD = """# Does an op run on the HPU?

`hpu ops` answers for each op of TensorFlow 2.15: whether it runs on the HPU, with which types, whether it joins
clusters, what is known of a Gaudi card, and the reason if not.

```console
$ hpu ops Conv2D Where CTCLoss || echo "exit code $?"
Conv2D (nn): on the HPU, compiled
  types             T: floats, int32
  in clusters       yes
  note              HPU_FP32_MATH=bfloat16 rounds the float32 operands
  Gaudi's op list   inferred: T: bfloat16, float32; at most 5 dimensions
  source            Model-References (GitHub, HabanaAI), bf16 recipes of releases 0.15 to 1.14; what they list
                    has a bfloat16 form
Where (array): on the HPU, compiled
  types             T: numbers, bool, qint32, qint8, quint8
  in clusters       yes
  note              the size of the result depends on values; the result stays in its cluster
  Gaudi's op list   unknown: T: bfloat16, bool, float32, int16, int32, int8
CTCLoss (ctc): on the CPU
  why               no-kernel: neither tf2xla nor the plugin has a lowering for it
exit code 1
```

- A name may be a pattern (`hpu ops 'Conv*'`) or a function of TensorFlow's API whose op has its name
  (`hpu ops tf.nn.conv2d`); `--family nn` selects a family; `--json` prints all data. Without
  arguments, `hpu ops` prints the table below.
- Exit code 0: all these ops run on the HPU. 1: some do not. 2: wrong usage, or no such op.
- Python: `habana_frameworks.tensorflow.op_registry.ops()`.
- [ops.md](ops.md) lists the types of each op on the HPU, and differences from the CPU. [placement.md](placement.md)
  explains op lists. `make generate` writes this page.

## Devices

| device (`HPU_BACKEND`) | ops and types |
|---|---|
| `emulator`, `null`, `remote` | kernels and lowerings of the plugin: the table below |
| `pjrt:…` | the same; ops that the PJRT plugin does not compile run on the CPU (rule `compile-error`) |
| `gaudi` | the same; ops without Synapse nodes, such as those in float64, run on the CPU ([gaudi.md](gaudi.md)) |
| any, with `HPU_OP_LIST=gaudi` or `HPU_CARD_RULES=on` | those that the op list gaudi accepts: [Gaudi](#gaudi) |

[ops.md](ops.md) explains *compiled*, *kernel* and *clusters only*. *CPU*: the op runs on the CPU. *No kernel*: neither
the HPU nor the CPU has a kernel.

## Families

A family is the module that TensorFlow generates for its ops (`gen_math_ops`). `habana` are the plugin's own ops
([layers.md](layers.md)), `internal` TensorFlow's ops whose names begin with `_`. The lists below have neither.
"""
_GAUDI = """## <a id="gaudi"></a>Gaudi

The op list of the card, from public sources. The types are known to work. A documented op has no other types. For an
inferred op, other types of the card (such as float16 on Gaudi2) are of unknown support, as are all ops that are missing
here: `HPU_OP_LIST_UNKNOWN` places them. No list refuses constants, calls and control flow.

Published bf16 recipes also name `HabanaRandomUniformWithScale`. The plugin lacks this op, because the public
sources that were searched lack its inputs and attributes. A graph that contains the op does not load.
"""
_OUTSIDE = """## Outside clusters

These ops run on the HPU but join no cluster. Functions with `jit_compile=True` compile those that have a lowering.
"""
_CPU = """## Not on the HPU
"""


def page(ops: Iterable[RegisteredOp]) -> str:
    """Returns the page. Its lists have TensorFlow's public ops; the plugin's own ops are in docs/user/layers.md."""
    ops = list(ops)
    shown = [op for op in ops if not kernels.is_own(op.name) and not op.name.startswith("_")]
    lines = [_HEAD, *_table(text.FAMILY_HEADS, text.families(ops)), "", _GAUDI]
    lines += _table(("support", "types", "ops"), _gaudi_rows(shown))
    lines += ["", _OUTSIDE, *_by_refusal((op.outside_clusters, op.name) for op in shown)]
    lines += ["", _CPU, *_by_refusal((op.off_hpu, op.name) for op in shown)]
    return "\n".join(lines) + "\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _gaudi_rows(ops: Iterable[RegisteredOp]) -> Iterator[tuple[str, str, str]]:
    """Yields a row for each verdict and set of types."""
    found: dict[tuple[str, str], list[str]] = {}
    for op in ops:
        if op.gaudi is not None and op.gaudi.verdict in ("documented", "inferred"):
            rank = f"; at most {op.gaudi.max_rank} dimensions" if op.gaudi.max_rank else ""
            types = text.attributes_text(op.gaudi.types) or "no type attribute"
            found.setdefault((op.gaudi.verdict, types + rank), []).append(op.name)
    for (verdict, types), names in sorted(found.items()):
        yield verdict, types, " ".join(f"`{name}`" for name in names)


def _by_refusal(refused: Iterable[tuple[Refusal | None, str]]) -> Iterator[str]:
    """Yields a list item for each reason, with its ops."""
    found: dict[tuple[str, str], list[str]] = {}
    for refusal, name in refused:
        if refusal is not None:
            found.setdefault((refusal.rule, refusal.reason), []).append(f"`{name}`")
    for (rule, reason), names in sorted(found.items()):
        item = f"- `{rule}`: {reason} ({number(len(names), 'op')}): {', '.join(names)}"
        yield from textwrap.wrap(item, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def main() -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--tree", action="store_true")
    action.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    written = page(op_registry.ops().values())
    if arguments.tree:
        PAGE.write_text(written)
    elif not PAGE.is_file() or PAGE.read_text() != written:
        print(f"{PAGE.relative_to(ROOT)} does not match the built plugin: run `make generate`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
