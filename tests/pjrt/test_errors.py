"""Missing or invalid plugins, and rejected plugin options: the program continues without an HPU."""

from __future__ import annotations

import importlib.util
import pathlib

import pytest

from tests.nvidia.machine import compiled
from tests.pjrt import errors_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("pjrt:abacus", "not a known plugin; expected one of cpu, cuda, or the path of a plugin"),
        ("pjrt:/nonexistent/plugin.so", "cannot read the PJRT plugin /nonexistent/plugin.so: No such file"),
        ("pjrt:/proc/self/exe", "cannot load the PJRT plugin /proc/self/exe"),
    ],
)
def test_missing_plugins_are_reported(backend: str, message: str) -> None:
    done = run_with_tensorflow(call_to(programs.load_and_compute), {"HPU_BACKEND": backend})
    assert message in done.stdout
    assert "CPU computes 3.0" in done.stdout


@pytest.mark.parametrize(("options", "message"), [("no_such_option=1", "no_such_option"), ("memory", "name=value")])
def test_refused_options_are_reported(options: str, message: str) -> None:
    environment = {"HPU_BACKEND": "pjrt:cpu", "HPU_PJRT_OPTIONS": options}
    done = run_with_tensorflow(call_to(programs.load_and_compute), environment)
    assert message in done.stdout
    assert "CPU computes 3.0" in done.stdout


def cuda_plugin_is_installed() -> bool:
    return importlib.util.find_spec("jax_plugins") is not None and any(
        importlib.util.find_spec(f"jax_plugins.xla_cuda{version}") for version in (12, 13)
    )


@pytest.mark.skipif(cuda_plugin_is_installed(), reason="the CUDA plugin is installed")
def test_a_plugin_that_is_not_installed_is_reported_with_the_package() -> None:
    done = run_with_tensorflow(call_to(programs.load_and_compute), {"HPU_BACKEND": "pjrt:cuda"})
    assert "HPU_BACKEND=pjrt:cuda: no plugin (jax_plugins/xla_cuda13/xla_cuda_plugin.so" in done.stdout
    assert "pip install 'hpu-tensorflow[cuda13]'" in done.stdout
    assert "CPU computes 3.0" in done.stdout


def test_a_plugin_that_is_too_old_is_reported_with_the_expected_version(tmp_path: pathlib.Path) -> None:
    plugin = tmp_path / "old_plugin.so"
    plugin.write_bytes(compiled("pjrt_plugin.c", "-DMINOR=50"))
    done = run_with_tensorflow(call_to(programs.load_and_compute), {"HPU_BACKEND": f"pjrt:{plugin}"})
    assert "has version 0.50 of the PJRT C API; expected 0.57 or a later 0.x" in done.stdout
    assert "CPU computes 3.0" in done.stdout
