"""Conversions of SavedModels by TensorFlow's MLIR importer: tf.lite, tf.mlir and tf.quantization."""

from __future__ import annotations

import pathlib

import pytest

from tests.device import saved_model_import_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


@pytest.fixture(scope="module")
def saved_models(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    directory = tmp_path_factory.mktemp("saved_models")
    run_with_tensorflow(call_to(programs.save, str(directory)))
    return directory


def test_conversions_equal_those_without_the_hpu(saved_models: pathlib.Path) -> None:
    converted = []
    for load_hpu in (False, True):
        output = saved_models / f"converted_{load_hpu}"
        run_with_tensorflow(call_to(programs.convert, str(saved_models), str(output), load_hpu))
        converted.append({path.name: path.read_bytes() for path in output.iterdir()})
    without, with_hpu = converted
    assert len(without) == 9
    for name, expected in without.items():
        assert with_hpu[name] == expected, name


def test_models_in_memory_are_converted() -> None:
    run_with_tensorflow(call_to(programs.convert_models))


def test_saved_models_are_quantized(saved_models: pathlib.Path) -> None:
    run_with_tensorflow(call_to(programs.quantize, str(saved_models)))
