"""The messages of proto/hpu/report/v1/report.proto."""

from __future__ import annotations

from habana_frameworks.tensorflow._internal.messages import descriptors

__getattr__ = descriptors.attributes("hpu/report/v1/report.proto")
