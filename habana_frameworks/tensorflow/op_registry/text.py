"""Text of ops for a terminal and for pages."""

from __future__ import annotations

import collections
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from habana_frameworks.tensorflow._internal.text import table
from habana_frameworks.tensorflow.op_registry.gaudi import NOT_LISTED
from habana_frameworks.tensorflow.op_registry.model import AttributeTypes, GaudiSupport, Place, RegisteredOp

_WIDTH = 110
_LABEL_WIDTH = 18
_FLOATS = ("bfloat16", "float16", "float32", "float64")
_WHOLE = ("int16", "int32", "int4", "int64", "int8", "uint16", "uint32", "uint4", "uint64", "uint8")
_USUAL = ("int16", "int32", "int64", "int8", "uint16", "uint32", "uint64", "uint8")
_COMPLEX = ("complex128", "complex64")
_FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
_PLACES = {
    Place.COMPILED: "on the HPU, compiled",
    Place.CLUSTERS: "on the HPU in clusters; elsewhere on the CPU",
    Place.KERNEL: "on the HPU, outside clusters",
    Place.CPU: "on the CPU",
    Place.NONE: "nowhere: no kernel",
}
_ONLY_JIT = "on the HPU with jit_compile=True; elsewhere on the CPU"


def types_text(types: Sequence[str]) -> str:
    """Abbreviates groups of dtypes by one word each; empty for none."""
    left = set(types) - {"resource", "variant", "int4", "uint4"}
    words = []
    if left >= {*_FLOATS, *_USUAL, *_COMPLEX}:
        words.append("numbers")
        left -= {*_FLOATS, *_WHOLE, *_COMPLEX}
    for word, group in (("floats", _FLOATS), ("whole numbers", _USUAL), ("complex", _COMPLEX), ("float8", _FLOAT8)):
        if left >= {*group}:
            words.append(word)
            left -= {*group}
    return ", ".join([*words, *sorted(left)])


def attributes_text(types: AttributeTypes) -> str:
    """Returns the types of all attributes: "T: floats; Tidx: int32, int64"."""
    return "; ".join(f"{name}: {types_text(allowed) or 'any'}" for name, allowed in types.items())


def describe(op: RegisteredOp) -> Iterator[str]:
    """Yields lines that answer whether an op runs on the HPU, with which types, and why not."""
    only_jit = op.place is Place.CLUSTERS and op.outside_clusters is not None
    yield f"{op.name} ({op.family}): {_ONLY_JIT if only_jit else _PLACES[op.place]}"
    if op.off_hpu is not None:
        yield from _row("why", f"{op.off_hpu.rule}: {op.off_hpu.reason}")
        return
    yield from _row("types", attributes_text(op.types) or "the op has no type attribute")
    outside = op.outside_clusters
    yield from _row("in clusters", f"no: {outside.rule}: {outside.reason}" if outside else "yes")
    for note in op.notes:
        yield from _row("note", note)
    if op.gaudi is not None:
        yield from _row("Gaudi's op list", gaudi_text(op.gaudi))
        if op.gaudi.source:
            yield from _row("source", op.gaudi.source)


def gaudi_text(gaudi: GaudiSupport) -> str:
    """Returns verdict, types and rank: "documented: T: bfloat16, float32; at most 5 dimensions"."""
    if gaudi.verdict == NOT_LISTED:
        return "lists do not apply to constants, calls, control flow and the plugin's own ops"
    parts = [f"{name}: {types_text(allowed) or 'none'}" for name, allowed in gaudi.types.items()]
    parts += [f"at most {gaudi.max_rank} dimensions"] if gaudi.max_rank else []
    return ": ".join([gaudi.verdict, *(["; ".join(parts)] if parts else [])])


def rows(ops: Iterable[RegisteredOp]) -> Iterator[str]:
    """Yields a table with a line for each op."""
    cells = []
    for op in ops:
        refusal = op.off_hpu or op.outside_clusters
        verdict = op.gaudi.verdict if op.gaudi else "on the CPU"
        cells.append((op.name, op.family, op.place.value, verdict, refusal.rule if refusal else "in clusters"))
    yield from table(("op", "family", "place", "Gaudi's op list", "rule"), cells)


def families(ops: Iterable[RegisteredOp]) -> list[tuple[str, ...]]:
    """Returns the number of ops by family and place, as texts: families with most HPU ops first, then the totals."""
    counts: dict[str, collections.Counter[Place]] = collections.defaultdict(collections.Counter)
    for op in ops:
        counts[op.family][op.place] += 1
    total: collections.Counter[Place] = sum(counts.values(), collections.Counter())
    order = sorted(counts, key=lambda name: (-sum(n for place, n in counts[name].items() if place.is_hpu), name))
    return [
        (name, str(sum(found.values())), *(str(found[place]) for place in Place))
        for name, found in [*((name, counts[name]) for name in order), ("all", total)]
    ]


FAMILY_HEADS = ("family", "ops", *(place.value for place in Place))


def _row(label: str, text: str) -> Iterator[str]:
    indent = " " * (_LABEL_WIDTH + 2)
    yield from textwrap.wrap(text, _WIDTH, initial_indent=f"  {label:{_LABEL_WIDTH}}", subsequent_indent=indent)
