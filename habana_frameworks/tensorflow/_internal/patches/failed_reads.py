"""Makes np.asarray() of a tensor raise the device error that prevented its computation.

NumPy first requests the tensor's buffer, ignores a failure, and calls `__array__`. By then the device has reported its
error, so the second read would return the remains of the failed work.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from habana_frameworks.tensorflow._internal.native import c_api
from habana_frameworks.tensorflow.errors import DeviceError


def install(plugin: ctypes.CDLL) -> None:
    """Makes `__array__` of tensors on the HPU check the thread's last read first. Called by library_loader."""
    from tensorflow.python.framework import errors_impl, ops

    array = ops._EagerTensorBase.__array__

    @functools.wraps(array)
    def checked(tensor: Any, dtype: Any = None) -> Any:
        if "HPU" in tensor.backing_device:
            try:
                c_api.check(plugin, "hpu_consume_read_error")
            except DeviceError as error:
                kind = errors_impl.exception_type_from_error_code(error.code)
                raise kind(None, None, str(error)) from None
        return array(tensor, dtype)

    ops._EagerTensorBase.__array__ = checked
