"""No transposes that a user did not ask for: images keep one order of dimensions from the first op to the update."""

from __future__ import annotations

import math
import pathlib
import re

from tests.support.processes import run_with_tensorflow

_STEP = """
    import habana_frameworks.tensorflow as htf
    htf.load_habana_module()
    import tensorflow as tf

    keras = tf.keras
    with tf.device("/device:HPU:0"):
        images = keras.Input([16, 16, 8], batch_size=4)
        x = keras.layers.Conv2D(16, 3, padding="same", use_bias=False)(images)
        x = keras.layers.ReLU()(keras.layers.BatchNormalization()(x))
        x = keras.layers.MaxPooling2D(3, 2, "same")(x)
        y = keras.layers.DepthwiseConv2D(3, padding="same")(x)
        x = x + keras.layers.Conv2D(16, 1)(keras.layers.ReLU(6.0)(y))
        x = keras.layers.AveragePooling2D()(keras.layers.Conv2D(32, 3, 2, "same")(x))
        model = keras.Model(images, keras.layers.Dense(10)(keras.layers.GlobalAveragePooling2D()(x)))
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        batch = tf.random.stateless_normal([4, 16, 16, 8], [1, 2])

        @tf.function
        def step(images, order):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(tf.transpose(images, order), training=True) ** 2)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss

        step(batch, {order})
"""


def _programs(dump: pathlib.Path, order: str) -> list[str]:
    """The step's optimised HLO, one line an instruction."""
    flags = f"--xla_dump_to={dump} --xla_dump_hlo_as_text"
    run_with_tensorflow(_STEP.replace("{order}", order), {"XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "2"})
    (program,) = dump.glob("*habana_cluster_step_0*.cpu_after_optimizations.txt")
    return program.read_text().splitlines()


def _moves(program: list[str]) -> list[str]:
    """What arranges an image anew; weights are smaller."""
    found = []
    for line in program:
        match = re.search(r" = \w+\[([\d,]+)\]\S* (transpose|copy)\(", line)
        if match and math.prod(int(size) for size in match[1].split(",")) >= 1024:
            found.append(line)
    return found


def test_a_network_of_images_transposes_nothing(tmp_path: pathlib.Path) -> None:
    program = _programs(tmp_path, "[0, 1, 2, 3]")
    assert sum("convolution." in line for line in program) >= 6, "no kernels of convolutions in the program"
    assert _moves(program) == []


def test_a_transpose_that_a_user_asks_for(tmp_path: pathlib.Path) -> None:
    moves = _moves(_programs(tmp_path, "[0, 2, 1, 3]"))
    assert moves and all('op_type="Transpose"' in line for line in moves)
