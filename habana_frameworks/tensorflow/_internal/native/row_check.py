"""The check behind dynamic shapes, on programs of one's own: for tests and tools."""

from __future__ import annotations

import ctypes

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

_FAILED_PRECONDITION = 9


def refusal(program: bytes, rows: int, padded: bytes, padded_rows: int) -> str | None:
    """Why a program must not run with rows added to its arguments, or None where it may.

    `program` and `padded` are one function compiled for `rows` and `padded_rows` rows: serialised HloModuleProtos, such
    as `function.experimental_get_compiler_ir(...)("hlo_serialized")` gives. Raises DeviceError where they are none, or
    where there are no rows to add.
    """
    plugin = plugin_library.handle()
    call = c_api.function(plugin, "hpu_check_rows")
    call.restype = ctypes.c_int32
    program_type = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64]
    call.argtypes = [*program_type, *program_type, ctypes.POINTER(c_api.Buffer)]
    message = c_api.Buffer()
    code = call(program, len(program), rows, padded, len(padded), padded_rows, ctypes.byref(message))
    text = c_api.take(plugin, message).decode()
    if code not in (0, _FAILED_PRECONDITION):
        raise errors.DeviceError(code, text)
    return text if code else None
