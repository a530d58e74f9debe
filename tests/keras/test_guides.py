"""Programs after the guides of TensorFlow and Keras train as on the CPU, each step in one launch."""

from __future__ import annotations

import pytest

from tests.keras import guide_programs
from tests.support.keras_package import IS_KERAS_2
from tests.support.processes import call_to, run_with_tensorflow

# With Keras 3, tf.keras is Keras 3 or the package tf_keras.
PACKAGES = ("0",) if IS_KERAS_2 else ("0", "1")


@pytest.mark.parametrize("legacy", PACKAGES)
@pytest.mark.parametrize("name", [program.__name__ for program in guide_programs.PROGRAMS])
def test_a_step_is_one_launch(name: str, legacy: str) -> None:
    environment: dict[str, str | None] = {"TF_USE_LEGACY_KERAS": legacy, "HPU_COMPILE_MODE": "strict"}
    run_with_tensorflow(call_to(guide_programs.main, name), environment, timeout=200)
