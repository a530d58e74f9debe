"""The plugin's C interface (plugin/c_api/c_api.h) through ctypes."""

from __future__ import annotations

import ctypes
import functools
import json
import pathlib
from typing import Any

from habana_frameworks.tensorflow.errors import DeviceError, PluginLoadError


class Buffer(ctypes.Structure):
    """hpu_buffer: bytes that the plugin owns."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@functools.cache
def open_plugin(path: pathlib.Path) -> ctypes.CDLL:
    """A handle of the plugin that TensorFlow has loaded already. Only library_loader may be the first to load it."""
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)


def has(plugin: ctypes.CDLL, name: str) -> bool:
    """Whether the plugin has the function: a build from before it was added has not."""
    return hasattr(plugin, name)


def take(plugin: ctypes.CDLL, buffer: Buffer) -> bytes:
    """Copies the buffer's bytes and gives it back to the plugin."""
    try:
        return ctypes.string_at(buffer.data, buffer.size) if buffer.size else b""
    finally:
        plugin.hpu_buffer_free(ctypes.byref(buffer))


def function(plugin: ctypes.CDLL, name: str) -> Any:
    """The function of that name; an error that says what to do where the plugin lacks it."""
    try:
        return getattr(plugin, name)
    except AttributeError:
        raise PluginLoadError(
            f"the plugin {plugin._name} has no {name}: it is older than these Python files; "
            "build it again (`make build`)"
        ) from None


def read_json(plugin: ctypes.CDLL, name: str) -> Any:
    """Calls `hpu_buffer name(void)`, whose bytes are JSON."""
    call = function(plugin, name)
    call.restype = Buffer
    return json.loads(take(plugin, call()))


def check(plugin: ctypes.CDLL, name: str, *arguments: Any) -> None:
    """Calls `int32_t name(arguments…, hpu_buffer* message)`, which returns a status code; raises the message if not 0.

    Arguments that are no integers of 32 bits are given as ctypes' objects.
    """
    message = Buffer()
    call = function(plugin, name)
    call.restype = ctypes.c_int32
    code = call(*arguments, ctypes.byref(message))
    text = take(plugin, message).decode(errors="replace")
    if code != 0:
        raise DeviceError(code, text)
