"""Requirements of tests on the CPU."""

from __future__ import annotations

import pathlib

import pytest

# TensorFlow enables oneDNN only on CPUs with AVX-512 VNNI or later, and oneDNN's bfloat16 kernels need AVX-512.
# TensorFlow's other kernels treat NaN and ties differently, and raise errors for which oneDNN and the HPU return
# values. With TF_ENABLE_ONEDNN_OPTS=1, the float32 and float16 tests also pass on other CPUs.
LIKE_THE_CPU_WITH_AVX512 = pytest.mark.xfail(
    "avx512f" not in pathlib.Path("/proc/cpuinfo").read_text(),
    reason="without oneDNN, TensorFlow's CPU kernels compute other values than those that the HPU follows",
)
