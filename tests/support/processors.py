"""What tests expect of the processor that they run on."""

from __future__ import annotations

import pathlib

import pytest

# TensorFlow turns oneDNN on only where the processor has AVX-512 VNNI or later, and oneDNN's bfloat16 kernels need
# AVX-512. Its other kernels treat NaN and ties otherwise, and have errors where oneDNN and the HPU have values. With
# TF_ENABLE_ONEDNN_OPTS=1 the tests of float32 and float16 pass on other processors, too.
LIKE_THE_CPU_WITH_AVX512 = pytest.mark.xfail(
    "avx512f" not in pathlib.Path("/proc/cpuinfo").read_text(),
    reason="without oneDNN, TensorFlow's CPU kernels compute other values than those that the HPU follows",
)
