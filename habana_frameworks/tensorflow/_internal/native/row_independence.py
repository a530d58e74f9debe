"""Direct access to the plugin's padding check for dynamic shapes, for tests and tools."""

from __future__ import annotations

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

_FAILED_PRECONDITION = 9


def refusal(program: bytes, rows: int, padded: bytes, padded_rows: int) -> str | None:
    """Returns the reason not to run a program on arguments padded with rows, or None if padding is safe.

    `program` and `padded` are the same function compiled for `rows` and `padded_rows` rows, as serialised
    HloModuleProtos (`function.experimental_get_compiler_ir(...)("hlo_serialized")`). Raises DeviceError if they are not
    HloModuleProtos, or if there are no rows to add.
    """
    programs = (program, len(program), rows, padded, len(padded), padded_rows)
    code, message = c_api.outcome(plugin_library.handle(), "hpu_check_rows", *programs)
    text = message.decode()
    if code not in (0, _FAILED_PRECONDITION):
        raise errors.DeviceError(code, text)
    return text if code else None
