"""Path of the PJRT plugin for NVIDIA cards, if installed."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

PLUGIN = pathlib.Path(
    os.environ.get("HPU_TEST_CUDA_PLUGIN")
    or pathlib.Path(sys.prefix, "card-plugin", "jax_plugins", "xla_cuda13", "xla_cuda_plugin.so")
)

with_plugin = pytest.mark.skipif(not PLUGIN.exists(), reason="needs jax-cuda13-pjrt (`make test` installs it)")
