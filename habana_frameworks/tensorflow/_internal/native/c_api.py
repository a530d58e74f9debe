"""ctypes bindings of the plugin's C interface (plugin/c_api/c_api.h)."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import pathlib
from collections.abc import MutableMapping, MutableSequence
from typing import Any, TypeVar

from habana_frameworks.tensorflow import lib_utils
from habana_frameworks.tensorflow._internal import flag_values
from habana_frameworks.tensorflow.errors import DeviceError, PluginLoadError


class Buffer(ctypes.Structure):
    """hpu_buffer: bytes allocated by the plugin. The caller frees them with hpu_buffer_free."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Memory(ctypes.Structure):
    """hpu_memory: bytes of device memory, and counters of allocations, buffers and arguments."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in (
            "in_use",
            "peak",
            "limit",
            "allocations",
            "workspace",
            "reported",
            "buffers",
            "donated_arguments",
            "kept_arguments",
            "reported_peak",
            "reported_limit",
            "reported_largest_free_block",
            "reported_pool",
            "reported_allocations",
        )
    ]


_T = TypeVar("_T")
_REBUILD = f"rebuild or reinstall it (`{lib_utils.rebuild_command()}`)"

# Strings and byte buffers are both char pointers; a buffer is followed by its size.
_BYTES = ctypes.c_char_p
_SIZE = ctypes.c_size_t
_INT32 = ctypes.c_int32
_INT64 = ctypes.c_int64
_EVENT = ctypes.c_void_p
_OUT = ctypes.POINTER(Buffer)
_GRAPH = (_BYTES, _SIZE)

StepCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _SIZE)
"""hpu_step_callback: receives the bytes of a step."""

SourceLineFinder = ctypes.CFUNCTYPE(_INT32, _BYTES, ctypes.c_void_p, _SIZE)
"""hpu_source_line_finder: writes the source line of an op."""

SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "hpu_buffer_free": (None, (_OUT,)),
    "hpu_version": (_BYTES, ()),
    "hpu_claim_setting_warning": (_INT32, (_BYTES,)),
    "hpu_device_info": (Buffer, ()),
    "hpu_memory_info": (Memory, ()),
    "hpu_memory_reset_peak": (None, ()),
    "hpu_offer_device": (None, (_INT32,)),
    "hpu_hide_from_importers": (_INT32, (_INT32,)),
    "hpu_acquire": (_INT32, (_OUT,)),
    "hpu_synchronize": (_INT32, (_OUT,)),
    "hpu_interrupt": (None, ()),
    "hpu_interrupt_compiles": (None, ()),
    "hpu_sigint_descriptor": (_INT32, ()),
    "hpu_count_pending_call": (_INT32, (ctypes.c_void_p,)),
    "hpu_consume_read_error": (_INT32, (_OUT,)),
    "hpu_event_create": (_INT32, (_INT32, ctypes.POINTER(_EVENT), _OUT)),
    "hpu_event_destroy": (None, (_EVENT,)),
    "hpu_event_record": (_INT32, (_EVENT, _INT32, _OUT)),
    "hpu_event_wait": (_INT32, (_EVENT, _INT32, _OUT)),
    "hpu_event_query": (_INT32, (_EVENT, ctypes.POINTER(_INT32), _OUT)),
    "hpu_event_synchronize": (_INT32, (_EVENT, _OUT)),
    "hpu_event_elapsed": (_INT32, (_EVENT, _EVENT, ctypes.POINTER(ctypes.c_double), _OUT)),
    "hpu_statistics": (Buffer, ()),
    "hpu_statistics_table": (Buffer, ()),
    "hpu_statistics_reset": (None, ()),
    "hpu_signal_at_launch": (None, (_INT64, _INT32)),
    "hpu_collect_op_records": (None, (_INT32,)),
    "hpu_op_records": (Buffer, ()),
    "hpu_recipe_cache": (Buffer, ()),
    "hpu_recipe_times": (Buffer, ()),
    "hpu_recipe_buffers": (Buffer, ()),
    "hpu_recipe_cache_flush": (None, ()),
    "hpu_recipe_cache_set_transfer_command": (None, (ctypes.POINTER(_BYTES),)),
    "hpu_log_unlisted_ops": (None, ()),
    "hpu_stop_compiling": (None, ()),
    "hpu_constant_arguments": (_INT32, (*_GRAPH, _BYTES, _OUT)),
    "hpu_compiler_ir": (_INT32, (*_GRAPH, _BYTES, _BYTES, _OUT)),
    "hpu_store_list": (_INT32, (_BYTES, _OUT)),
    "hpu_store_clean": (_INT32, (_BYTES, _INT64, _INT64, _OUT)),
    "hpu_store_read": (_INT32, (_BYTES, _BYTES, _OUT)),
    "hpu_store_inspect": (_INT32, (_BYTES, _BYTES, _SIZE, _OUT)),
    "hpu_store_write": (_INT32, (_BYTES, _BYTES, _BYTES, _SIZE, _OUT)),
    "hpu_store_compare": (_INT32, (_BYTES, _BYTES, _BYTES, _OUT)),
    "hpu_synapse_check": (_INT32, (_BYTES, _BYTES, _BYTES, _INT64, StepCallback, _OUT)),
    "hpu_trace_start": (_INT32, (_INT32,)),
    "hpu_trace_stop": (Buffer, (_INT32,)),
    "hpu_trace_set_source_line_finder": (None, (SourceLineFinder,)),
    "hpu_trace_mark": (None, (_BYTES, _INT64, _INT64)),
    "hpu_communicator_id": (_INT32, (_OUT,)),
    "hpu_communicator_join": (_INT32, (_INT32, _BYTES, _INT32, _INT32, _BYTES, _INT32, _OUT)),
    "hpu_horovod_loaded": (None, ()),
    "hpu_serve_fork_server": (_INT32, (_INT32,)),
    "hpu_run_graph_pass": (_INT32, (*_GRAPH, _BYTES, _BYTES, _OUT, _OUT)),
    "hpu_split_cluster": (_INT32, (*_GRAPH, _BYTES, _BYTES, _BYTES, _OUT, _OUT)),
    "hpu_graph_reports": (Buffer, ()),
    "hpu_ops": (Buffer, ()),
}
"""Result and argument types of each function, which open_plugin() declares to ctypes."""


@functools.cache
def open_plugin(path: pathlib.Path) -> ctypes.CDLL:
    """Opens the plugin's library and declares its functions. Raises OSError if it cannot be loaded.

    Call only in processes that have loaded TensorFlow's libraries.
    """
    plugin = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
    for name, (result, arguments) in SIGNATURES.items():
        if has(plugin, name):
            call = getattr(plugin, name)
            call.restype, call.argtypes = result, arguments
    if has(plugin, "hpu_claim_setting_warning"):
        flag_values.share_warnings(lambda name: bool(plugin.hpu_claim_setting_warning(name.encode())))
    return plugin


def has(plugin: ctypes.CDLL, name: str) -> bool:
    """Whether the plugin has the function; older builds may lack it."""
    return hasattr(plugin, name)


def function(plugin: ctypes.CDLL, name: str) -> Any:
    """Returns the function `name`. Raises PluginLoadError if the plugin is too old to contain it."""
    try:
        return getattr(plugin, name)
    except AttributeError:
        raise PluginLoadError(
            f"the plugin {plugin._name} has no symbol {name}, because it is older than the Python package; {_REBUILD}"
        ) from None


def take(plugin: ctypes.CDLL, buffer: Buffer) -> bytes:
    """Copies the buffer's bytes and frees the buffer."""
    try:
        return ctypes.string_at(buffer.data, buffer.size) if buffer.size else b""
    finally:
        plugin.hpu_buffer_free(ctypes.byref(buffer))


def read(plugin: ctypes.CDLL, name: str, *arguments: Any) -> bytes:
    """Calls `hpu_buffer name(arguments…)` and returns the bytes."""
    return take(plugin, function(plugin, name)(*arguments))


def parse(kind: str, data: bytes) -> Any:
    """Parses bytes of the plugin as a message of proto/hpu/report/v1/report.proto.

    Raises ImportError if the descriptors of the messages are missing.
    """
    from habana_frameworks.tensorflow._internal.messages import report_pb2

    return getattr(report_pb2, kind).FromString(data)


def read_message(plugin: ctypes.CDLL, name: str, kind: str) -> Any:
    """Calls `hpu_buffer name(void)` and parses the bytes as a message of report.proto."""
    return parse(kind, read(plugin, name))


def to_dataclass(kind: type[_T], message: Any, **changed: Any) -> _T:
    """Builds a `kind` from the message's fields of the same names. `changed` replaces the values of some fields."""
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: changed[name] if name in changed else _plain(getattr(message, name)) for name in names})


def _plain(value: Any) -> Any:
    """Converts maps to dicts and lists to tuples, because a reference would keep the whole message alive."""
    if isinstance(value, MutableMapping):
        return dict(value)
    return tuple(value) if isinstance(value, MutableSequence) else value


def outcome(plugin: ctypes.CDLL, name: str, *arguments: Any) -> tuple[int, bytes]:
    """Calls `int32_t name(arguments…, hpu_buffer* out)`. Returns the status code and the bytes of `out`."""
    out = Buffer()
    code = function(plugin, name)(*arguments, ctypes.byref(out))
    return code, take(plugin, out)


def check(plugin: ctypes.CDLL, name: str, *arguments: Any) -> None:
    """Calls a function whose `out` is an error message. Raises DeviceError with the message unless the status is 0."""
    code, message = outcome(plugin, name, *arguments)
    if code != 0:
        raise DeviceError(code, message.decode(errors="replace"))
