"""tf.config.set_memory_growth and logical devices for the HPU, as settings of its memory.

TensorFlow accepts both for GPUs only. They must precede TensorFlow's first operation. An environment variable that is
already set overrides them, as TF_FORCE_GPU_ALLOW_GROWTH does for GPUs.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

_GROWTH, _MEMORY = "TF_FORCE_GPU_ALLOW_GROWTH", "HPU_MEMORY_MB"


def install() -> None:
    """Patches TensorFlow's context for devices of type HPU."""
    from tensorflow.python.eager.context import Context

    Context.set_memory_growth = _for_hpu(Context.set_memory_growth, _set_memory_growth)
    Context.get_memory_growth = _for_hpu(Context.get_memory_growth, _get_memory_growth)
    Context.set_logical_device_configuration = _for_hpu(
        Context.set_logical_device_configuration, _set_logical_device_configuration
    )


def _for_hpu(method: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(context: Any, dev: Any, *args: Any) -> Any:
        context._initialize_physical_devices()
        if dev.device_type != "HPU" or dev not in context._physical_devices:
            return method(context, dev, *args)
        return ours(context, dev, *args)

    return wrapper


def _set_memory_growth(context: Any, dev: Any, enable: bool) -> None:
    """Sets whether HPU_BACKEND=pjrt:cuda allocates memory as needed. Has no effect on other backends.

    Raises ValueError after set_logical_device_configuration(), and RuntimeError after TensorFlow's first operation.
    """
    if dev in context._virtual_device_map:
        # TensorFlow's own text.
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if context._memory_growth_map.get(dev) == enable:
        return
    _check_uninitialized(context, "Physical devices")
    if context._memory_growth_map.get(dev) is not None or not os.environ.get(_GROWTH):
        os.environ[_GROWTH] = "true" if enable else "false"
    context._memory_growth_map[dev] = enable


def _get_memory_growth(context: Any, dev: Any) -> bool | None:
    return context._memory_growth_map.get(dev)  # type: ignore[no-any-return]


def _set_logical_device_configuration(context: Any, dev: Any, virtual_devices: Sequence[Any]) -> None:
    """Limits the HPU's memory to the memory_limit (MiB) of its only logical device.

    Raises ValueError for several logical devices: one process has one HPU. Raises RuntimeError after TensorFlow's first
    operation.
    """
    if len(virtual_devices) != 1:
        raise ValueError(
            f"an HPU has one logical device, not {len(virtual_devices)}: start a process for each part of the work "
            "(docs/distributed/jobs.md); HPU_MODULES sets the number of emulated modules"
        )
    if context._virtual_device_map.get(dev) == virtual_devices:
        return
    _check_uninitialized(context, "Virtual devices")
    (device,) = virtual_devices
    if device.memory_limit is not None and (dev in context._virtual_device_map or not os.environ.get(_MEMORY)):
        os.environ[_MEMORY] = str(int(device.memory_limit))
    context._virtual_device_map[dev] = virtual_devices


def _check_uninitialized(context: Any, what: str) -> None:
    if context._context_handle is not None:
        # TensorFlow's own text.
        raise RuntimeError(f"{what} cannot be modified after being initialized")
