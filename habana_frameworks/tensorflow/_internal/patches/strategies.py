"""Warnings for TensorFlow's distribution strategies that do not train on the HPU.

MirroredStrategy and MultiWorkerMirroredStrategy choose GPUs, or the CPU if there are none. TensorFlow accepts devices
that do not exist, and runs their replicas on other devices.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

_logger = logging.getLogger("habana_frameworks.tensorflow")

_ADVICE = (
    "To train on HPUs, use habana_frameworks.tensorflow.distribute.HPUStrategy in a process for each HPU "
    "(docs/distributed/training.md)"
)


def install() -> None:
    """Patches the constructors of the strategies, which then warn once. Called once, by library_loader."""
    from tensorflow.python.distribute import collective_all_reduce_strategy, mirrored_strategy, one_device_strategy

    for strategy in (
        mirrored_strategy.MirroredStrategy,
        mirrored_strategy.MirroredStrategyV1,
        collective_all_reduce_strategy.CollectiveAllReduceStrategy,
        collective_all_reduce_strategy.CollectiveAllReduceStrategyV1,
        one_device_strategy.OneDeviceStrategy,
        one_device_strategy.OneDeviceStrategyV1,
    ):
        strategy.__init__ = _checked(strategy.__init__)


def _checked(constructor: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(constructor)

    @functools.wraps(constructor)
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        constructor(self, *arguments, **options)
        given = signature.bind(self, *arguments, **options).arguments
        _check(self, bool(given.get("devices") or given.get("device")))

    return __init__


def _check(strategy: Any, devices_are_given: bool) -> None:
    """Warns if the strategy has devices that do not exist, or has chosen devices that are not HPUs."""
    from tensorflow.python.framework import config, device_spec

    if not config.get_visible_devices("HPU"):
        return
    name = type(strategy).__name__.removesuffix("V1").replace("CollectiveAllReduce", "MultiWorkerMirrored")
    specs = [device_spec.DeviceSpecV2.from_string(device) for device in strategy.extended.worker_devices]
    missing = [_short(spec) for spec in specs if _is_missing(spec)]
    if missing:
        _warn(
            f"{name} has devices that do not exist in this process: {', '.join(missing)}. TensorFlow runs their work "
            f"on other devices. {_ADVICE}"
        )
    elif not devices_are_given and all(spec.device_type != "HPU" for spec in specs):
        _warn(
            f"{name} runs on {', '.join(map(_short, specs))}, because TensorFlow chooses only GPUs or CPUs. {_ADVICE}"
        )


def _is_missing(spec: Any) -> bool:
    """Whether this process lacks the device. CPUs, and GPUs if there is one, may be split into logical devices."""
    from tensorflow.python.framework import config

    if spec.job not in (None, "localhost"):
        return False
    if spec.device_type == "HPU":
        return bool(spec.device_index)  # a process has one HPU
    return spec.device_type == "GPU" and not config.list_physical_devices("GPU")


def _short(spec: Any) -> str:
    return f"{spec.device_type}:{spec.device_index or 0}"


@functools.cache
def _warn(text: str) -> None:
    """Logs the warning, once per text."""
    _logger.warning("%s", text)
