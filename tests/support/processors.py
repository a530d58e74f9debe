"""What tests expect of the processor that they run on."""

from __future__ import annotations

import pathlib

import pytest

# TensorFlow has other kernels for the CPU there: other NaN, and errors where the HPU gives values.
LIKE_THE_CPU_WITH_AVX512 = pytest.mark.xfail(
    "avx512f" not in pathlib.Path("/proc/cpuinfo").read_text(),
    reason="TensorFlow's kernels for processors without AVX-512 compute other values than those that the HPU follows",
)
