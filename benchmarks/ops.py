"""Time of single ops on the emulated HPU and in TensorFlow on the CPU, in one process: one line per op and shape."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from benchmarks.measure import Times, in_turns
from benchmarks.op_cases.case import OpCase, Shape, gradient, gradients
from benchmarks.op_cases.elements import elementary, random_numbers
from benchmarks.op_cases.images import images
from benchmarks.op_cases.indexed import indexed
from benchmarks.op_cases.linear import fourier, linear_algebra, products
from benchmarks.op_cases.sorted import sorts
from benchmarks.op_cases.windows import convolutions, pools

DEVICES = {"hpu": "/device:HPU:0", "cpu": "/device:CPU:0"}


def _batch_norm(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> Any:
    return tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=[], variance=[], is_training=True)[:3]


def _batch_norm_bfloat16(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> Any:
    return _batch_norm(x, tf.cast(scale, tf.float32), tf.cast(offset, tf.float32))


def _batch_norm_gradient(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, dy: tf.Tensor) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([x, scale, offset])
        y = _batch_norm(x, scale, offset)[0]
    return tape.gradient(y, [x, scale, offset], output_gradients=dy)


def _layer_norm(x: tf.Tensor) -> tf.Tensor:
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-6)


def _group_norm(x: tf.Tensor, groups: int) -> tf.Tensor:
    grouped = tf.reshape(x, [*x.shape[:3], groups, -1])
    mean, variance = tf.nn.moments(grouped, [1, 2, 4], keepdims=True)
    return tf.reshape((grouped - mean) * tf.math.rsqrt(variance + 1e-5), x.shape)


def _instance_norm(x: tf.Tensor) -> tf.Tensor:
    mean, variance = tf.nn.moments(x, [1, 2], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


def _rms_norm(x: tf.Tensor) -> tf.Tensor:
    return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-6)


def _huber(x: tf.Tensor) -> tf.Tensor:
    error = tf.abs(x)
    return tf.where(error < 1, 0.5 * error * error, error - 0.5)


def _local_response(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.lrn(x, beta=0.75)


def _ctc(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    length, frames = labels.shape[1], logits.shape[0]
    batch = labels.shape[0]
    return tf.nn.ctc_loss(labels, logits, tf.fill([batch], length), tf.fill([batch], frames), blank_index=0)


def _losses(matrix: Shape) -> list[OpCase]:
    def sigmoid(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def softmax(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def cosine(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.math.l2_normalize(x, -1) * tf.math.l2_normalize(y, -1), -1)

    return [
        OpCase("sigmoid cross entropy", sigmoid, (matrix, matrix), uniform=True),
        OpCase("sigmoid cross entropy gradients", gradient(sigmoid, 0), (matrix,) * 3, uniform=True),
        OpCase("softmax cross entropy", softmax, (matrix, matrix), uniform=True),
        OpCase("softmax cross entropy gradient", gradient(softmax, 0), (matrix, matrix, matrix[:1]), uniform=True),
        OpCase("softmax cross entropy gradient", gradient(softmax, 0), (matrix, matrix, matrix[:1]), tf.bfloat16),
        OpCase("cosine similarity", cosine, (matrix, matrix)),
        OpCase("cosine similarity gradients", gradient(cosine), (matrix, matrix, matrix[:1])),
        *gradients("Huber loss", _huber, matrix, matrix),
        OpCase("half of squares", tf.nn.l2_loss, (matrix,)),
        OpCase("CTC loss", _ctc, ((64, 32, 64), (32, 16)), indices_below=64),
    ]


def _normalisations(matrix: Shape) -> list[OpCase]:
    image = (8, 24, 24, 256)

    def groups(x: tf.Tensor) -> tf.Tensor:
        return _group_norm(x, 16)

    return [
        *gradients("layer norm", _layer_norm, matrix, matrix, tf.bfloat16),
        *gradients("RMS norm", _rms_norm, matrix, matrix),
        *gradients("group norm", groups, image, image),
        *gradients("instance norm", _instance_norm, image, image),
        OpCase("batch norm", _batch_norm_bfloat16, (image, (256,), (256,)), tf.bfloat16),
        OpCase(
            "batch norm in inference",
            lambda x, mean, variance, offset, scale: tf.nn.batch_normalization(
                x, mean, tf.abs(variance), offset, scale, 1e-3
            ),
            (image, (256,), (256,), (256,), (256,)),
        ),
        *gradients("l2 normalise", lambda x: tf.math.l2_normalize(x, -1), matrix, matrix),
        *gradients("local response normalisation of power 0.75", _local_response, (8, 24, 24, 64), (8, 24, 24, 64)),
        OpCase("moments", lambda x: tf.nn.moments(x, [0, 1, 2]), (image,)),
        OpCase("moments of rows", lambda x: tf.nn.moments(x, 1), (matrix,)),
        OpCase("clip by norm", lambda x: tf.clip_by_norm(x, 1.0), (matrix,)),
        OpCase("clip by norm of rows", lambda x: tf.clip_by_norm(x, 1.0, 1), (matrix,)),
        *gradients("softmax", tf.nn.softmax, matrix, matrix, tf.bfloat16),
        *gradients("log softmax", tf.nn.log_softmax, matrix, matrix, tf.bfloat16),
    ]


def _reductions(matrix: Shape) -> list[OpCase]:
    functions: dict[str, Callable[[tf.Tensor], Any]] = {
        "logarithm of sums of exponentials": lambda x: tf.reduce_logsumexp(x, 1),
        "standard deviations": lambda x: tf.math.reduce_std(x, 1),
        "variances of columns": lambda x: tf.math.reduce_variance(x, 0),
        "products of rows": lambda x: tf.reduce_prod(x, 1),
        "products of columns": lambda x: tf.reduce_prod(x, 0),
        "means of rows": lambda x: tf.reduce_mean(x, 1),
        "mean": tf.reduce_mean,
        "greatest": tf.reduce_max,
        "lengths of rows": lambda x: tf.math.reduce_euclidean_norm(x, 1),
        "any of rows": lambda x: tf.reduce_any(x > 3, 1),
        "not zero": lambda x: tf.math.count_nonzero(x, 1),
        "argmax of all": lambda x: tf.argmax(tf.reshape(x, [-1])),
        "sums of whole numbers": lambda x: tf.reduce_sum(tf.cast(9 * x, tf.int32), 1),
        "maxima of whole numbers": lambda x: tf.reduce_max(tf.cast(9 * x, tf.int32), 1),
    }
    return [
        *(OpCase(name, function, (matrix,)) for name, function in functions.items()),
        *gradients("row sums", lambda x: tf.reduce_sum(x, 1), matrix, matrix[:1], tf.bfloat16),
        *gradients("row maxima", lambda x: tf.reduce_max(x, 1), matrix, matrix[:1]),
        *gradients("cumulative sum", lambda x: tf.cumsum(x, 1), matrix, matrix, tf.bfloat16),
        *gradients("cumulative product", lambda x: tf.math.cumprod(x, 1), (256, 256), (256, 256), uniform=True),
        OpCase("column sums", lambda x: tf.reduce_sum(x, 0), (matrix,), tf.bfloat16),
        OpCase("row maxima", lambda x: tf.reduce_max(x, 1), (matrix,), tf.bfloat16),
        OpCase("middle sums", lambda x: tf.reduce_sum(x, 1), ((64, 128, 128),)),
        *gradients("image means", lambda x: tf.reduce_mean(x, [1, 2]), (16, 24, 24, 128), (16, 128)),
        OpCase("add bias", tf.nn.bias_add, ((16, 24, 24, 128), (128,))),
        OpCase("bias gradient", lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x), ((8, 24, 24, 256),), tf.bfloat16),
        OpCase("add of many", lambda x, y, z: tf.add_n([x, y, z, x, y]), (matrix,) * 3),
    ]


def _arrays(matrix: Shape) -> list[OpCase]:
    """Ops that move elements."""
    return [
        OpCase("meshgrid", lambda x, y: tf.meshgrid(x, y), ((1024,), (1024,))),
        OpCase("linspace", lambda x: tf.linspace(0.0, x[0], 1 << 20), ((1,),)),
        OpCase("range", lambda x: tf.range(1 << 20) + tf.cast(x[0], tf.int32), ((1,),)),
        OpCase("fill", lambda x: tf.fill(matrix, x[0]), ((1,),)),
        OpCase("broadcast", lambda x: tf.broadcast_to(x, (64, *x.shape)), ((64, 512),)),
        OpCase("repeat", lambda x: tf.repeat(x, 4, 0), ((512, 512),)),
        OpCase("repeat columns", lambda x: tf.repeat(x, 4, 1), ((512, 512),)),
        OpCase("unstack", lambda x: tf.unstack(x, axis=1), ((2048, 8, 64),)),
        OpCase("slice", lambda x: tf.slice(x, [8, 8], [2000, 480]), (matrix,)),
        OpCase("concat of rows", lambda x, y: tf.concat([x, y], 0), (matrix, matrix)),
        OpCase("concat", lambda x, y: tf.concat([x, y], -1), (matrix, matrix), tf.bfloat16),
        OpCase("reverse of rows", lambda x: tf.reverse(x, [0]), (matrix,)),
        OpCase("reverse", lambda x: tf.reverse(x, [-1]), (matrix,), tf.bfloat16),
        OpCase("pad with symmetry", lambda x: tf.pad(x, [[0, 0], [4, 4]], "SYMMETRIC"), (matrix,)),
        OpCase("transpose of four", lambda x: tf.transpose(x, [3, 1, 2, 0]), ((32, 24, 24, 64),)),
        OpCase("identity of columns", lambda x: tf.eye(512, batch_shape=[8]) * x[0], ((1,),)),
        *gradients("tile", lambda x: tf.tile(x, [1, 4]), (512, 512), (512, 2048)),
        *gradients("concat of slices", lambda x: tf.concat([x[:, 256:], x[:, :256]], 1), matrix, matrix),
        *gradients(
            "pad by reflection",
            lambda x: tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT"),
            (8, 24, 24, 64),
            (8, 26, 26, 64),
        ),
        OpCase("frames of a signal", lambda x: tf.signal.frame(x, 512, 128), ((16, 16000),)),
        OpCase("overlapped frames", lambda x: tf.signal.overlap_and_add(x, 128), ((16, 122, 512),)),
    ]


def cases() -> list[OpCase]:
    matrix = (2048, 512)
    return [
        *convolutions(),
        *pools(),
        *images(),
        OpCase("batch norm", _batch_norm, ((8, 24, 24, 256), (256,), (256,))),
        OpCase("batch norm and gradient", _batch_norm_gradient, ((8, 24, 24, 256), (256,), (256,), (8, 24, 24, 256))),
        *gradients("layer norm", _layer_norm, matrix, matrix),
        *gradients("softmax", tf.nn.softmax, matrix, matrix),
        *gradients("softmax of columns", lambda x: tf.nn.softmax(x, 0), matrix, matrix),
        *gradients("softmax of columns", lambda x: tf.nn.softmax(x, 1), (16, 64, 512), (16, 64, 512)),
        *gradients("log softmax", tf.nn.log_softmax, matrix, matrix),
        *gradients("gelu", tf.nn.gelu, matrix, matrix),
        OpCase("column sums", lambda x: tf.reduce_sum(x, 0), ((4608, 256),)),
        OpCase("column maxima", lambda x: tf.reduce_max(x, 0), ((4608, 256),)),
        OpCase("column sums of squares", lambda x: tf.reduce_sum(x * x, 0), ((4608, 256),)),
        OpCase("row sums", lambda x: tf.reduce_sum(x, 1), ((4608, 256),)),
        OpCase("row maxima", lambda x: tf.reduce_max(x, 1), ((4608, 256),)),
        OpCase("row minima", lambda x: tf.reduce_min(x, 1), ((4608, 256),)),
        OpCase("column minima", lambda x: tf.reduce_min(x, 0), ((4608, 256),)),
        OpCase("argmax of rows", lambda x: tf.argmax(x, 1), (matrix,)),
        OpCase("argmax of short rows", lambda x: tf.argmax(x, 1), ((4096, 10),)),
        OpCase("argmax of columns", lambda x: tf.argmax(x, 0), (matrix,)),
        OpCase("argmin of rows", lambda x: tf.argmin(x, 1), (matrix,)),
        OpCase("sum", tf.reduce_sum, ((4608, 256),)),
        OpCase("bias gradient", lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x), ((8, 24, 24, 256),)),
        OpCase("add and relu", lambda x, y: tf.nn.relu(x + y), (matrix, matrix)),
        OpCase("matmul", tf.matmul, ((512, 512), (512, 512))),
        OpCase("matmul", tf.matmul, ((128, 784), (784, 512))),
        OpCase("matmul", tf.matmul, ((16, 128), (128, 256))),
        OpCase("matmul transposed", lambda x, y: tf.matmul(x, y, transpose_a=True), ((128, 784), (128, 512))),
        OpCase("matmul transposed", lambda x, y: tf.matmul(x, y, transpose_b=True), ((128, 512), (784, 512))),
        OpCase("matmul", tf.matmul, ((512, 512), (512, 512)), tf.bfloat16),
        OpCase("batched matmul", tf.matmul, ((256, 8, 8), (256, 8, 8))),
        OpCase("batched matmul", tf.matmul, ((64, 64, 32), (64, 32, 64))),
        OpCase("batched matmul", tf.matmul, ((16, 128, 128), (16, 128, 64))),
        OpCase(
            "attention scores",
            lambda q, k: tf.einsum("bqhd,bkhd->bhqk", q, k),
            ((16, 64, 4, 32), (16, 64, 4, 32)),
        ),
        OpCase("transpose", lambda x: tf.transpose(x, [0, 2, 1, 3]), ((16, 64, 8, 64),)),
        OpCase("transpose", tf.transpose, (matrix,)),
        OpCase("transpose", tf.transpose, (matrix,), tf.bfloat16),
        OpCase("transpose to NCHW", lambda x: tf.transpose(x, [0, 3, 1, 2]), ((8, 24, 24, 64),)),
        OpCase("transpose to NHWC", lambda x: tf.transpose(x, [0, 2, 3, 1]), ((8, 64, 24, 24),)),
        OpCase("concat", lambda x, y: tf.concat([x, y], -1), (matrix, matrix)),
        OpCase("cumulative sum", lambda x: tf.cumsum(x, 1), ((512, 512),)),
        OpCase("cumulative product", lambda x: tf.math.cumprod(x, 1), ((512, 512),)),
        OpCase("cumulative logarithm of sums", lambda x: tf.math.cumulative_logsumexp(x, 1), ((512, 512),)),
        OpCase("cumulative logarithm of sums of columns", lambda x: tf.math.cumulative_logsumexp(x, 0), ((512, 512),)),
        OpCase("cumulative sum of columns", lambda x: tf.cumsum(x, 0), (matrix,)),
        OpCase("pad", lambda x: tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), ((8, 24, 24, 64),)),
        OpCase("pad", lambda x: tf.pad(x, [[0, 0], [4, 4]]), (matrix,)),
        OpCase("reverse", lambda x: tf.reverse(x, [-1]), (matrix,)),
        OpCase("roll", lambda x: tf.roll(x, 3, axis=1), (matrix,)),
        OpCase("split", lambda x: tf.split(x, 4, -1), (matrix,)),
        OpCase("stack", lambda x, y: tf.stack([x, y], -1), (matrix, matrix)),
        *gradients("strided slice", lambda x: x[:, ::2, ::2], (8, 48, 48, 64), (8, 24, 24, 64)),
        OpCase("where", lambda x, y: tf.where(x > 0, x, y), (matrix, matrix)),
        *elementary(matrix),
        *random_numbers(matrix),
        OpCase("all finite", lambda x: tf.reduce_all(tf.math.is_finite(x)), ((4608, 256),)),
        *_normalisations(matrix),
        *_losses(matrix),
        *_reductions(matrix),
        *_arrays(matrix),
        *sorts(),
        OpCase("clip by global norm", lambda x, y: tf.clip_by_global_norm([x, y], 1.0)[0], (matrix, (512,))),
        OpCase("local response normalisation", tf.nn.lrn, ((8, 24, 24, 64),)),
        OpCase(
            "local response normalisation gradient",
            lambda x, y, dy: tf.raw_ops.LRNGrad(input_grads=dy, input_image=x, output_image=y),
            ((8, 24, 24, 64),) * 3,
        ),
        *linear_algebra(),
        *fourier(),
        *products(),
        *indexed(),
    ]


def repeated(case: OpCase, device: str) -> Callable[[int], None]:
    """Returns a function that runs the op n times. Reading one element of the last result waits for all runs."""
    inputs = case.inputs(device)
    function = tf.function(lambda *tensors: tf.nest.flatten(case.function(*tensors)))

    def run(times: int) -> None:
        with tf.device(device):
            for _ in range(times):
                results = function(*inputs)
            tf.reshape(results[0], [-1])[0].numpy()

    return run


def measure(case: OpCase, rounds: int, seconds_per_turn: float) -> Times:
    return in_turns({name: repeated(case, device) for name, device in DEVICES.items()}, rounds, seconds_per_turn)


def as_json(case: OpCase, times: Times) -> dict[str, Any]:
    return {
        "op": case.name,
        "shapes": case.shapes,
        "dtype": case.dtype.name,
        "seconds": {name: dataclasses.asdict(times.summary(name)) for name in DEVICES},
        "ratio": dataclasses.asdict(times.ratio("hpu", "cpu")),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", default="", help="only ops whose output line contains this text")
    parser.add_argument("--rounds", type=int, default=9, help="measurement rounds (default: 9)")
    parser.add_argument("--seconds", type=float, default=0.05, help="length of a turn (default: 0.05)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    results = []
    for case in cases():
        if arguments.ops not in case.label:
            continue
        try:
            times = measure(case, arguments.rounds, arguments.seconds)
        except tf.errors.OpError as error:  # for example dilated gradients on the CPU without oneDNN
            print(f"{case.label}: refused: {error.message.splitlines()[0]}", file=sys.stderr)
            continue
        results.append(as_json(case, times))
        if not arguments.json:
            ratio, seconds = results[-1]["ratio"], results[-1]["seconds"]
            print(
                f"{ratio['median']:6.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"
                f"  {1e6 * seconds['hpu']['median']:8.0f} {1e6 * seconds['cpu']['median']:8.0f} µs  {case.label}",
                flush=True,
            )
    if not results:
        parser.error(f"--ops: no op's output line contains {arguments.ops!r}")
    ratios = [result["ratio"]["median"] for result in results]
    if arguments.json:
        print(json.dumps({"cpus": os.cpu_count(), "results": results}, indent=2))
    else:
        print(f"median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}, of {len(ratios)} ops")
    return 0


if __name__ == "__main__":
    sys.exit(main())
