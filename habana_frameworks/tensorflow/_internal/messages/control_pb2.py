"""The messages of proto/hpu/serve/v1/control.proto."""

from __future__ import annotations

from habana_frameworks.tensorflow._internal.messages import descriptors

__getattr__ = descriptors.attributes("hpu/serve/v1/control.proto")
