"""Custom ops of the HPU: the example, built with its CMake file, and the documented kernel interface."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import load_op_library, statistics, sysconfig
from habana_frameworks.tensorflow.explanation import passes
from tests.custom_ops import custom_kernels_programs as programs
from tests.pjrt.cuda_plugin import PLUGIN, with_plugin
from tests.support.clusters import assert_launched
from tests.support.compare import CPU, HPU
from tests.support.processes import WARM_PYTHON, call_to, run, run_with_tensorflow

pytestmark = [
    pytest.mark.usefixtures("hpu"),
    pytest.mark.skipif(shutil.which("g++") is None or shutil.which("cmake") is None, reason="needs g++ and cmake"),
]

EXAMPLE = pathlib.Path("examples/custom_op")
HERE = pathlib.Path(__file__).parent
ON_PLUGIN = os.environ.get("HPU_BACKEND", "").startswith("pjrt:")


def kernel_error(match: str) -> contextlib.AbstractContextManager[pytest.ExceptionInfo[tf.errors.OpError]]:
    """Expects an error of a user kernel. PJRT plugins cannot call user kernels, so they have another error."""
    if ON_PLUGIN:
        return pytest.raises(tf.errors.UnimplementedError, match=programs.REFUSAL)
    return pytest.raises(tf.errors.OpError, match=match)


@pytest.fixture(scope="module")
def custom_div_library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Path of the example's library, built with its CMake file."""
    build = tmp_path_factory.mktemp("custom_op")
    configure = ["cmake", "-S", str(EXAMPLE), "-B", str(build), "-DCMAKE_BUILD_TYPE=Debug"]
    subprocess.run([*configure, f"-DPython3_EXECUTABLE={sys.executable}"], check=True, timeout=120)
    subprocess.run(["cmake", "--build", str(build)], check=True, timeout=240)
    return build / "libhpu_custom_div_op.so"


@pytest.fixture(scope="module")
def custom_div(custom_div_library: pathlib.Path) -> Any:
    """Op wrappers of the example."""
    return load_op_library(custom_div_library)


@pytest.fixture(scope="module")
def test_ops_library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    build = tmp_path_factory.mktemp("test_ops")
    library = build / "libtest_ops.so"
    flags = [*tf.sysconfig.get_compile_flags(), *sysconfig.get_compile_flags()]
    links = [*sysconfig.get_link_flags(), *tf.sysconfig.get_link_flags()]
    command = ["g++", "-std=c++17", "-O0", "-w", "-shared", "-fPIC", *flags, str(HERE / "test_ops.cc")]
    subprocess.run([*command, "-o", str(library), *links], check=True, timeout=280)
    return library


@pytest.fixture(scope="module")
def test_ops(test_ops_library: pathlib.Path) -> Any:
    return load_op_library(test_ops_library)


@pytest.fixture
def kernel_path(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Builds a library of user kernels in plain C, and sets GC_KERNEL_PATH to it."""
    library = tmp_path / "libtest_kernels.so"
    source = str(HERE / "test_kernels.c")
    command = ["gcc", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{sysconfig.get_include_dir()}", source]
    subprocess.run([*command, "-o", str(library)], check=True, timeout=60)
    monkeypatch.setenv("GC_KERNEL_PATH", str(library))
    return library


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_exact_quotient_eager(custom_div: Any, dtype: tf.DType) -> None:
    with tf.device(HPU):
        quotient = custom_div.custom_div_op(tf.constant([1456.0], dtype), tf.constant([32.0], dtype), example_attr=23)
    assert quotient.device.endswith(HPU) and quotient.dtype == dtype
    assert float(quotient[0]) == 45.5


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_exact_quotient_with_unknown_shapes(custom_div: Any, dtype: tf.DType) -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, dtype)] * 2)
    def divide(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return custom_div.custom_div_op(a * 1.0, b, example_attr=23) * 1.0

    statistics.reset()
    assert float(divide(tf.constant([1456.0], dtype), tf.constant([32.0], dtype))[0]) == 45.5
    square = divide(tf.constant([[1456.0, 8.0], [6.0, 1.0]], dtype), tf.constant([[32.0, 2.0], [3.0, 4.0]], dtype))
    assert tf.cast(square, tf.float32).numpy().tolist() == [[45.5, 4.0], [2.0, 0.25]]
    (cluster,) = statistics.get().launched_clusters
    assert cluster.ops >= 3 and cluster.launches == 2 and cluster.fallbacks == 0, "the op is not clustered"


def test_conversion_to_bfloat16_needs_a_list_with_the_op(custom_div: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The conversion leaves custom ops alone, unless a list has the name in REGISTER_OP."""
    monkeypatch.setenv("TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE", "1")

    def converted() -> set[str]:
        @tf.function
        def divide(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
            return custom_div.custom_div_op(tf.matmul(a, a), b, example_attr=23)

        with tf.device(HPU):
            quotient = divide(tf.fill([2, 2], 3.0), tf.fill([2, 2], 1.0 + 2.0**-10))
        assert quotient.dtype == tf.float32
        assert bool(tf.reduce_all(quotient == 18.0)) == ("CustomDivOp" in ops_of_last_graph())  # bfloat16 rounds b to 1
        return ops_of_last_graph()

    def ops_of_last_graph() -> set[str]:
        return {rewrite.op for rewrite in passes.recent_reports()[-1].rewrites if rewrite.pass_name == "bf16"}

    assert converted() == {"MatMul"}
    monkeypatch.setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD", "CustomDivOp")
    assert converted() == {"MatMul", "CustomDivOp"}


def test_the_example_prints_only_its_result(custom_div_library: pathlib.Path) -> None:
    """The example prints only its result. TensorFlow checks all kernels when it loads a library."""
    done = run([WARM_PYTHON, str(EXAMPLE / "custom_div.py"), str(custom_div_library)])
    assert done.stdout.startswith("1456 / 32.0000 = 45.5") and "HPU:0" in done.stdout
    assert "unknown op" not in done.stderr, done.stderr


def test_gradient(custom_div: Any) -> None:
    spec = importlib.util.spec_from_file_location("custom_div", EXAMPLE / "custom_div.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.register_gradient(custom_div)

    def gradients(divide: Any) -> list[Any]:
        a, b = tf.Variable([3.0, -8.0]), tf.Variable([2.0, 5.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(divide(a, b) ** 2)
        return [gradient.numpy() for gradient in tape.gradient(y, [a, b])]

    with tf.device(CPU):
        expected = gradients(tf.divide)
    with tf.device(HPU):
        actual = gradients(lambda a, b: custom_div.custom_div_op(a, b, example_attr=1))
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_shapes_that_differ(custom_div: Any) -> None:
    with tf.device(HPU), pytest.raises(tf.errors.OpError, match=r"CustomDivOp.*\[2\], input2 \[3\]"):
        custom_div.custom_div_op(tf.ones([2]), tf.ones([3]), example_attr=1)


def test_custom_ops_ignore_op_lists(custom_div: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_OP_LIST", "gaudi")
    monkeypatch.setenv("HPU_OP_LIST_UNKNOWN", "cpu")

    @tf.function
    def divide(a: tf.Tensor) -> tf.Tensor:
        return custom_div.custom_div_op(a, a + a, example_attr=2)

    statistics.reset()
    assert divide(tf.constant([7.0])).numpy().tolist() == [0.5]
    assert_launched()
    (cluster,) = statistics.get().launched_clusters
    assert cluster.ops >= 2, "the cluster lacks the custom op"


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("test_undefined_output", "TestUndefinedOutput.*relu_fwd_f32.*output 0 is not defined"),
        ("test_no_node", "TestNoNode.*without calling DefineNode"),
        ("test_wrong_shape", r"test_square_fwd_f32.*result 0 has shape f32\[4\].*DefineOutputInfo declared f32\[3\]"),
    ],
)
def test_errors_of_functors(test_ops: Any, op: str, message: str) -> None:
    with tf.device(HPU), pytest.raises(tf.errors.OpError, match=message):
        getattr(test_ops, op)(tf.ones([4]))
    with pytest.raises(tf.errors.OpError, match=message):
        tf.function(getattr(test_ops, op))(tf.ones([4]))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        pytest.param("check", "lowering .*Check failed: .*a size that is checked", marks=pytest.mark.contained_crash),
        ("throw", "lowering .*a size that is thrown"),
        pytest.param("store", "lowering .*Segmentation fault", marks=pytest.mark.contained_crash),
    ],
)
def test_crashes_of_functors_are_errors(test_ops: Any, how: str, message: str) -> None:
    def crash(x: tf.Tensor) -> tf.Tensor:
        return test_ops.test_crash(x + 1.0, how=how, name="guilty")

    for call in (crash, tf.function(crash), tf.function(crash, jit_compile=True)):
        with tf.device(HPU), pytest.raises(tf.errors.InternalError, match=message) as raised:
            call(tf.ones([4]))
        assert how == "throw" or call is crash or "guilty" in raised.value.message
        assert how == "throw" or "TF_PLACE_ON_CPU=" in raised.value.message
        assert tf.function(lambda x: x * 2.0 + 1.0)(tf.ones([3])).numpy().tolist() == [3.0, 3.0, 3.0], "the HPU is lost"


def test_user_kernel(test_ops: Any, kernel_path: pathlib.Path) -> None:
    @tf.function
    def scaled(x: tf.Tensor) -> list[tf.Tensor]:
        guid = "test_scale_fwd_i32" if x.dtype == tf.int32 else "test_scale_fwd_f32"
        y, z = test_ops.test_kernel(x + x, guid=guid, scale=3.0)
        return [y + x, z]

    if ON_PLUGIN:
        with kernel_error(""):
            scaled(tf.constant([1.0, -2.0]))
        return
    statistics.reset()
    y, z = scaled(tf.constant([1.0, -2.0]))
    assert y.numpy().tolist() == [7.0, -14.0] and z.numpy().tolist() == [5.0, -1.0]
    y, z = scaled(tf.constant([[4]]))
    assert y.numpy().tolist() == [[28]] and z.numpy().tolist() == [[11]]
    assert_launched()
    with tf.device(HPU):
        y, z = test_ops.test_kernel(tf.constant([5.0]), guid="test_scale_fwd_f32", scale=2.0)
    assert y.numpy().tolist() == [10.0] and z.numpy().tolist() == [7.0]


def test_user_kernel_that_fails(test_ops: Any, kernel_path: pathlib.Path) -> None:
    with tf.device(HPU), kernel_error(r"test_fail_fwd_f32.*it was asked to fail on 1 dim"):
        test_ops.test_kernel(tf.constant([5.0]), guid="test_fail_fwd_f32")[0].numpy()
    with tf.device(HPU):
        assert (tf.constant([1.0]) + 1.0).numpy().tolist() == [2.0]


def test_arrays_of_failed_results_are_refused_too(test_ops: Any, kernel_path: pathlib.Path) -> None:
    """NumPy ignores the error of the first buffer read and reads again; the second read must also fail."""
    if ON_PLUGIN:
        with tf.device(HPU), kernel_error(""):
            test_ops.test_kernel(tf.constant([5.0]), guid="test_fail_fwd_f32")
        return
    with tf.device(HPU):
        failed = test_ops.test_kernel(tf.constant([5.0]), guid="test_fail_fwd_f32")[0]
        with pytest.raises(tf.errors.OpError, match="it was asked to fail"):
            np.asarray(failed)
        one = tf.constant([1.0]) + 1.0
        assert np.asarray(one).tolist() == one.__array__().tolist() == [2.0]


def test_unknown_guid(test_ops: Any, kernel_path: pathlib.Path) -> None:
    with tf.device(HPU), kernel_error(r"no kernel for the guid 'lost_fwd_f32'.*test_scale"):
        test_ops.test_kernel(tf.constant([5.0]), guid="lost_fwd_f32")


def test_unreadable_library(test_ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GC_KERNEL_PATH", "/nowhere/libkernels.so")
    with tf.device(HPU), pytest.raises(tf.errors.OpError, match=r"/nowhere/libkernels.so cannot be loaded"):
        test_ops.test_kernel(tf.constant([5.0]), guid="absent_fwd_f32")


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"HPU_BACKEND": "pjrt:cpu"}, id="pjrt:cpu"),
        pytest.param({"HPU_BACKEND": f"pjrt:{PLUGIN}", "HPU_PJRT_TARGET": "h100"}, id="h100", marks=with_plugin),
    ],
)
def test_plugins_refuse_user_kernels(
    test_ops_library: pathlib.Path, kernel_path: pathlib.Path, environment: dict[str, str]
) -> None:
    program = call_to(programs.print_refusals, str(test_ops_library))
    done = run_with_tensorflow(program, {**environment, "GC_KERNEL_PATH": str(kernel_path)})
    assert done.stdout.count("refused: ") == 3, done.stdout
