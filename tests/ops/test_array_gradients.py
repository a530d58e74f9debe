"""Gradients of TensorFlow 1's TensorArrays, which TensorFlow's ops create."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")
raw = tf.raw_ops


def written(x: Any) -> Any:
    array = raw.TensorArrayV3(size=2, dtype=x.dtype, tensor_array_name="rows", clear_after_read=False)
    flow = raw.TensorArrayScatterV3(handle=array.handle, indices=[0, 1], value=tf.stack([x, x * 2]), flow_in=array.flow)
    gradient = raw.TensorArrayGradV3(handle=array.handle, flow_in=flow, source="gradients")
    handle = gradient.grad_handle
    flow = raw.TensorArrayWriteV3(handle=handle, index=1, value=x * 3, flow_in=gradient.flow_out)
    return raw.TensorArrayReadV3(handle=handle, index=1, flow_in=flow, dtype=x.dtype)


@pytest.mark.parametrize("jit", [True, None])
def test_written_and_read(jit: bool | None) -> None:
    def run(device: str) -> Any:
        with tf.device(device):
            return tf.function(written, jit_compile=jit)(tf.constant([1.0, 2.0, 3.0]))

    assert_close(run(HPU), run(CPU))
