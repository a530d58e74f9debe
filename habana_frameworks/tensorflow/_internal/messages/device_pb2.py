"""The messages of proto/hpu/device/v1/device.proto."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow._internal.messages import descriptors

_CONTENTS = descriptors.contents("hpu/device/v1/device.proto")


def __getattr__(name: str) -> Any:
    try:
        return _CONTENTS[name]
    except KeyError:
        raise AttributeError(f"device.proto has no {name}") from None
