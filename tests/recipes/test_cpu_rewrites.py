"""Clusters that run on the CPU use the kernels that TensorFlow's CPU device uses, with its fusions."""

from __future__ import annotations

import pytest

from tests.recipes import cpu_rewrites_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


@pytest.mark.parametrize("one_dnn", ["0", "1"])
@pytest.mark.parametrize("program", programs.PROGRAMS)
def test_a_cluster_on_the_cpu_has_the_cpus_values(program: str, one_dnn: str) -> None:
    run_with_tensorflow(
        call_to(programs.compare, program), {"HPU_COMPILE_MODE": "never", "TF_ENABLE_ONEDNN_OPTS": one_dnn}
    )
