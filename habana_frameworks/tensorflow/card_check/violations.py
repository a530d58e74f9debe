"""Violations of a card's rules, from the explanation of a program and the origins of its ops."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from habana_frameworks.tensorflow import explanation
from habana_frameworks.tensorflow._internal.card_table import Card
from habana_frameworks.tensorflow._internal.native import known_ops
from habana_frameworks.tensorflow._internal.text import number, size
from habana_frameworks.tensorflow.card_check.model import Level, Memory, Narrowed, OpSupport, Violation
from habana_frameworks.tensorflow.card_check.origins import Line, Origin, Origins
from habana_frameworks.tensorflow.explanation import RULES, Rule

MAX_RECIPES = 8
"""Limit of recipes per cluster. Above the limit, the program recompiles too often."""
# Ops without a computation of their own, whose support says nothing about a program.
_STRUCTURAL = frozenset(
    {
        *("Assert", "Const", "HostConst", "NoOp", "PartitionedCall", "Placeholder", "StatefulPartitionedCall"),
        *(
            "Enter",
            "Exit",
            "If",
            "LoopCond",
            "Merge",
            "NextIteration",
            "StatelessIf",
            "StatelessWhile",
            "Switch",
            "While",
        ),
    }
)
# Ops that bring a batch's 64-bit labels or ids to the HPU, which gets them as 32-bit integers.
_MOVES_BATCHES = frozenset({"Cast", "ExpandDims", "Identity", "IteratorGetNext", "Reshape", "Squeeze"})
# Ops without results: an edge from them is an order, which carries no values.
_WITHOUT_RESULTS = frozenset({"Assert", "NoOp", "PrintV2"})
_MAX_MISFITS = 3
# Rules that send an op to the CPU, where a Gaudi also runs step counters.
_PLACEMENT_RULES = frozenset({Rule.DTYPE, Rule.OP_LIST, Rule.NO_KERNEL})


def of_ops(found: explanation.Explanation, origins: Origins) -> Iterator[Violation]:
    """Yields the violations of ops, one for each rule, line and graph."""
    for graph in found.graphs:
        groups: dict[tuple[Rule, Line | None, Level], list[tuple[int, Origin | None]]]
        groups = collections.defaultdict(list)
        for index, op in enumerate(graph.ops):
            rule = RULES.get(op.rule or "")
            if rule is None or rule.card is None:
                continue
            origin = origins.find(op.name, op.type, graph.name)
            fails = rule.card.fails and not _is_harmless(graph, index, origin)
            level = Level.FAILURE if fails else Level.NOTE
            groups[rule, origin.line if origin else None, level].append((index, origin))
        for (rule, line, level), ops in groups.items():
            yield _of_group(graph, rule, line, level, ops, origins)


def _of_group(
    graph: explanation.Graph,
    rule: Rule,
    line: Line | None,
    level: Level,
    found: Sequence[tuple[int, Origin | None]],
    origins: Origins,
) -> Violation:
    ops = [graph.ops[index] for index, _ in found]
    reason = ops[0].reason or rule.card_meaning
    if rule is Rule.DTYPE:
        if all(_reads(graph, index, _is_of_pipeline) for index, _ in found):
            reason += "; the values come from the input pipeline, such as labels"
        values = (value for _, origin in found if origin for value in origins.misfits(origin))
        misfits = list(dict.fromkeys(f"{value} (line {where.number})" if where else value for value, where in values))
        if misfits:
            reason += f"; constants that do not fit in 32 bits: {', '.join(misfits[:_MAX_MISFITS])}"
    return Violation(
        rule=rule,
        level=level,
        line=line,
        graph=graph.name,
        ops=tuple(op.name for op in ops),
        op_types=tuple(dict.fromkeys(op.type for op in ops)),
        reason=reason,
        remedy=_remedy(rule, ops),
        copied_bytes=sum(op.copied_bytes for op in ops),
    )


def _remedy(rule: Rule, ops: Sequence[explanation.Op]) -> str:
    if rule is Rule.DTYPE and any(dtype.startswith("complex") for op in ops for dtype in op.dtypes):
        return "the card has no complex types: move the computation to the input pipeline, or leave it on the CPU"
    return rule.card_remedy


def _is_harmless(graph: explanation.Graph, index: int, origin: Origin | None) -> bool:
    """Whether an op outside clusters costs a step nothing on the card."""
    op = graph.ops[index]
    if op.rule == Rule.STRING:
        return not _feeds_cluster(graph, index)
    if op.rule == Rule.UNCOMPILABLE:
        # Ops of the input pipeline. The card supports the ops that the op list names, such as IteratorGetNext.
        return _is_known(op.type) or not set(op.dtypes) - {"variant", "resource"}
    if op.rule == Rule.DTYPE and (
        _moves_batch(graph, index) or _is_widening(graph, index) or _is_random_key(graph, index)
    ):
        return True
    if op.rule in _PLACEMENT_RULES and _is_bookkeeping(graph, index, origin):
        return True
    return _is_part_of_card_op(op, origin)


def _is_known(op_type: str) -> bool:
    return known_ops.gaudi().op(op_type).verdict != "unknown"


def _is_bookkeeping(graph: explanation.Graph, index: int, origin: Origin | None) -> bool:
    """Whether an op is part of a step counter, a learning rate or the like, which a Gaudi also runs on the CPU.

    Such ops compute scalars and read no result of a cluster, or compute integers and exchange nothing with the HPU.
    """
    op = graph.ops[index]
    if origin is None or not origin.shapes:
        return False
    if not op.copies and not any(dtype.startswith(("float", "complex")) for dtype in origin.dtypes):
        return True
    if any(shape != "[]" for shape in origin.shapes):
        return False
    return not op.copies or not _reads(graph, index, _is_in_cluster)


def _moves_batch(graph: explanation.Graph, index: int) -> bool:
    """Whether an op only moves integers of the input pipeline, which a Gaudi also keeps on the CPU."""
    op = graph.ops[index]
    are_integers = not any(dtype.startswith(("float", "complex")) for dtype in op.dtypes)
    is_moved = op.type == "IteratorGetNext" or are_integers
    return op.type in _MOVES_BATCHES and is_moved and not _reads_hpu(graph, index)


def _reads_hpu(graph: explanation.Graph, index: int) -> bool:
    """Whether an op or one of its inputs, directly or not, is on the HPU."""
    if graph.ops[index].device.startswith("HPU"):
        return True
    return _reads(graph, index, lambda op: op.device.startswith("HPU"))


def _is_widening(graph: explanation.Graph, index: int) -> bool:
    """Whether an op casts a narrowed op's result back to 64 bits, and no cluster reads the cast's result.

    The program copies such a result to the CPU in any case, for example labels from tf.argmax.
    """
    op = graph.ops[index]
    is_narrowed = any(rewrite.by == "narrow" and rewrite.node == op.name for rewrite in graph.rewrites)
    return op.type == "Cast" and is_narrowed and not _feeds_cluster(graph, index)


def _is_random_key(graph: explanation.Graph, index: int) -> bool:
    """Whether an op computes the 64-bit key of random numbers from a tf.random.Generator, as augmentation layers do."""
    is_key = set(graph.ops[index].dtypes) <= {"int64", "uint64"}
    return is_key and _reads(graph, index, lambda op: op.type == "RngReadAndSkip")


def _is_part_of_card_op(op: explanation.Op, origin: Origin | None) -> bool:
    """Whether an op is part of this package's implementation of an op that the card has, such as PyramidRoiAlign."""
    import tensorflow as tf

    if origin is None:
        return False
    is_expansion = origin.type != op.type and _is_known(origin.type) and not hasattr(tf.raw_ops, origin.type)
    return origin.is_of_package or is_expansion


def _is_of_pipeline(op: explanation.Op) -> bool:
    return op.type == "IteratorGetNext"


def _is_in_cluster(op: explanation.Op) -> bool:
    return op.cluster is not None


def _feeds_cluster(graph: explanation.Graph, index: int) -> bool:
    """Whether a path along results leads from an op to a cluster through ops off the HPU."""
    consumers: list[list[int]] = [[] for _ in graph.ops]
    for consumer, op in enumerate(graph.ops):
        for source in op.inputs:
            if graph.ops[source].type not in _WITHOUT_RESULTS:
                consumers[source].append(consumer)
    return _reaches(graph, index, consumers, _is_in_cluster)


def _reads(graph: explanation.Graph, index: int, is_found: Callable[[explanation.Op], bool]) -> bool:
    """Whether a path along inputs leads from an op, through ops off the HPU, to an op for which `is_found` is true."""
    return _reaches(graph, index, [op.inputs for op in graph.ops], is_found)


def _reaches(
    graph: explanation.Graph,
    index: int,
    neighbours: Sequence[Sequence[int]],
    is_found: Callable[[explanation.Op], bool],
) -> bool:
    """Whether a path along `neighbours` leads through ops off the HPU to an op for which `is_found` is true."""
    waiting, seen = [index], {index}
    while waiting:
        for neighbour in neighbours[waiting.pop()]:
            if neighbour in seen:
                continue
            seen.add(neighbour)
            op = graph.ops[neighbour]
            if is_found(op):
                return True
            if not op.device.startswith("HPU"):
                waiting.append(neighbour)
    return False


def of_recipes(found: explanation.Explanation, origins: Origins) -> Iterator[Violation]:
    """Yields a violation for each function that compiles a recipe for each of many shapes.

    Names the arguments whose shape changes. Bounded recipes are few, whatever the sizes.
    """
    by_name: dict[str, list[explanation.Graph]] = collections.defaultdict(list)
    for graph in found.graphs:
        by_name[graph.name].append(graph)
    for name, graphs in by_name.items():
        # Clusters of the same name and size share their counters.
        counts: Mapping[tuple[str, int], int] = {
            (cluster.name, cluster.ops): cluster.recipes
            for graph in graphs
            for cluster in graph.clusters
            if not cluster.padded_launches
        }
        by_cluster: dict[str, int] = collections.Counter()
        for (cluster, _), recipes in counts.items():
            by_cluster[cluster] += recipes
        recipes = max(by_cluster.values(), default=0)
        if recipes <= MAX_RECIPES:
            continue
        changing = {
            argument: shapes
            for argument, shapes in origins.arguments(name).items()
            if len(shapes) > 1 or any("None" in shape or "..." in shape for shape in shapes)
        }
        cause = "; ".join(f"{argument} has {_shapes(shapes)}" for argument, shapes in sorted(changing.items())[:3])
        reason = f"{name} compiled {number(recipes, 'recipe')} for one cluster" + (f": {cause}" if cause else "")
        yield Violation(
            rule=Rule.RECOMPILES,
            level=Level.FAILURE,
            line=origins.line_of(name),
            graph=name,
            ops=tuple(sorted(changing)),
            op_types=(),
            reason=reason,
            remedy=Rule.RECOMPILES.remedy,
        )


def _shapes(shapes: Iterable[str]) -> str:
    listed = sorted(shapes)
    return f"the shape {listed[0]}" if len(listed) == 1 else f"{len(listed)} shapes, such as {listed[0]}"


def of_memory(memory: Memory, error: str, line: Line | None) -> Iterator[Violation]:
    """Yields the violation of a program that needs more memory than the card has.

    error: text of the program's RESOURCE_EXHAUSTED error, raised at `line`; empty if there was none.
    """
    available = memory.card - memory.reserved
    if not error and memory.peak <= available:
        return
    reason = f"used {size(memory.peak)} at the peak; the card has {memory.card >> 20} MiB" + (
        f" less {memory.reserved >> 20} MiB (TF_HCCL_MEMORY_ALLOWANCE_MB)" if memory.reserved else ""
    )
    if error:
        reason += f"; the program failed: {error}"
    yield _of_program(Rule.MEMORY, reason, line)


def of_error(error: str, line: Line | None) -> Violation:
    """Returns the violation of a program that ended with an error, raised at `line`."""
    return _of_program(Rule.ERROR, error, line)


def _of_program(rule: Rule, reason: str, line: Line | None) -> Violation:
    return Violation(
        rule=rule,
        level=Level.FAILURE,
        line=line,
        graph="",
        ops=(),
        op_types=(),
        reason=reason,
        remedy=rule.remedy,
    )


def narrowed(found: explanation.Explanation, origins: Origins) -> tuple[Narrowed, ...]:
    """Returns the ops that the passes narrowed, by line."""
    groups: dict[tuple[Line | None, str], dict[str, None]] = collections.defaultdict(dict)
    for graph in found.graphs:
        for rewrite in graph.rewrites:
            if rewrite.by == "narrow":
                origin = origins.find(rewrite.node, rewrite.op, graph.name)
                groups[origin.line if origin else None, rewrite.what][rewrite.node] = None
    entries = [Narrowed(line, tuple(ops), what) for (line, what), ops in groups.items()]
    return tuple(sorted(entries, key=lambda entry: (_order(entry.line), entry.what)))


def support(found: explanation.Explanation, card: Card) -> tuple[OpSupport, ...]:
    """Returns what is known about the op types on the HPU: unknown ones first, then inferred, then documented.

    No source says which ops take the types that later generations added. Ops with results of these types are separate
    entries of unknown support.
    """
    import tensorflow as tf

    added = {tf.as_dtype(name).name for name in card.added_types}
    counts: dict[tuple[str, str], int] = collections.Counter()
    for graph in (traces[0] for traces in found.traces):
        for op in graph.ops:
            if op.device.startswith("HPU") and not _is_structural(op.type):
                names = {tf.as_dtype(dtype).name for dtype in op.dtypes} & added
                counts[op.type, min(names, default="")] += 1
    entries = []
    for (op_type, dtype), count in counts.items():
        # Of a type that only the card has, nothing is said.
        listed = known_ops.ListedOp() if dtype else known_ops.gaudi().op(op_type)
        name = f"{op_type} in {dtype}" if dtype else op_type
        entries.append(OpSupport(name, listed.verdict, listed.source, count))
    order = ("unknown", "inferred", "documented")
    return tuple(sorted(entries, key=lambda entry: (order.index(entry.verdict), entry.op)))


def _is_structural(op_type: str) -> bool:
    return op_type in _STRUCTURAL or op_type.startswith(("_", "Habana", "Hpu"))


def _order(line: Line | None) -> tuple[str, int]:
    return (line.path, line.number) if line else ("", 0)


def sort(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Merges the violations of one line and rule over all graphs, and sorts them: failures first."""
    merged: dict[tuple[object, ...], Violation] = {}
    for entry in violations:
        key = (entry.level, entry.rule, entry.line, entry.graph if entry.line is None else "")
        before = merged.get(key)
        if before is not None:
            entry = dataclasses.replace(
                before,
                ops=tuple(dict.fromkeys(before.ops + entry.ops)),
                op_types=tuple(dict.fromkeys(before.op_types + entry.op_types)),
                copied_bytes=before.copied_bytes + entry.copied_bytes,
            )
        merged[key] = entry
    return tuple(sorted(merged.values(), key=lambda entry: (entry.level is Level.NOTE, _order(entry.line), entry.rule)))
