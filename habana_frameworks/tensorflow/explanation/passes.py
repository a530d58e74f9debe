"""Runs the graph passes on a given GraphDef, for tests and tools. See docs/developer/pamsen.md."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import TYPE_CHECKING

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

if TYPE_CHECKING:
    import tensorflow as tf
    from habana_frameworks.tensorflow._internal.messages import report_pb2

HPU = "/job:localhost/replica:0/task:0/device:HPU:0"
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


@dataclasses.dataclass(frozen=True)
class PassResult:
    """A graph after a pass."""

    data: bytes
    """Serialized GraphDef; deterministic."""
    report: report_pb2.GraphReport
    """Actions of the pass and their reasons (proto/hpu/report/v1/report.proto)."""

    @property
    def graph(self) -> tf.compat.v1.GraphDef:
        """The GraphDef, whose library contains the clusters' functions."""
        import tensorflow as tf

        return tf.compat.v1.GraphDef.FromString(self.data)


def run(graph: tf.compat.v1.GraphDef, name: str = "all", function: str = "") -> PassResult:
    """Runs the pass `name` ("all" for the whole pipeline of placed graphs) on a graph.

    The nodes' devices (full names) are treated as assigned by placement. `function` is the name of the graph's
    function; cluster names contain it. Raises DeviceError with the pass's message and code.
    """
    return run_with(plugin_library.handle(), graph.SerializeToString(deterministic=True), name, function)


def run_with(plugin: ctypes.CDLL, graph: bytes, name: str, function: str) -> PassResult:
    """Like run(), for a given plugin and a serialized graph."""
    data, report = _call(plugin, "hpu_run_graph_pass", graph, name, function)
    return PassResult(data, c_api.parse("GraphReport", report))


def split(graph: tf.compat.v1.GraphDef, cluster: str, refused: list[str]) -> tuple[tf.compat.v1.GraphDef, str]:
    """Splits a cluster in the graph's library so that no cluster contains the ops named in `refused`.

    Returns the graph with the added functions, and the name of the function that replaces the cluster.
    """
    import tensorflow as tf

    data = graph.SerializeToString(deterministic=True)
    names = (cluster, "\n".join(refused), HPU)
    split_graph, function = _call(plugin_library.handle(), "hpu_split_cluster", data, *names)
    return tf.compat.v1.GraphDef.FromString(split_graph), function.decode()


def _call(plugin: ctypes.CDLL, name: str, graph: bytes, *texts: str) -> tuple[bytes, bytes]:
    """Calls a plugin function that returns a serialized graph and a second result. Raises DeviceError."""
    made, second = c_api.Buffer(), c_api.Buffer()
    outputs = (ctypes.byref(made), ctypes.byref(second))
    code = c_api.function(plugin, name)(graph, len(graph), *[text.encode() for text in texts], *outputs)
    data, result = c_api.take(plugin, made), c_api.take(plugin, second)
    if code != 0:
        raise errors.DeviceError(code, result.decode())
    return data, result


def recent_reports() -> list[report_pb2.GraphReport]:
    """Returns the passes' reports of the latest 64 graphs in this process, oldest first."""
    return list(c_api.read_message(plugin_library.handle(), "hpu_graph_reports", "GraphReports").reports)
