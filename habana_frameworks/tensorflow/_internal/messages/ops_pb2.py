"""The messages of proto/hpu/ops/v1/ops.proto."""

from __future__ import annotations

from habana_frameworks.tensorflow._internal.messages import descriptors

__getattr__ = descriptors.attributes("hpu/ops/v1/ops.proto")
