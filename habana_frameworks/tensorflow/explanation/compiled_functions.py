"""Functions with jit_compile=True that the program calls directly, which no graph pass sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation.model import Cluster, Graph, Op
from habana_frameworks.tensorflow.explanation.source_lines import SourceLines

_MUST_COMPILE = "_XlaMustCompile"  # attribute of functions with jit_compile=True
_DEVICE = "HPU:0"


class CompiledFunctions:
    """Keeps the ops of the functions with jit_compile=True that TensorFlow traces.

    The plugin compiles such a function as one cluster with the function's name. A call in another function becomes a
    cluster of that function's graph, which has another name.
    """

    def __init__(self) -> None:
        self._functions: list[tuple[Graph, Cluster]] = []

    def keep(self, definition: Any, graph: Any) -> None:
        """Keeps a function if it has jit_compile=True. definition: its FunctionDef; graph: its FuncGraph."""
        if _MUST_COMPILE not in definition.attr or not definition.attr[_MUST_COMPILE].b:
            return
        name = definition.signature.name
        graph_ops = {op.name: op for op in graph.get_operations()}
        positions = {node.name: position for position, node in enumerate(definition.node_def)}
        ops = tuple(
            Op(
                name=node.name,
                type=node.op,
                device=_DEVICE,
                cluster=name,
                dtypes=_dtypes(graph_ops.get(node.name)),
                inputs=tuple(sorted({positions[source] for source in map(_source, node.input) if source in positions})),
            )
            for node in definition.node_def
        )
        cluster = Cluster(
            name=name,
            device=_DEVICE,
            ops=len(ops),
            arguments=len(definition.signature.input_arg),
            constants=0,
            resources=sum(argument.type == _resource() for argument in definition.signature.input_arg),
            results=len(definition.signature.output_arg),
            must_compile=True,
        )
        self._functions.append((Graph(name=graph.name, function=name, ops=ops), cluster))

    def graphs(self, counts: Sequence[statistics.Cluster], source_lines: SourceLines) -> Iterator[Graph]:
        """Yields a graph with one cluster for each function that the HPU compiled by itself."""
        by_name = {(cluster.name, cluster.ops): cluster for cluster in counts}
        for graph, cluster in self._functions:
            counters = by_name.get((cluster.name, cluster.ops))
            if counters is None:
                continue
            ops = (dataclasses.replace(op, source_line=source_lines.find(graph.function, op.name)) for op in graph.ops)
            yield dataclasses.replace(graph, ops=tuple(ops), clusters=(cluster.counted(counters),))


def _source(name: str) -> str:
    """Returns the op of an input in a FunctionDef: "op:output:0", "^op", or the name of an argument."""
    return name.lstrip("^").partition(":")[0]


def _dtypes(op: Any) -> tuple[str, ...]:
    return () if op is None else tuple(output.dtype.name for output in op.outputs)


def _resource() -> int:
    import tensorflow as tf

    return int(tf.resource.as_datatype_enum)
