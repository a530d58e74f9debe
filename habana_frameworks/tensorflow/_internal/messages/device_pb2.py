"""The messages of proto/hpu/device/v1/device.proto."""

from __future__ import annotations

from habana_frameworks.tensorflow._internal.messages import descriptors

__getattr__ = descriptors.attributes("hpu/device/v1/device.proto")
