"""load_habana_module() leaves the choice of Keras to the program, and patches each Keras when it is imported."""

from __future__ import annotations

import importlib.util

import pytest

from tests.python import keras_import_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

tf_keras = pytest.mark.skipif(importlib.util.find_spec("tf_keras") is None, reason="tf_keras is not installed")


def test_loading_does_not_select_a_keras() -> None:
    hook = {"TF_HOOK_MODE": "keras", "HABANA_PROFILE_RANGE": "0:1"}
    run_with_tensorflow(call_to(programs.load_without_selection), hook)


@pytest.mark.parametrize("imported_first", [False, True])
def test_keras_is_patched(imported_first: bool) -> None:
    run_with_tensorflow(call_to(programs.patched, "keras", imported_first))


@tf_keras
@pytest.mark.parametrize("imported_first", [False, True])
def test_tf_keras_is_patched(imported_first: bool) -> None:
    run_with_tensorflow(call_to(programs.patched, "tf_keras", imported_first))


@tf_keras
def test_tf_keras_can_be_selected_after_loading() -> None:
    run_with_tensorflow(call_to(programs.select_tf_keras))


def test_another_keras_is_not_patched() -> None:
    run_with_tensorflow(call_to(programs.other_version))
