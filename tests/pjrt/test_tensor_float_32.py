"""TensorFlow's and NVIDIA's TF32 settings determine the precision of float32 products on NVIDIA cards."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Callable, Iterator

import pytest
import tensorflow as tf

from tests.pjrt.cuda_plugin import PLUGIN, with_plugin
from tests.pjrt.test_targets import COMMAND
from tests.support.processes import ROOT, run

Program = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


@contextlib.contextmanager
def tensor_float_32(is_on: bool) -> Iterator[None]:
    """Sets TensorFlow's setting for a block."""
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(is_on)
    try:
        yield
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(before)


def _gradients(convolve: Program) -> Program:
    """The sum of the gradients of a convolution with respect to both operands."""

    def program(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            result = convolve(x, y)
        return tf.add_n([tf.reduce_sum(gradient) for gradient in tape.gradient(result, [x, y])])

    return program


def _loop(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    (result,) = tf.while_loop(lambda z: tf.reduce_sum(z) < 1, lambda z: (tf.matmul(z, y),), [x])
    return result


def _conv2d(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.nn.conv2d(x, y, 1, "SAME")


def _conv3d(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.nn.conv3d(x[tf.newaxis], y[tf.newaxis], [1] * 5, "SAME")


def _depthwise(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.nn.depthwise_conv2d(x, y, [1] * 4, "SAME")


MATRIX_PRODUCTS: dict[str, Program] = {
    "matmul": lambda x, y: tf.matmul(x[0, 0], y[0, 0]),
    "batched matmul": lambda x, y: tf.matmul(x, y),
    "einsum": lambda x, y: tf.einsum("bhij,bhjk->bik", x, y),
    "tensordot": lambda x, y: tf.tensordot(x, y, [[3], [2]]),
    "matmul in a loop": _loop,
}
CONVOLUTIONS: dict[str, Program] = {
    "conv2d": _conv2d,
    "conv3d": _conv3d,
    "depthwise": _depthwise,
    "conv2d gradients": _gradients(_conv2d),
    "conv3d gradients": _gradients(_conv3d),
    "depthwise gradients": _gradients(_depthwise),
}
OPS = {**MATRIX_PRODUCTS, **CONVOLUTIONS}


def _precisions(hpu: str, program: Program, dtype: tf.DType = tf.float32) -> list[bool]:
    """Whether each product of the compiled program requests full precision."""
    with tf.device(hpu):
        compiled = tf.function(program, jit_compile=True)
        values = [tf.zeros([3, 3, 4, 4], dtype)] * 2
        text = compiled.experimental_get_compiler_ir(*values)(stage="hlo")
    products = [line for line in text.splitlines() if " dot(" in line or " convolution(" in line]
    assert products
    return ["operand_precision={highest,highest}" in line for line in products]


@pytest.mark.parametrize("is_on", [True, False], ids=["on", "off"])
@pytest.mark.parametrize("op", OPS)
def test_programs_request_full_precision_without_tf32(hpu: str, op: str, is_on: bool) -> None:
    with tensor_float_32(is_on):
        assert set(_precisions(hpu, OPS[op])) == {not is_on}


@pytest.mark.parametrize(
    ("variable", "value", "ops"),
    [
        ("NVIDIA_TF32_OVERRIDE", "0", OPS),
        ("NVIDIA_TF32_OVERRIDE", "1", {}),
        ("TF_DISABLE_CUBLAS_TENSOR_OP_MATH", "1", MATRIX_PRODUCTS),
        ("TF_DISABLE_CUDNN_TENSOR_OP_MATH", "1", CONVOLUTIONS),
    ],
)
def test_variables_request_full_precision(
    hpu: str, variable: str, value: str, ops: dict[str, Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with tensor_float_32(True):
        requests = {op: set(_precisions(hpu, program)) for op, program in OPS.items()}
    assert requests == {op: {op in ops} for op in OPS}


def test_other_types_keep_their_precision(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    assert _precisions(hpu, MATRIX_PRODUCTS["matmul"], tf.bfloat16) == [False]


@with_plugin
@pytest.mark.parametrize("is_on", [True, False], ids=["on", "off"])
def test_code_for_a_card_uses_tf32_unless_it_is_off(tmp_path: pathlib.Path, is_on: bool) -> None:
    environment = {
        "HPU_BACKEND": f"pjrt:{PLUGIN}",
        "HPU_PJRT_XLA_FLAGS": f"--xla_dump_to={tmp_path} --xla_dump_emitter_re=ptx",
        "NVIDIA_TF32_OVERRIDE": str(int(is_on)),
    }
    script = ROOT / "tests" / "pjrt" / "programs" / "one_product.py"
    run([*COMMAND, "compile-check", "--target", "h100", str(script)], environment, timeout=280)
    code = [path.read_text() for path in tmp_path.glob("*.ptx")]
    assert code and any(".tf32" in text for text in code) == is_on
