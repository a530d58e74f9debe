"""Calls of the plugin's C interface for recipe directories, which need no device."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library


class StoreError(RuntimeError):
    """A recipe directory or an entry cannot be used. The message contains the reason."""


def call(name: str, *arguments: Any) -> bytes:
    """Calls `int32_t name(arguments…, hpu_buffer* out)`. Returns the bytes of `out`, or raises them as StoreError."""
    code, data = c_api.outcome(plugin_library.handle(), name, *arguments)
    if code != 0:
        raise StoreError(data.decode(errors="replace"))
    return data


def parse(kind: str, data: bytes) -> Any:
    """Parses a result of call() as a message of proto/hpu/report/v1/report.proto."""
    return c_api.parse(kind, data)
