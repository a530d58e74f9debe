"""Text summary of a check for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from habana_frameworks.tensorflow._internal.text import number, shortened, shown_path, size
from habana_frameworks.tensorflow.card_check.model import CheckedProgram, Level, Verdict, Violation
from habana_frameworks.tensorflow.card_check.origins import Line
from habana_frameworks.tensorflow.explanation import Rule

_WIDTH = 110
_MAX_OPS = 3
_MAX_UNKNOWN = 12


def summarize(result: CheckedProgram, strict: bool) -> str:
    return "\n".join(_lines(result, strict)) + "\n"


def headline(result: CheckedProgram, strict: bool) -> str:
    """Returns the verdict in one sentence."""
    name = f"{result.card.type} ({result.card.product})"
    verdict = result.verdict(strict)
    if verdict is Verdict.NOTHING_CHECKED:
        return (
            f"{name}: nothing was checked: no graph had an op for the card (eager ops are in no graph: use tf.function)"
        )
    if verdict is Verdict.PASSES:
        unknown = result.unknown_ops
        but = f"; the support of {number(len(unknown), 'op type')} is unknown" if unknown else ""
        but += "" if result.compiler else "; the card's compiler was not checked"
        return f"{name}: the program passes{but}"
    parts = [number(len(result.failures), "failure")] if result.failures else []
    if strict and result.unknown_ops:
        parts.append(f"{number(len(result.unknown_ops), 'op type')} of unknown support")
    return f"{name}: the program fails: {', '.join(parts)}"


def compiler(result: CheckedProgram) -> str:
    """Describes what the card's compiler did."""
    found = result.compiler
    if found is None:
        return "not checked; --synapse LIBRARY compiles the clusters with SynapseAI"
    refused = f"refused {number(len(found.refused), 'cluster')} in whole or in part" if found.refused else "no refusals"
    return f"{refused} ({shortened(found.target, _WIDTH // 2)})"


def recipes(result: CheckedProgram) -> str:
    """Describes the recipes that the program needed."""
    by = "the card's compiler" if result.compiler else "the compiler of this device"
    return f"{result.recipes}, in {result.compile_seconds:.1f} s by {by}"


def place(line: Line | None, graph: str = "") -> str:
    """Returns `path:line`; without a line the graph, or "the program"."""
    if line is not None:
        return f"{shown_path(line.path)}:{line.number}"
    return f"graph {graph}" if graph else "the program"


def _lines(result: CheckedProgram, strict: bool) -> Iterator[str]:
    yield headline(result, strict)
    yield f"{number(result.graphs, 'graph')}, {result.hpu_ops} of {number(result.ops, 'op')} on the HPU"
    memory = result.memory
    yield f"device memory: {size(memory.peak)} at the peak, {memory.card >> 20} MiB on the card"
    yield f"recipes: {recipes(result)}"
    yield f"compiler of the card: {compiler(result)}"
    for level, title in ((Level.FAILURE, "Failures:"), (Level.NOTE, "Notes:")):
        entries = [entry for entry in result.violations if entry.level is level]
        if entries:
            yield ""
            yield title
        for entry in entries:
            yield from _violation(entry)
    if result.narrowed:
        yield ""
        yield "Narrowed to 32 bits, because the values fit:"
        for narrow in result.narrowed:
            where = place(narrow.line, "of libraries")
            yield f"  {where}: {number(len(narrow.ops), 'op')}: {narrow.what}"
    if result.support:
        yield ""
        yield from _support(result)


def _violation(violation: Violation) -> Iterator[str]:
    copied = f" ({size(violation.copied_bytes)} copied)" if violation.copied_bytes else ""
    yield f"  {place(violation.line, violation.graph)}: {violation.rule}: {Rule(violation.rule).card_meaning}{copied}"
    if violation.line is not None and violation.line.text:
        yield f"      {shortened(violation.line.text, _WIDTH - 8)}"
    named = _ops(violation.ops, violation.op_types)
    reason = f"{named}: {violation.reason}" if named else violation.reason
    yield from textwrap.wrap(reason, _WIDTH, initial_indent="      ", subsequent_indent="        ")
    if violation.level is Level.FAILURE and violation.remedy:
        yield f"      -> {violation.remedy}"


def _ops(names: Sequence[str], types: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_OPS} more" if len(names) > _MAX_OPS else ""
    shown = ", ".join(shortened(name, 48) for name in names[:_MAX_OPS])
    kinds = ", ".join(types[:_MAX_OPS])
    return shown + more + (f" ({kinds})" if kinds and kinds != shown else "")


def _support(result: CheckedProgram) -> Iterator[str]:
    by_verdict = {
        verdict: [entry.op for entry in result.support if entry.verdict == verdict]
        for verdict in ("documented", "inferred", "unknown")
    }
    counts = ", ".join(f"{len(ops)} {verdict}" for verdict, ops in by_verdict.items())
    yield f"Support of {number(len(result.support), 'op type')} on the HPU: {counts}"
    unknown = by_verdict["unknown"]
    if unknown:
        more = f" and {len(unknown) - _MAX_UNKNOWN} more" if len(unknown) > _MAX_UNKNOWN else ""
        text = f"unknown: {', '.join(unknown[:_MAX_UNKNOWN])}{more}"
        yield from textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
