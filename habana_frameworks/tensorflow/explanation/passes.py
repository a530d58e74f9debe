"""The graph passes on a GraphDef of one's own: for tests, tools and curiosity. See docs/developer/pamsen.md."""

from __future__ import annotations

import ctypes
import dataclasses
import json
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

if TYPE_CHECKING:
    import tensorflow as tf

HPU = "/job:localhost/replica:0/task:0/device:HPU:0"
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


@dataclasses.dataclass(frozen=True)
class PassResult:
    """A graph after a pass."""

    data: bytes
    """The serialized GraphDef: equal for equal graphs."""
    report: dict[str, Any]
    """What the pass did and why: plugin/passes/reporting/report.h names the fields."""

    @property
    def graph(self) -> tf.compat.v1.GraphDef:
        """The GraphDef, with the functions of its clusters in its library."""
        import tensorflow as tf

        return tf.compat.v1.GraphDef.FromString(self.data)


def run(graph: tf.compat.v1.GraphDef, name: str = "all", function: str = "") -> PassResult:
    """Runs the pass `name` ("all" for the whole pipeline of placed graphs) on a graph.

    The nodes' devices, full names, count as what placement assigned. `function` is the name of the function that the
    graph came from; clusters are named after it. Raises DeviceError with the pass's message and code.
    """
    return run_with(plugin_library.handle(), graph.SerializeToString(deterministic=True), name, function)


def run_with(plugin: ctypes.CDLL, graph: bytes, name: str, function: str) -> PassResult:
    """The same with a given plugin and serialized graph."""
    call = c_api.function(plugin, "hpu_run_graph_pass")
    call.restype = ctypes.c_int32
    call.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p] + 2 * [
        ctypes.POINTER(c_api.Buffer)
    ]
    result, report = c_api.Buffer(), c_api.Buffer()
    code = call(graph, len(graph), name.encode(), function.encode(), ctypes.byref(result), ctypes.byref(report))
    data = c_api.take(plugin, result)
    text = c_api.take(plugin, report).decode()
    if code != 0:
        raise errors.DeviceError(code, text)
    return PassResult(data, json.loads(text))


def split(graph: tf.compat.v1.GraphDef, cluster: str, refused: list[str]) -> tuple[tf.compat.v1.GraphDef, str]:
    """Cuts a cluster of the graph's library again, without the ops named in `refused`.

    Returns the graph with the functions that were added, and the name of the one to call in the cluster's place.
    """
    import tensorflow as tf

    plugin = plugin_library.handle()
    call = c_api.function(plugin, "hpu_split_cluster")
    call.restype = ctypes.c_int32
    text = ctypes.c_char_p
    call.argtypes = [text, ctypes.c_size_t, text, text, text] + 2 * [ctypes.POINTER(c_api.Buffer)]
    data = graph.SerializeToString(deterministic=True)
    result, name = c_api.Buffer(), c_api.Buffer()
    outputs = (ctypes.byref(result), ctypes.byref(name))
    code = call(data, len(data), cluster.encode(), "\n".join(refused).encode(), HPU.encode(), *outputs)
    split_graph = c_api.take(plugin, result)
    message = c_api.take(plugin, name).decode()
    if code != 0:
        raise errors.DeviceError(code, message)
    return tf.compat.v1.GraphDef.FromString(split_graph), message


def recent_reports() -> list[dict[str, Any]]:
    """The reports of the graphs that TensorFlow gave to the passes in this process, oldest first; the latest 64."""
    reports: list[dict[str, Any]] = c_api.read_json(plugin_library.handle(), "hpu_graph_reports")
    return reports
