"""load_op_library(): a user's op, built with the flags of sysconfig, together with the HPU."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

SOURCE = """
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

REGISTER_OP("TestNegate").Input("x: float").Output("y: float").SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class NegateOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &y));
    for (int64_t i = 0; i < y->NumElements(); ++i) y->flat<float>()(i) = -context->input(0).flat<float>()(i);
  }
};
REGISTER_KERNEL_BUILDER(Name("TestNegate").Device("CPU"), NegateOp);
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++ to build the op")
def test_op_with_a_cpu_kernel(hpu: str, tmp_path: pathlib.Path) -> None:
    import tensorflow as tf

    from habana_frameworks.tensorflow import load_op_library, sysconfig

    source = tmp_path / "negate.cc"
    source.write_text(SOURCE)
    library = tmp_path / "libnegate.so"
    compile_flags = [*tf.sysconfig.get_compile_flags(), *sysconfig.get_compile_flags()]
    link_flags = [*tf.sysconfig.get_link_flags(), *sysconfig.get_link_flags()]
    command = ["g++", "-std=c++17", "-O0", "-w", "-shared", "-fPIC", *compile_flags, str(source), "-o", str(library)]
    subprocess.run([*command, *link_flags], check=True, timeout=280)

    ops = load_op_library(library)
    assert load_op_library(str(library)).test_negate is not None, "the second load failed"
    with tf.device(hpu):
        x = tf.constant([1.0, -2.0]) * 3.0
    assert ops.test_negate(x).numpy().tolist() == [-3.0, 6.0]

    @tf.function
    def twice(value: tf.Tensor) -> tf.Tensor:
        return ops.test_negate(ops.test_negate(value * 2.0) + 1.0)

    assert twice(x).numpy().tolist() == [5.0, -13.0]
