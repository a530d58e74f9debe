"""tf.function.experimental_get_compiler_ir for functions on the HPU (docs/user/compiler_ir.md).

TensorFlow calls only its own compilers. The patch makes the eager context call the plugin if the device is an HPU.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow._internal.native import c_api

if TYPE_CHECKING:
    import tensorflow as tf


def install(plugin: ctypes.CDLL) -> None:
    """Patches TensorFlow's contexts to call the plugin for devices of type HPU. Called once, by library_loader."""
    from tensorflow.python.eager import context

    original = context.Context.get_compiler_ir
    parameters = inspect.signature(original)

    @functools.wraps(original)
    def get_compiler_ir(self: Any, *args: Any, **kwargs: Any) -> bytes:
        given = parameters.bind(self, *args, **kwargs)
        given.apply_defaults()
        values = given.arguments
        # Newer TensorFlow prefers the platform to the device.
        platform = values.get("platform_name") or _device_type(values["device_name"])
        if platform != "HPU":
            return original(self, *args, **kwargs)  # type: ignore[no-any-return]
        name = values["function_name"]
        name = name.decode() if isinstance(name, bytes) else name
        return compile_function(plugin, self, name, [*values["flat_args"], *values["captured_inputs"]], values["stage"])

    context.Context.get_compiler_ir = get_compiler_ir


def compile_function(plugin: ctypes.CDLL, context: Any, name: str, arguments: list[Any], stage: str) -> bytes:
    """Returns the IR of function `name` at a compilation stage.

    arguments: tensors, variable handles or TensorSpecs.
    """
    graph = _library(context, name)
    constants = c_api.parse("NumberList", _call(plugin, "hpu_constant_arguments", graph, name)).numbers
    for index, argument in enumerate(arguments):
        graph.node.append(_describe(index, argument, index in constants))
    return _call(plugin, "hpu_compiler_ir", graph, name, stage)


def _device_type(device_name: str | None) -> str | None:
    from tensorflow.python.framework import device_spec

    return device_spec.DeviceSpecV2.from_string(device_name).device_type if device_name else None


def _library(context: Any, name: str) -> tf.compat.v1.GraphDef:
    """Returns a GraphDef whose library contains the function and all functions that it calls."""
    import tensorflow as tf

    graph = tf.compat.v1.GraphDef()
    waiting, seen = [name], {name}
    while waiting:
        function = context.get_function_def(waiting.pop())
        graph.library.function.append(function)
        for called in _names_in(function):
            if called not in seen and context.has_function(called):
                seen.add(called)
                waiting.append(called)
    return graph


def _names_in(function: Any) -> set[str]:
    """Names of possible callees: ops, and functions in attributes."""
    names = set()
    for node in function.node_def:
        names.add(node.op)
        for value in node.attr.values():
            names.update(called.name for called in (value.func, *value.list.func) if called.name)
    return names


def _describe(index: int, argument: Any, constant: bool) -> Any:
    """Returns a node that describes an argument: Const, Placeholder or VarHandleOp."""
    import tensorflow as tf

    dtype, shape, kind = argument.dtype, argument.shape, "Placeholder"
    if dtype == tf.resource:
        kind = "VarHandleOp"
        dtype, shape = _value_of(argument)
    node = tf.compat.v1.NodeDef(name=f"argument_{index}", op=kind)
    node.attr["dtype"].type = dtype.as_datatype_enum
    if constant and isinstance(argument, tf.Tensor) and kind != "VarHandleOp":
        node.op = "Const"
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(argument.numpy(), dtype))
    else:
        node.attr["shape"].shape.CopyFrom(shape.as_proto())
    return node


def _value_of(handle: Any) -> tuple[Any, Any]:
    """Returns dtype and shape of a handle's variable. Raises ValueError if the handle is not a variable's."""
    import tensorflow as tf

    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        raise ValueError(
            f"{handle} is not a variable: functions on the HPU can only use variables as resources; create other "
            "resources outside the function"
        )
    value = data.shape_and_type[0]
    return tf.as_dtype(value.dtype), tf.TensorShape(value.shape)


def _call(plugin: ctypes.CDLL, name: str, graph: tf.compat.v1.GraphDef, *texts: str) -> bytes:
    """Calls a function of plugin/c_api/c_api.h. Raises a failure as the matching TensorFlow error."""
    from tensorflow.python.framework import errors_impl

    data = graph.SerializeToString()
    code, result = c_api.outcome(plugin, name, data, len(data), *[text.encode() for text in texts])
    if code != 0:
        raise errors_impl.exception_type_from_error_code(code)(None, None, result.decode(errors="replace"))
    return result
