"""HPU_EMULATOR_TARGET=generic: numbers and recipes do not depend on what the processor has beyond every x86-64 one."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping

from tests.support.processes import run_with_tensorflow

# Other code of the C library, where it chooses by the processor, and of oneDNN: what this process sees of a lesser one.
_LESS = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX2_Usable,-FMA_Usable,-AVX512F_Usable",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
}

_PROGRAM = """
    import hashlib, json
    import numpy as np
    import habana_frameworks.tensorflow as htf
    htf.load_habana_module()
    import tensorflow as tf

    def numbers(*shape):
        return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)

    def computed(x, w, images, filters, pixels, depths, gradients):
        positive = tf.abs(x) + 0.1
        small = tf.cast(x, tf.bfloat16)
        size = filters.shape
        ones = tf.ones([images.shape[-1]])
        return {
            **{op.__name__: op(x) for op in (tf.exp, tf.sin, tf.cos, tf.tan, tf.tanh, tf.math.erf, tf.sigmoid,
                                             tf.math.expm1, tf.nn.gelu, tf.nn.softmax, tf.math.cumsum)},
            **{op.__name__: op(positive) for op in (tf.math.log, tf.math.log1p, tf.math.rsqrt, tf.math.lgamma)},
            "pow": tf.pow(positive, 1.7),
            "atan2": tf.atan2(x, positive),
            "softmax of columns": tf.nn.softmax(x, 0),
            "sums of rows": tf.reduce_sum(x, 1),
            "sums of columns": tf.reduce_sum(x, 0),
            "product": tf.matmul(x, w),
            "product of bfloat16": tf.cast(tf.matmul(small, tf.cast(w, tf.bfloat16)), tf.float32),
            "products": tf.matmul(tf.reshape(x, [4, 64, -1]), tf.reshape(x, [4, 64, -1]), transpose_b=True),
            "convolution": tf.nn.conv2d(images, filters, 1, "SAME"),
            "convolution of pixels": tf.nn.conv2d(images, pixels, 1, "SAME"),
            "depthwise convolution": tf.nn.depthwise_conv2d(images, depths, [1, 2, 2, 1], "SAME"),
            "filter gradient": tf.raw_ops.Conv2DBackpropFilter(
                input=images, filter_sizes=size, out_backprop=gradients, strides=[1, 1, 1, 1], padding="SAME"),
            "input gradient": tf.raw_ops.Conv2DBackpropInput(
                input_sizes=images.shape, filter=filters, out_backprop=gradients, strides=[1, 1, 1, 1], padding="SAME"),
            "batch normalisation": tf.raw_ops.FusedBatchNormV3(
                x=images, scale=ones, offset=ones, mean=[], variance=[])[0],
            "pooling": tf.nn.avg_pool2d(images, 3, 2, "SAME"),
            "resizing": tf.image.resize(images, [20, 20]),
        }

    arguments = [numbers(256, 160), numbers(160, 128), numbers(2, 12, 12, 24), numbers(3, 3, 24, 32),
                 numbers(1, 1, 24, 32), numbers(3, 3, 24, 1), numbers(2, 12, 12, 32)]
    def digest(value):
        return hashlib.sha256(value.numpy().tobytes()).hexdigest()

    with tf.device("/device:HPU:0"):
        results = tf.function(computed)(*map(tf.constant, arguments))
    digests = {name: digest(value) for name, value in results.items()}
    with tf.device("/device:CPU:0"):
        digests["on the CPU"] = digest(tf.matmul(*map(tf.constant, arguments[:2])))
    print(json.dumps(digests))
"""


def _digests(cache: pathlib.Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Of each result, and under "recipe" the name of the recipe that computed them."""
    cache.mkdir()
    settings = {
        "HPU_EMULATOR_TARGET": "generic",
        "HPU_EMULATOR_THREADS": "2",
        "TF_RECIPE_CACHE_PATH": str(cache),
        "TF_ENABLE_ONEDNN_OPTS": "1",
        **environment,
    }
    output = run_with_tensorflow(_PROGRAM, settings, timeout=200).stdout
    digests: dict[str, str] = json.loads(output.splitlines()[-1])
    (recipe,) = cache.rglob("*.recipe")
    return {**digests, "recipe": recipe.name}


def test_numbers_are_those_of_a_lesser_processor(tmp_path: pathlib.Path) -> None:
    here, less = _digests(tmp_path / "here", {}), _digests(tmp_path / "less", _LESS)
    # Shows that code is chosen otherwise there, on any processor that has AVX2.
    if " avx2 " in pathlib.Path("/proc/cpuinfo").read_text():
        assert here["on the CPU"] != less["on the CPU"]
    del here["on the CPU"], less["on the CPU"]
    assert here == less
