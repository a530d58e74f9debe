"""The whole accelerator kit: packed, unpacked into a folder of its own, and run there on a CPU plugin."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest

from tests.support.processes import ROOT, call_to, run_with_tensorflow
from tests.tools import kit_programs as programs

_SECONDS = 1800
# Checks of each part of the kit: C++ programs, Python and TensorFlow, recorded results, recipes.
CHECKS = ("client", "numerics:mlp", "recipes", "profiler")


@pytest.fixture
def folder() -> Iterator[pathlib.Path]:
    """A folder that is removed afterwards. pytest keeps its own folders, and the kit has 2 GB."""
    with tempfile.TemporaryDirectory(prefix="hpu-tests-") as path:
        yield pathlib.Path(path)


@pytest.fixture
def corpus(folder: pathlib.Path) -> pathlib.Path:
    """A corpus with one program."""
    path = folder / "corpus"
    (path / "programs").mkdir(parents=True)
    run_with_tensorflow(call_to(programs.record_corpus, "mlp", str(path / "programs")), {"HPU_BACKEND": "emulator"})
    return path


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS)
@pytest.mark.skipif(importlib.util.find_spec("lammps_jax_pjrt_cpu") is None, reason="needs lammps-jax-pjrt-cpu")
@pytest.mark.skipif(not (ROOT / "build" / "hpu_cts").exists(), reason="needs `make build-tests`")
def test_the_kit_runs_without_the_tree(folder: pathlib.Path, corpus: pathlib.Path) -> None:
    pieces, machine = folder / "pieces", folder / "machine"
    command = [sys.executable, "-m", "tools.accelerator.pack", "--out", str(pieces), "--corpus", str(corpus)]
    subprocess.run([*command, "--cpu-plugin", "--preset", "0"], cwd=ROOT, check=True, timeout=_SECONDS)
    shutil.copytree(pieces, machine)
    run_py = [sys.executable, "-I", "-S", str(machine / "run.py")]
    done = subprocess.run(
        [*run_py, "check", "--backend", "pjrt:cpu", "--only", *CHECKS, "--json"],
        cwd=machine,
        env={"PATH": "/nowhere"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    results = json.loads(done.stdout)
    assert results["backend"].startswith(f"pjrt:{machine / 'kit' / 'python'}")
    assert {name.partition(":")[0] for name in results["checks"]} == {name.partition(":")[0] for name in CHECKS}
    assert {check["status"] for check in results["checks"].values()} == {"passed"}, results["checks"]
    assert done.returncode == 0
