"""Cases of the value rules, and of the range of random integers: values that CPU kernels accept or refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.index_rule_cases import WAYS, WIDE, Array, Case, Cases, Program, array, empty

raw = tf.raw_ops
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SIGNED = WHOLE[:4]
FLOATS = ("float32", "float64")
NAN, INFINITY = float("nan"), float("inf")


def binary(name: str) -> Program:
    operation = getattr(raw, name)
    return lambda _, x, y: operation(x=x, y=y)


def pairs(dtype: str, *divisors: Sequence[int]) -> list[tuple[Array, Array]]:
    return [(array([7, 100, 9], dtype), array(divisor, dtype)) for divisor in divisors]


def divisions() -> Cases:
    usual = {("FloorDiv", dtype) for dtype in ("int8", "int32", "int64", "uint16", "uint64")}
    usual |= {
        ("FloorMod", "int64"),
        ("TruncateDiv", "int32"),
        ("TruncateMod", "int64"),
        ("Div", "int32"),
        ("Mod", "int64"),
    }
    for name in ("FloorDiv", "Div", "FloorMod", "Mod", "TruncateDiv", "TruncateMod"):
        operation = binary(name)
        for dtype in WIDE if name in ("Mod", "TruncateMod") else WHOLE:
            if name == "FloorMod" and dtype in ("uint8", "uint16"):  # TensorFlow has no kernel
                continue
            values = pairs(dtype, [2, 3, 5], [1, 2, 7], [0, 1, 2], [3, 2, 0], [0, 0, 0])
            yield f"{name.lower()}-{dtype}", Case(operation, values, slow=(name, dtype) not in usual)
    x, row = array([[7], [8]], "int64"), array([1, 2], "int64")
    yield "division-of-columns", Case(binary("FloorDiv"), [(x, row), (x, row * [1, 0])])
    yield "division-by-scalars", Case(binary("FloorDiv"), [(row, array(2, "int64")), (row, array(0, "int64"))])
    nothing = np.zeros((0, 2), "int64")
    for dtype in WIDE:
        none, zero = nothing.astype(dtype), array([1, 0], dtype)
        yield f"division-of-nothing-{dtype}", Case(binary("FloorDiv"), [(none, zero), (none, array([2, 1], dtype))])
        yield f"power-of-nothing-{dtype}", Case(binary("Pow"), [(none, zero), (none, array([2, -1], dtype))])
    yield "division-by-nothing", Case(binary("FloorMod"), [(row, nothing)])
    yield "power-by-nothing", Case(binary("Pow"), [(row, nothing)])
    for dtype in SIGNED:
        powers = [(array([2, 3, 1], dtype), array(power, dtype)) for power in ([2, 0, 3], [0, 1, 2], [1, 1, -1])]
        powers.append((array([2, 3, 1], dtype), array([np.iinfo(dtype).min, 1, 1], dtype)))
        yield f"pow-{dtype}", Case(binary("Pow"), powers)
    for dtype in FLOATS:  # not refused
        values = [(array([2, 3], dtype), array(y, dtype)) for y in ([1, 2], [0, -1], [-2, 0])]
        yield f"pow-{dtype}", Case(binary("Pow"), values, slow=True)
        yield f"floordiv-{dtype}", Case(binary("FloorDiv"), values, slow=True)


def bincount(size: int = 5) -> Program:
    return lambda _, numbers: raw.Bincount(arr=numbers, size=size, weights=tf.constant([], tf.int32))


def dense_bincount(size: int = 5) -> Program:
    return lambda _, numbers: raw.DenseBincount(
        input=numbers, size=tf.constant(size, numbers.dtype), weights=tf.constant([], tf.int32)
    )


def counts() -> Cases:
    least = np.iinfo("int32").min
    numbers = [(array(n, "int32"),) for n in ([1, 2, 7], [0, 0, 0], [1, 1, -1], [least, 1, 1])]
    yield "bincount", Case(bincount(), numbers)
    yield "bincount-no-bins", Case(bincount(0), numbers)
    yield "bincount-none", Case(bincount(), [(array([], "int32"),)])
    for dtype in WIDE:
        numbers = [(array(n, dtype),) for n in ([1, 2, 7], [0, 0, 0], [1, 1, -1], [np.iinfo(dtype).min, 1, 1])]
        yield f"dense-bincount-{dtype}", Case(dense_bincount(), numbers)
        yield f"dense-bincount-{dtype}-no-bins", Case(dense_bincount(0), numbers)
        yield f"dense-bincount-{dtype}-none", Case(dense_bincount(), [(array([], dtype),)])


def scale(images: Array) -> Program:
    return lambda _, factors: raw.ScaleAndTranslate(
        images=images, size=[2, 2], scale=factors, translation=[0.0, 0], kernel_type="triangle"
    )


def descend(weights: tf.Variable, sums: tf.Variable, rate: tf.Tensor) -> tf.Tensor:
    grad = tf.ones_like(weights) * 0.5
    raw.ResourceApplyProximalAdagrad(var=weights.handle, accum=sums.handle, lr=rate, l1=0.0, l2=0.0, grad=grad)
    return weights.read_value()


def positive_values() -> Cases:
    factors = [(array(f, "float32"),) for f in ([1, 2], [0.5, 1], [0, 1], [1, -1], [-INFINITY, 1], [1, -0.0], [NAN, 1])]
    yield "scale", Case(scale(np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)), factors, refused=True)
    yield "scale-none", Case(scale(empty(0, 2, 2, 1)), factors, refused=True)
    rates = [(array(rate, "float32"),) for rate in (0.5, 1e-30, 0, -0.0, -1, NAN, -INFINITY)]
    yield "rate", Case(descend, rates, array([[1, 2], [3, 4]], "float32"), own_text=False, variables=2)
    yield "rate-none", Case(descend, rates, empty(0, 2), own_text=False, variables=2, slow=True)


def crop(_: tf.Variable, boxes: tf.Tensor) -> tf.Tensor:
    images = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1)
    return tf.image.crop_and_resize(images, boxes, np.zeros(boxes.shape[0], np.int32), [2, 2])


def crop_grad_boxes(_: tf.Variable, boxes: tf.Tensor) -> tf.Tensor:
    images = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1)
    number = boxes.shape[0]
    return raw.CropAndResizeGradBoxes(
        grads=tf.ones([number, 2, 2, 1]), image=images, boxes=boxes, box_ind=np.zeros(number, np.int32)
    )


def boxes() -> Cases:
    good = array([[0, 0, 1, 1], [0, 0.5, 1, 1]], "float32")
    values = [(good,)]
    for number in (NAN, INFINITY, -INFINITY):
        values.append((np.where(np.arange(8).reshape(2, 4) == 6, np.float32(number), good),))
    yield "boxes", Case(crop, values)
    yield "no-boxes", Case(crop, [(empty(0, 4),)])
    yield "no-boxes-of-gradient", Case(crop_grad_boxes, [(empty(0, 4),)], slow=True)


def quantize(version: str, given: bool = True, size: int = 2) -> Program:
    options: dict[str, Any] = {"V2": {}, "V3": {"num_bits": 8}, "V4": {"axis": -1}}[version]

    def program(_: tf.Variable, low: tf.Tensor, high: tf.Tensor) -> tf.Tensor:
        x = tf.cast(tf.range(size), low.dtype) * tf.constant(0.5, low.dtype)
        operation = getattr(raw, f"QuantizeAndDequantize{version}")
        return operation(input=x, input_min=low, input_max=high, range_given=given, **options)

    return program


def ranges() -> Cases:
    limits = ((-1, 1), (1, 1), (0, 2), (2, 1), (INFINITY, 1), (1, -INFINITY))
    for version in ("V2", "V3", "V4"):
        for dtype in FLOATS:
            values = [(array(low, dtype), array(high, dtype)) for low, high in limits]
            slow = (version, dtype) not in {("V2", "float32"), ("V3", "float64"), ("V4", "float32")}
            yield f"quantize-{version}-{dtype}", Case(quantize(version), values, own_text=False, slow=slow)
        values = [(array(low, "float32"), array(high, "float32")) for low, high in limits[:4]]
        yield f"quantize-{version}-measured", Case(quantize(version, given=False), values, slow=version != "V4")
        yield f"quantize-{version}-none", Case(quantize(version, size=0), values, own_text=False, slow=version != "V2")


def band(matrices: Array) -> Program:
    return lambda _, lower, upper: tf.linalg.band_part(tf.constant(matrices), lower, upper)


def bands() -> Cases:
    for dtype in WIDE:
        numbers = ((1, 1), (-1, 0), (2, 3), (0, -1), (3, 0), (0, 4), (np.iinfo(dtype).max, 0), (-1000, 0))
        values = [(array(lower, dtype), array(upper, dtype)) for lower, upper in numbers]
        yield f"band-{dtype}", Case(band(np.arange(6, dtype=np.float32).reshape(2, 3)), values, own_text=False)
        yield f"band-{dtype}-batch", Case(band(np.ones((2, 2, 3), np.float32)), values, own_text=False, slow=True)
        yield f"band-{dtype}-no-matrices", Case(band(empty(0, 2, 3)), values, own_text=False)
        yield (
            f"band-{dtype}-empty-matrix",
            Case(band(empty(2, 0)), [values[1], values[0], values[4]], own_text=False, slow=True),
        )


def unary(operation: Any) -> Program:
    return lambda _, x: operation(x)


def solve(_: tf.Variable, x: tf.Tensor) -> tf.Tensor:
    return tf.linalg.solve(x, tf.ones([*x.shape[:-1], 2], x.dtype))


OPERATIONS: dict[str, Program] = {
    "inverse": unary(tf.linalg.inv),
    "lu": unary(lambda x: tf.linalg.lu(x)[0]),
    "solve": solve,
    "eigenvalues": unary(tf.linalg.eigvalsh),
}


def factors() -> Cases:
    good, ones = np.array([[2, 1], [1, 3]]), np.ones((2, 2))
    nan, infinite, zeros = ones * NAN, np.array([[INFINITY, 0], [0, 1]]), np.zeros((2, 2))
    for name, program in OPERATIONS.items():
        for dtype in ("float32", "float64", "complex64"):
            values = [(array(matrix, dtype),) for matrix in (good, np.eye(2), ones, zeros)]
            # The rule does not hold for complex numbers.
            launches = () if dtype == "complex64" else WAYS
            yield f"{name}-{dtype}", Case(program, values, one_launch=launches, slow=dtype == "float64")
        yield f"{name}-nan", Case(program, [(array(good, "float32"),), (array(nan, "float32"),)])
        yield f"{name}-infinite", Case(program, [(array(good, "float32"),), (array(infinite, "float32"),)])
        batches = [(array([good, np.eye(2)], "float32"),), (array([good, ones], "float32"),)]
        yield f"{name}-batch", Case(program, batches, slow=name != "inverse")
        yield f"{name}-none", Case(program, [(empty(0, 2, 2),)], slow=name != "solve")
        yield f"{name}-empty", Case(program, [(empty(0, 0),)], slow=name != "inverse")


def draw(size: int = 3) -> Program:
    key, counter = np.array([3], np.uint64), np.array([1, 2], np.uint64)
    return lambda _, low, high: raw.StatelessRandomUniformIntV2(
        shape=[size], key=key, counter=counter, alg=1, minval=low, maxval=high
    )


def draws() -> Cases:
    for dtype in ("int32", "int64", "uint32", "uint64"):
        limits = np.iinfo(dtype)
        numbers = ((2, 9), (0, 1), (5, 5), (6, 5), (limits.max, limits.min), (limits.min, limits.max))
        values = [(array(low, dtype), array(high, dtype)) for low, high in numbers]
        yield f"draw-{dtype}", Case(draw(), values, one_launch=())
        yield f"draw-{dtype}-none", Case(draw(0), values[:4], one_launch=())


VALUE_CASES: dict[str, Case] = {
    name: case
    for cases in (divisions, counts, positive_values, boxes, ranges, bands, factors, draws)
    for name, case in cases()
}
