"""No unrequested transposes: images keep one dimension order from the first op to the weight update."""

from __future__ import annotations

import math
import pathlib
import re

from tests.kernels import layouts_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def _programs(dump: pathlib.Path, order: list[int]) -> list[str]:
    """Returns the optimised HLO of the step and of its outlined functions, one line per instruction.

    A recipe of thunks has a kernel for each loop instead of outlined functions.
    """
    flags = f"--xla_dump_to={dump} --xla_dump_hlo_as_text"
    run_with_tensorflow(call_to(programs.train_step, order), {"XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "2"})
    (program,) = dump.glob("*habana_cluster_step_0*.cpu_after_optimizations.txt")
    functions = sorted(dump.glob("*.function.cpu_after_optimizations.txt"))
    assert functions or any(dump.glob("*_kernel_module-*")), "the step has neither outlined functions nor kernels"
    return [line for file in [program, *functions] for line in file.read_text().splitlines()]


def _moves(program: list[str]) -> list[str]:
    """Returns the instructions that change an image's layout. Ignores weights, which are smaller."""
    found = []
    for line in program:
        match = re.search(r" = \w+\[([\d,]+)\]\S* (transpose|copy)\(", line)
        if match and math.prod(int(size) for size in match[1].split(",")) >= 1024:
            found.append(line)
    return found


def test_an_image_network_has_no_transposes(tmp_path: pathlib.Path) -> None:
    program = _programs(tmp_path, [0, 1, 2, 3])
    assert sum("convolution." in line for line in program) >= 6, "no kernels of convolutions in the program"
    assert _moves(program) == []


def test_a_transpose_that_a_user_asks_for(tmp_path: pathlib.Path) -> None:
    moves = _moves(_programs(tmp_path, [0, 2, 1, 3]))
    assert moves and all('op_type="Transpose"' in line for line in moves)
