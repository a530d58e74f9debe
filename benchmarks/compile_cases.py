"""Calls whose arguments grow with n: sizes that the op sweep keeps small, computed indices and large constants.

A case is a function of n. Its name is PREFIX, and a text that begins with the op's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers.calls import raw, run
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array

PREFIX = "case:"
Case = Callable[[int], Program]
_SEED = (1, 2)


def _floats(*shape: int) -> Array:
    return np.asarray(np.random.default_rng(0).random(shape, np.float32))


def _indices(n: int, limit: int | None = None) -> Array:
    return np.random.default_rng(0).integers(0, limit or n, n, np.int32)


def _places(n: int) -> Array:
    return np.random.default_rng(0).permutation(n).astype(np.int32)


def _side(n: int) -> int:
    return max(2, round(n**0.5))


def _definite(n: int) -> Array:
    side = _side(n)
    return _floats(side, side) + side * np.eye(side, dtype=np.float32)


def _image(n: int) -> Array:
    return _floats(1, _side(n), _side(n), 1)


def _cube(n: int) -> Array:
    side = max(2, round(n ** (1 / 3)))
    return _floats(1, side, side, side, 1)


def _of_vector(function: Callable[[Any], Any]) -> Case:
    return lambda n: run(function, x=_floats(n))


def _of_matrix(function: Callable[[Any], Any]) -> Case:
    return lambda n: run(function, x=_floats(_side(n), _side(n)))


def _of_definite(function: Callable[[Any], Any]) -> Case:
    return lambda n: run(function, x=_definite(n))


def _of_image(function: Callable[[Any], Any]) -> Case:
    return lambda n: run(function, x=_image(n))


def _of_complex(function: Callable[[Any], Any], rank: int) -> Case:
    def make(n: int) -> Program:
        side = max(2, round(n ** (1 / rank)))
        return run(function, x=_floats(*[side] * rank).astype(np.complex64))

    return make


def _of_indices(function: Callable[[Any, Any], Any], limit: Callable[[int], int] = lambda n: n) -> Case:
    return lambda n: run(function, x=_floats(n), indices=_indices(n, limit(n)))


def _of_sorted_indices(function: Callable[[Any, Any], Any]) -> Case:
    return lambda n: run(function, x=_floats(n), ids=np.sort(_indices(n, max(1, n // 4))))


def _of_size(function: Callable[[Any, int], Any]) -> Case:
    """A case whose shape is a number of the program: the function receives n itself."""
    return lambda n: run(lambda x: function(x, n), x=_floats(1))


def _with_constant(function: Callable[[Any], Any], of: Callable[[int], Array]) -> Case:
    """A case of an op on a constant of the function, whose result is added to an argument."""
    return lambda n: run(lambda x: x + tf.cast(function(tf.constant(of(n))), tf.float32), x=_floats(1))


def _gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, *others: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            square = tf.square(function(x, *others))  # a gradient that depends on x
        return tf.convert_to_tensor(tape.gradient(square, x))

    return call


def _ids(n: int) -> Any:
    """Ids that the program computes."""
    return tf.range(n) // 4


def _loop(x: Any) -> Any:
    """A loop over a TensorArray of as many elements as x has."""
    return tf.map_fn(lambda element: element * 2.0, x)


def _pieces(n: int) -> Program:
    """Values stitched at a permutation, whose halves are arguments."""
    places = _places(n)
    return run(
        lambda x, first, second: tf.dynamic_stitch([first, second], [x[: n // 2], x[n // 2 :]]),
        x=_floats(n),
        first=places[: n // 2],
        second=places[n // 2 :],
    )


def _stitch(n: int) -> Program:
    return run(
        lambda x: tf.dynamic_stitch([tf.range(n), tf.constant([1, 3, 5])], [x, tf.ones([3])]) * 2.0, x=_floats(n)
    )


def _boundaries(n: int) -> Program:
    boundaries = np.linspace(0, 1, n).tolist()
    return run(lambda x: raw("Bucketize")(input=x, boundaries=boundaries), x=_floats(n))


def _pair(function: Callable[[Any, Any], Any], left: Callable[[int], Array], right: Callable[[int], Array]) -> Case:
    return lambda n: run(function, x=left(n), y=right(n))


def _square(n: int) -> Array:
    return _floats(_side(n), _side(n))


def _boxes(n: int) -> Array:
    return np.sort(_floats(max(2, n // 4), 2, 2), 1).reshape(-1, 4)


_ARGUMENTS: Mapping[str, Case] = {
    "BatchMatMulV2": _pair(tf.matmul, lambda n: _floats(4, _side(n // 4), _side(n // 4)), lambda n: _square(n // 4)),
    "Bincount": _of_indices(lambda x, i: tf.math.bincount(i, x, size=i.shape[0])),
    "Bucketize": _boundaries,
    "Cholesky": _of_definite(tf.linalg.cholesky),
    "Conv2D": _pair(
        lambda x, y: tf.nn.conv2d(x, y, 1, "SAME"), _image, lambda n: _floats(_side(n) // 4, _side(n) // 4, 1, 1)
    ),
    "Conv2D of many channels": _pair(
        lambda x, y: tf.nn.conv2d(x, y, 1, "SAME"),
        lambda n: _floats(1, 8, 8, _side(n)),
        lambda n: _floats(1, 1, _side(n), _side(n)),
    ),
    "Conv2DBackpropInput": _pair(
        _gradient(lambda x, y: tf.nn.conv2d(x, y, 1, "SAME")), _image, lambda n: _floats(3, 3, 1, 4)
    ),
    "Conv2DBackpropFilter": _pair(
        _gradient(lambda y, x: tf.nn.conv2d(x, y, 1, "SAME")), lambda n: _floats(3, 3, 1, 4), _image
    ),
    "AvgPool": _of_image(lambda x: tf.nn.avg_pool2d(x, 3, 1, "SAME")),
    "AvgPool of the whole image": _of_image(lambda x: tf.nn.avg_pool2d(x, x.shape[1], 1, "SAME")),
    "AvgPool without padding": _of_image(lambda x: tf.nn.avg_pool2d(x, 3, 1, "VALID")),
    "AvgPool3D": lambda n: run(lambda x: tf.nn.avg_pool3d(x, 3, 1, "SAME"), x=_cube(n)),
    "AvgPool3DGrad": lambda n: run(_gradient(lambda x: tf.nn.avg_pool3d(x, 3, 1, "SAME")), x=_cube(n)),
    "AvgPoolGrad of stride 1": _of_image(_gradient(lambda x: tf.nn.avg_pool2d(x, 3, 1, "SAME"))),
    "AvgPoolGrad": _of_image(_gradient(lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"))),
    "MaxPool": _of_image(lambda x: tf.nn.max_pool2d(x, 3, 1, "SAME")),
    "MaxPool of the whole image": _of_image(lambda x: tf.nn.max_pool2d(x, x.shape[1], 1, "SAME")),
    "MaxPoolGrad": _of_image(_gradient(lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"))),
    "MaxPool3D": lambda n: run(lambda x: tf.nn.max_pool3d(x, 3, 1, "SAME"), x=_cube(n)),
    "MaxPool3DGrad": lambda n: run(_gradient(lambda x: tf.nn.max_pool3d(x, 3, 1, "SAME")), x=_cube(n)),
    "CropAndResize": lambda n: run(
        lambda x, boxes: tf.image.crop_and_resize(x, boxes, tf.zeros([boxes.shape[0]], tf.int32), [2, 2]),
        x=_image(n),
        boxes=_boxes(n),
    ),
    "Cross": lambda n: run(tf.linalg.cross, x=_floats(n, 3), y=_floats(n, 3)),
    "Cumsum": _of_vector(tf.cumsum),
    "Cumprod": _of_vector(tf.math.cumprod),
    "CumulativeLogsumexp": _of_vector(tf.math.cumulative_logsumexp),
    "DenseBincount": _of_indices(lambda x, i: raw("DenseBincount")(input=i, size=i.shape[0], weights=x)),
    "Diag": lambda n: run(tf.linalg.tensor_diag, x=_floats(_side(n))),
    "DynamicPartition": _of_indices(lambda x, i: tf.dynamic_partition(x, i, 4), lambda n: 4),
    "DynamicStitch": _pieces,
    "DynamicStitch of computed indices": _stitch,
    "Einsum": _pair(lambda x, y: tf.einsum("ij,jk->ik", x, y), _square, _square),
    "ExtractImagePatches": _of_image(
        lambda x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    ),
    "FFT": _of_complex(tf.signal.fft, 1),
    "FFT2D": _of_complex(tf.signal.fft2d, 2),
    "FFT3D": _of_complex(tf.signal.fft3d, 3),
    "IFFT": _of_complex(tf.signal.ifft, 1),
    "RFFT": _of_vector(tf.signal.rfft),
    "IRFFT": _of_complex(tf.signal.irfft, 1),
    "GatherNd": lambda n: run(tf.gather_nd, x=_square(n), indices=_indices(2 * n, _side(n)).reshape(n, 2)),
    "GatherV2": _of_indices(tf.gather),
    "GatherV2, gradient": _of_indices(_gradient(tf.gather)),
    "GatherV2 of batches": lambda n: run(
        lambda x, i: tf.gather(x, i, batch_dims=1),
        x=_square(n),
        i=_indices(_side(n) ** 2, _side(n)).reshape(_side(n), _side(n))
    ),
    "HistogramFixedWidth": _of_vector(lambda x: tf.histogram_fixed_width(x, [0.0, 1.0], 100)),
    "InTopKV2": lambda n: run(lambda x, i: tf.math.in_top_k(i, x, 3), x=_square(n), i=_indices(_side(n))),
    "InvertPermutation": lambda n: run(lambda p: tf.math.invert_permutation(p), p=_places(n)),
    "InvertPermutation, gathered": lambda n: run(
        lambda x, p: tf.gather(x, tf.math.invert_permutation(p)), x=_floats(n), p=_places(n)
    ),
    "LinSpace": _of_size(lambda x, n: x + tf.linspace(0.0, 1.0, n)),
    "LinSpace from an argument": _of_size(lambda x, n: tf.linspace(x[0], 1.0, n)),
    "LowerBound": lambda n: run(lambda x, y: tf.searchsorted(x, y), x=np.sort(_floats(n)), y=_floats(n)),
    "LU": _of_definite(lambda x: tf.linalg.lu(x)),
    "MatMul": _pair(tf.matmul, _square, _square),
    "MatrixBandPart": _of_matrix(lambda x: tf.linalg.band_part(x, 1, 1)),
    "MatrixDeterminant": _of_definite(tf.linalg.det),
    "MatrixDiagV3": lambda n: run(tf.linalg.diag, x=_floats(_side(n))),
    "MatrixDiagPartV3": _of_matrix(lambda x: tf.linalg.diag_part(x, k=(-1, 1))),
    "MatrixDiagV3 of many diagonals": lambda n: run(
        lambda x: tf.linalg.diag(x, k=(-(_side(n) // 4), _side(n) // 4 - 1)), x=_floats(_side(n) // 4 * 2, _side(n))
    ),
    "MatrixDiagPartV3 of many diagonals": _of_matrix(
        lambda x: tf.linalg.diag_part(x, k=(-x.shape[0] // 4, x.shape[0] // 4))
    ),
    "MatrixInverse": _of_definite(tf.linalg.inv),
    "MatrixSetDiagV3": _of_matrix(lambda x: tf.linalg.set_diag(x, x[0])),
    "MatrixSolve": lambda n: run(tf.linalg.solve, x=_definite(n), y=_floats(_side(n), 1)),
    "MatrixTriangularSolve": lambda n: run(tf.linalg.triangular_solve, x=_definite(n), y=_floats(_side(n), 1)),
    "MirrorPad": _of_vector(lambda x: tf.pad(x, [[x.shape[0] - 1, x.shape[0] - 1]], "REFLECT")),
    "Multinomial": _of_matrix(lambda x: tf.random.categorical(x, 4)),
    "NonMaxSuppressionV4": lambda n: run(
        lambda boxes, scores: raw("NonMaxSuppressionV4")(
            boxes=boxes, scores=scores, max_output_size=boxes.shape[0], iou_threshold=0.5, score_threshold=0.1
        ),
        boxes=_boxes(n),
        scores=_floats(max(2, n // 4)),
    ),
    "OneHot": lambda n: run(lambda i: tf.one_hot(i, _side(n)), i=_indices(_side(n))),
    "Pad": lambda n: run(tf.pad, x=_floats(n), paddings=np.array([[n, n]], np.int32)),
    "Qr": _of_matrix(tf.linalg.qr),
    "RandomShuffle": _of_vector(tf.random.shuffle),
    "RandomGammaGrad": _pair(lambda x, y: raw("RandomGammaGrad")(alpha=x, sample=y), _floats, _floats),
    "RandomStandardNormal": _of_size(lambda x, n: x + tf.random.normal([n])),
    "RandomUniform": _of_size(lambda x, n: x + tf.random.uniform([n])),
    "TruncatedNormal": _of_size(lambda x, n: x + tf.random.truncated_normal([n])),
    "Range": _of_size(lambda x, n: x + tf.cast(tf.range(n), tf.float32)),
    "Range of an argument's step": _of_size(lambda x, n: x + tf.range(0.0, float(n), 1.0)),
    "ResizeBilinear": lambda n: run(lambda x: tf.image.resize(x, [2 * _side(n), 2 * _side(n)]), x=_image(n)),
    "ResizeBilinear to a smaller image": _of_image(lambda x: tf.image.resize(x, [3, 3])),
    "ResizeBilinear by uneven factors": _of_image(lambda x: tf.image.resize(x, [x.shape[1] + 1, x.shape[2] + 1])),
    "ResizeBilinearGrad": _of_image(_gradient(lambda x: tf.image.resize(x, [x.shape[1] + 1, x.shape[2] + 1]))),
    "ResizeNearestNeighbor": lambda n: run(
        lambda x: tf.image.resize(x, [_side(n) + 1, _side(n) + 1], "nearest"), x=_image(n)
    ),
    "ResizeBicubic": _of_image(lambda x: tf.image.resize(x, [x.shape[1] + 1, x.shape[2] + 1], "bicubic")),
    "ScaleAndTranslate": _of_image(lambda x: tf.image.resize(x, [x.shape[1] + 1, 7], "lanczos3", antialias=True)),
    "ReverseSequence": lambda n: run(
        lambda x, i: tf.reverse_sequence(x, i, seq_axis=1), x=_square(n), i=_indices(_side(n))
    ),
    "ReverseV2": _of_vector(lambda x: tf.reverse(x, [0])),
    "Roll": _of_vector(lambda x: tf.roll(x, 3, 0)),
    "ScatterNd": _of_indices(lambda x, i: tf.scatter_nd(i[:, None], x, [x.shape[0]])),
    "TensorScatterUpdate": _of_indices(lambda x, i: tf.tensor_scatter_nd_update(x, i[:, None], x)),
    "TensorScatterAdd": _of_indices(lambda x, i: tf.tensor_scatter_nd_add(x, i[:, None], x)),
    "TensorScatterMax": _of_indices(lambda x, i: tf.tensor_scatter_nd_max(x, i[:, None], x)),
    "SegmentSumV2": _of_sorted_indices(tf.math.segment_sum),
    "SegmentSum": _of_sorted_indices(lambda x, i: raw("SegmentSum")(data=x, segment_ids=i)),
    "SegmentMaxV2": _of_sorted_indices(tf.math.segment_max),
    "SegmentMean": _of_sorted_indices(tf.math.segment_mean),
    "SparseSegmentSum": _of_sorted_indices(lambda x, i: raw("SparseSegmentSum")(data=x, indices=i, segment_ids=i)),
    "UnsortedSegmentSum": _of_sorted_indices(lambda x, i: tf.math.unsorted_segment_sum(x, i, x.shape[0] // 4)),
    "UnsortedSegmentMax": _of_sorted_indices(lambda x, i: tf.math.unsorted_segment_max(x, i, x.shape[0] // 4)),
    "SelfAdjointEigV2": _of_definite(lambda x: tf.linalg.eigh(x + tf.transpose(x))),
    "Svd": _of_matrix(lambda x: tf.linalg.svd(x)),
    "Slice": lambda n: run(
        lambda x, begin: tf.slice(x, begin, [x.shape[0] // 2]), x=_floats(n), begin=np.array([n // 4], np.int32)
    ),
    "Sort": _of_vector(tf.sort),
    "ArgSort": _of_vector(tf.argsort),
    "SparseSoftmaxCrossEntropyWithLogits": lambda n: run(
        lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, x), x=_square(n), i=_indices(_side(n))
    ),
    "SparseTensorDenseMatMul": lambda n: run(
        lambda x, i, y: raw("SparseTensorDenseMatMul")(a_indices=i, a_values=x, a_shape=[_side(n), _side(n)], b=y),
        x=_floats(n),
        i=_indices(2 * n, _side(n)).reshape(n, 2).astype(np.int64),
        y=_square(n),
    ),
    "SparseToDense": lambda n: run(
        lambda x, i: raw("SparseToDense")(sparse_indices=i, output_shape=[n], sparse_values=x, default_value=0.0),
        x=_floats(n),
        i=np.arange(n, dtype=np.int32),
    ),
    "StatelessRandomUniform": _of_size(lambda x, n: x + tf.random.stateless_uniform([n], _SEED)),
    "StatelessRandomNormal": _of_size(lambda x, n: x + tf.random.stateless_normal([n], _SEED)),
    "StatelessTruncatedNormal": _of_size(lambda x, n: x + tf.random.stateless_truncated_normal([n], _SEED)),
    "StatelessRandomGammaV2": _of_size(lambda x, n: x + tf.random.stateless_gamma([n], _SEED, 0.5)),
    "StatelessRandomPoisson": _of_size(lambda x, n: x + tf.random.stateless_poisson([n], _SEED, 0.5)),
    "StatelessRandomBinomial": _of_size(lambda x, n: tf.random.stateless_binomial([n], _SEED, 3.0, 0.5)),
    "StatelessShuffle": _of_vector(lambda x: tf.random.experimental.stateless_shuffle(x, _SEED)),
    "StridedSlice": _of_vector(lambda x: x[::2]),
    "StridedSliceGrad": _of_vector(_gradient(lambda x: x[1::2] * x[::2])),
    "TensorListStack": lambda n: run(_loop, x=_floats(n)),
    "Tile": lambda n: run(tf.tile, x=_floats(2), multiples=np.array([n // 2], np.int32)),
    "Tile, gradient": lambda n: run(_gradient(lambda x: tf.tile(x, [n // 2]) * x[0]), x=_floats(2)),
    "TopKV2": _of_vector(lambda x: tf.math.top_k(x, x.shape[0] // 2)),
    "TopKV2 of one": _of_vector(lambda x: tf.math.top_k(x, 1)),
    "Transpose": _of_matrix(tf.transpose),
    "TridiagonalSolve": lambda n: run(tf.linalg.tridiagonal_solve, x=_floats(3, n) + 9, y=_floats(n)),
    "Unique": lambda n: run(lambda i: tf.unique(i), i=_indices(n)),
    "UniqueWithCounts": lambda n: run(lambda i: tf.unique_with_counts(i), i=_indices(n)),
    "Where": _of_vector(lambda x: tf.where(x > 0.5)),
    "Where of an argument": lambda n: run(tf.where, x=_indices(n, 2).astype(np.bool_)),
    "Select": lambda n: run(
        lambda x, y, c: tf.where(c, x, y), x=_floats(n), y=_floats(n), c=_indices(n, 2).astype(np.bool_)
    ),
}  # fmt: skip


def _numbers(n: int) -> Array:
    return _floats(n)


_CONSTANTS: Mapping[str, Case] = {
    f"{op} of a constant": _with_constant(function, of)
    for op, function, of in (
        ("Add", lambda c: c, _numbers),
        ("Cast", lambda c: c, _indices),
        ("Conv2D", lambda c: tf.nn.conv2d(c, tf.ones([3, 3, 1, 1]), 1, "SAME"), _image),
        ("Cumsum", tf.cumsum, _numbers),
        ("Exp", tf.exp, _numbers),
        ("FFT", lambda c: tf.signal.fft(tf.cast(c, tf.complex64)), _numbers),
        ("GatherV2", lambda c: tf.gather(tf.cast(c, tf.float32), c), _indices),
        ("InvertPermutation", tf.math.invert_permutation, _places),
        ("MatMul", lambda c: tf.matmul(c, c), _square),
        ("MaxPool", lambda c: tf.nn.max_pool2d(c, 3, 1, "SAME"), _image),
        ("OneHot", lambda c: tf.one_hot(c[: _side(c.shape[0])], _side(c.shape[0])), _indices),
        ("Pad", lambda c: tf.pad(c, [[c.shape[0], c.shape[0]]]), _numbers),
        ("ReverseV2", lambda c: tf.reverse(c, [0]), _numbers),
        ("ResizeBilinear", lambda c: tf.image.resize(c, [c.shape[1] + 1, c.shape[2] + 1]), _image),
        ("ScatterNd", lambda c: tf.scatter_nd(c[:, None], c, c.shape), _indices),
        ("Sort", tf.sort, _numbers),
        ("Sum", tf.reduce_sum, _numbers),
        ("Tile", lambda c: tf.tile(c, [4]), _numbers),
        ("TopKV2", lambda c: tf.math.top_k(c, 3).values[:1], _numbers),
        ("Transpose", tf.transpose, _square),
        ("UnsortedSegmentSum", lambda c: tf.math.unsorted_segment_sum(c, c, c.shape[0]), _indices),
    )
}

_COMPUTED: Mapping[str, Case] = {
    "Cumsum of a range": _of_size(lambda x, n: x + tf.cast(tf.cumsum(tf.range(n)), tf.float32)),
    "GatherV2 of computed indices": lambda n: run(lambda x: tf.gather(x, _ids(n)), x=_floats(n)),
    "InvertPermutation of a range": _of_size(
        lambda x, n: x + tf.cast(tf.math.invert_permutation(tf.range(n)), tf.float32)
    ),
    "OneHot of a range": lambda n: run(lambda x: x * tf.one_hot(tf.range(_side(n)), _side(n)), x=_square(n)),
    "ScatterNd of computed indices": lambda n: run(lambda x: tf.scatter_nd(_ids(n)[:, None], x, [n]), x=_floats(n)),
    "SegmentSumV2 of computed ids": lambda n: run(lambda x: tf.math.segment_sum(x, _ids(n)), x=_floats(n)),
    "UnsortedSegmentSum of computed ids": lambda n: run(
        lambda x: tf.math.unsorted_segment_sum(x, _ids(n), n), x=_floats(n)
    ),
    "Sort of a range": _of_size(lambda x, n: x + tf.cast(tf.sort(tf.range(n) * 7919 % n), tf.float32)),
    "TensorScatterUpdate of computed indices": lambda n: run(
        lambda x: tf.tensor_scatter_nd_update(x, _ids(n)[:, None], x), x=_floats(n)
    ),
    "Unique of a range": _of_size(lambda x, n: tf.unique(tf.range(n) // 4)),
    "Where of a range": _of_size(lambda x, n: tf.where(tf.range(n) % 3 == 0)),
    "DynamicPartition of computed parts": lambda n: run(
        lambda x: tf.dynamic_partition(x, tf.range(n) % 4, 4), x=_floats(n)
    ),
    "Select of a range": lambda n: run(lambda x: tf.where(tf.range(n) % 2 == 0, x, 0.0), x=_floats(n)),
    "SequenceMask": lambda n: run(
        lambda x: x * tf.sequence_mask(tf.range(_side(n)), _side(n), tf.float32), x=_square(n)
    ),
}

CASES: Mapping[str, Case] = {
    f"{PREFIX}{name}": case for cases in (_ARGUMENTS, _CONSTANTS, _COMPUTED) for name, case in cases.items()
}
