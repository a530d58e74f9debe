"""Importing the package has no side effects."""

from __future__ import annotations

import pytest

from tests.python import imports_programs as programs
from tests.support.processes import call_to, run_python

MODULES = (
    "habana_frameworks.tensorflow",
    "habana_frameworks.tensorflow.multinode_helpers",
    "habana_frameworks.tensorflow.habana_device",
    "habana_frameworks.tensorflow.statistics",
    "habana_frameworks.tensorflow.sysconfig",
    "habana_frameworks.tensorflow.cli",
    "habana_frameworks.tensorflow.recipe_store",
)


@pytest.mark.parametrize("module", MODULES)
def test_import_is_silent_and_light(module: str) -> None:
    done = run_python(call_to(programs.import_alone, module))
    assert done.stdout == ""
    assert done.stderr == ""


def test_public_names() -> None:
    import habana_frameworks.tensorflow as htf

    assert callable(htf.load_habana_module) and callable(htf.load_op_library)
    assert htf.__version__ == htf.sysconfig.__version__ == "0.2.0"
    assert all(hasattr(htf, name) for name in htf.__all__)


def test_habana_frameworks_is_a_namespace_package() -> None:
    import habana_frameworks

    assert getattr(habana_frameworks, "__file__", None) is None


def test_ops_before_loading() -> None:
    assert run_python(call_to(programs.access_ops_before_load)).stdout.splitlines() == [
        f"looking for {name}, but habana module seems not to be loaded yet: call load_habana_module() first"
        for name in ("habana_launch", "ops")
    ]
