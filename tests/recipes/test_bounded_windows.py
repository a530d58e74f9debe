"""Bounded recipes of spatial ops: one recipe serves images of many sizes, and its results equal the CPU's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU, Tolerance, assert_close

Function = Callable[..., Any]

# Sizes of one bucket each: the first compiles for itself, the others share a recipe.
SIZES_1D = [(2, 9), (3, 11), (2, 12), (4, 10), (3, 9)]  # batch and length
SIZES_2D = [(2, 9, 13), (3, 11, 14), (2, 10, 16), (4, 12, 15), (2, 12, 13), (3, 9, 16)]
SIZES_3D = [(2, 5, 9, 7), (2, 6, 11, 8), (2, 5, 10, 7), (2, 6, 12, 8), (2, 6, 9, 8)]


@pytest.fixture(autouse=True)
def strict(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_ENABLE_DYNAMIC_SHAPES", "1")
    monkeypatch.setenv("HPU_COMPILE_MODE", "strict")
    statistics.reset()


def random(*shape: int, seed: int = 1) -> tf.Tensor:
    return tf.constant(np.random.RandomState(seed + sum(shape)).normal(size=shape).astype(np.float32))


def weights(*shape: int) -> tf.Tensor:
    return tf.constant(np.random.RandomState(sum(shape)).normal(size=shape).astype(np.float32) / 4)


def with_gradients(function: Function, watched: Sequence[tf.Tensor] = ()) -> Function:
    """Returns the function's result and the gradients of its argument and of `watched`."""

    def run(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, *watched])
            y = function(x)
            loss = tf.reduce_sum(y * tf.cos(y))
        return y, tape.gradient(loss, [x, *watched])

    return run


def assert_one_recipe(function: Function, sizes: Sequence[tuple[int, ...]], channels: int = 3) -> Function:
    """Compares the function with the CPU's results. Returns the function of which one recipe serves `sizes`."""
    graph = tf.function(function, input_signature=[tf.TensorSpec([None] * len(sizes[0]) + [channels])], autograph=False)
    for size in sizes:
        x = random(*size, channels)
        with tf.device(CPU):
            expected = graph(x)
        with tf.device(HPU):
            actual = graph(tf.identity(x))
        assert_close(actual, expected, Tolerance(1e-4, 1e-4), context=f"size {size},")
    counts = statistics.get()
    assert counts.fallbacks == 0
    assert sum(cluster.recipes for cluster in counts.clusters) == 2  # one for the first size
    return graph


PADDINGS = ("VALID", "SAME")
WINDOWS_2D = [(2, 2), (3, 1), (3, 2), (2, 3), (4, 3)]  # size and stride


@pytest.mark.parametrize(("window", "stride", "padding"), [(*w, p) for w, p in itertools.product(WINDOWS_2D, PADDINGS)])
@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.avg_pool2d], ids=["max", "average"])
def test_pooling(pool: Function, window: int, stride: int, padding: str) -> None:
    assert_one_recipe(with_gradients(lambda x: pool(x, window, stride, padding)), SIZES_2D)


@pytest.mark.parametrize("padding", PADDINGS)
def test_maxima_of_special_values_are_those_of_a_static_recipe(padding: str) -> None:
    run = with_gradients(lambda x: tf.nn.max_pool2d(x, 3, 2, padding))
    bounded = tf.function(run, input_signature=[tf.TensorSpec([None, None, None, 3])], autograph=False)
    for size in SIZES_2D:
        draw = np.random.RandomState(sum(size))
        numbers = draw.normal(size=(*size, 3)).astype(np.float32)
        numbers[draw.uniform(size=numbers.shape) < 0.2] = np.nan
        numbers[draw.uniform(size=numbers.shape) < 0.3] = -np.inf
        with tf.device(HPU):
            x = tf.constant(numbers)
            assert_close(bounded(x), tf.function(run, autograph=False)(x), context=f"size {size},")


@pytest.mark.parametrize(
    ("window", "stride", "dilation", "padding"),
    [
        (window, stride, dilation, padding)
        # TensorFlow's CPU kernels have no gradients of dilated convolutions with explicit padding.
        for (window, stride, dilation), padding in itertools.product(
            [(1, 2, 1), (3, 1, 1), (3, 2, 1), (2, 3, 1), (3, 1, 2)],
            [*PADDINGS, [[0, 0], [2, 1], [1, 2], [0, 0]]],
        )
        if isinstance(padding, str) or (window > 1 and dilation == 1)
    ],
)
def test_convolution(window: int, stride: int, dilation: int, padding: Any) -> None:
    kernel = weights(window, window, 3, 4)
    assert_one_recipe(
        with_gradients(lambda x: tf.nn.conv2d(x, kernel, stride, padding, dilations=dilation), [kernel]), SIZES_2D
    )


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("stride", [1, 2])
def test_depthwise_convolution(stride: int, padding: str) -> None:
    kernel = weights(3, 3, 3, 2)
    assert_one_recipe(
        with_gradients(lambda x: tf.nn.depthwise_conv2d(x, kernel, [1, stride, stride, 1], padding), [kernel]), SIZES_2D
    )


@pytest.mark.parametrize("padding", PADDINGS)
def test_grouped_convolution(padding: str) -> None:
    kernel = weights(3, 3, 1, 6)
    assert_one_recipe(with_gradients(lambda x: tf.nn.conv2d(x, kernel, 2, padding), [kernel]), SIZES_2D)


@pytest.mark.parametrize("padding", PADDINGS)
def test_transposed_convolution(padding: str) -> None:
    kernel = weights(3, 3, 4, 3)

    def run(x: tf.Tensor) -> tf.Tensor:
        shape = tf.shape(x)
        size = shape[1:3] * 2 if padding == "SAME" else shape[1:3] * 2 + 1
        return tf.nn.conv2d_transpose(x, kernel, tf.concat([shape[:1], size, [4]], 0), 2, padding)

    assert_one_recipe(with_gradients(run, [kernel]), SIZES_2D)


SEQUENCES: dict[str, Function] = {
    "convolution": lambda x: tf.nn.conv1d(x, weights(3, 3, 4), 1, "SAME"),
    "strided convolution": lambda x: tf.nn.conv1d(x, weights(4, 3, 4), 2, "SAME"),
    "causal convolution": lambda x: tf.nn.conv1d(
        tf.pad(x, [[0, 0], [4, 0], [0, 0]]), weights(3, 3, 4), 1, "VALID", dilations=2
    ),
    "max pooling": lambda x: tf.nn.max_pool1d(x, 3, 2, "SAME"),
    "average pooling": lambda x: tf.nn.avg_pool1d(x, 3, 2, "SAME"),
    "global pooling": lambda x: tf.reduce_mean(x, 1) + tf.reduce_max(x, 1),
}


@pytest.mark.parametrize("name", list(SEQUENCES))
def test_sequences(name: str) -> None:
    assert_one_recipe(with_gradients(SEQUENCES[name]), SIZES_1D)


VOLUMES: dict[str, Function] = {
    "convolution": lambda x: tf.nn.conv3d(x, weights(3, 3, 3, 2, 2), [1, 2, 1, 2, 1], "SAME"),
    "max pooling": lambda x: tf.nn.max_pool3d(x, 3, 2, "SAME"),
    "average pooling": lambda x: tf.nn.avg_pool3d(x, 3, 2, "SAME"),
    "valid convolution": lambda x: tf.nn.conv3d(x, weights(3, 3, 3, 2, 2), [1, 1, 2, 1, 1], "VALID"),
    "valid max pooling": lambda x: tf.nn.max_pool3d(x, 2, 2, "VALID"),
    "valid average pooling": lambda x: tf.nn.avg_pool3d(x, 2, 2, "VALID"),
}


@pytest.mark.parametrize("name", list(VOLUMES))
def test_volumes(name: str) -> None:
    assert_one_recipe(with_gradients(VOLUMES[name]), SIZES_3D, channels=2)


def resize(method: str, factor: Any, **attributes: Any) -> Function:
    def run(x: tf.Tensor) -> tf.Tensor:
        op = getattr(tf.raw_ops, f"Resize{method}")
        shape = tf.shape(x)[1:3]
        size = (shape * factor[0] + factor[1]) // factor[2] if isinstance(factor, tuple) else tf.constant(factor)
        return op(images=x, size=size, **attributes)

    return run


IMAGES: dict[str, Function] = {
    "nearest, twice": resize("NearestNeighbor", (2, 0, 1), half_pixel_centers=True),
    "nearest, corners": resize("NearestNeighbor", (2, 1, 1), align_corners=True),
    "nearest, half": resize("NearestNeighbor", (1, 1, 2)),
    "bilinear, twice": resize("Bilinear", (2, 0, 1), half_pixel_centers=True),
    "bilinear, corners": resize("Bilinear", (3, -1, 1), align_corners=True),
    "bilinear, two thirds": resize("Bilinear", (2, 1, 3)),
    "bilinear, fixed": resize("Bilinear", [7, 20], half_pixel_centers=True),
    "bicubic, twice": resize("Bicubic", (2, 0, 1), half_pixel_centers=True),
    "bicubic, half": resize("Bicubic", (1, 0, 2)),
    "reflected": lambda x: tf.pad(x, [[0, 0], [3, 2], [1, 4], [0, 0]], "REFLECT"),
    "symmetric": lambda x: tf.pad(x, [[0, 0], [3, 0], [4, 5], [2, 1]], "SYMMETRIC"),
    "padded": lambda x: tf.pad(x, [[0, 0], [3, 2], [1, 4], [0, 1]]),
    "depth to space": lambda x: tf.nn.depth_to_space(tf.nn.conv2d(x, weights(1, 1, 3, 8), 1, "SAME"), 2),
    "space to depth": lambda x: tf.nn.space_to_depth(tf.image.resize(x, tf.shape(x)[1:3] * 2, "nearest"), 2),
    "response normalisation": lambda x: tf.nn.local_response_normalization(x, 1, 1.0, 0.5),
    "bias": lambda x: tf.nn.bias_add(x, weights(3)),
    "global pooling": lambda x: tf.reduce_mean(x, [1, 2]) + tf.reduce_max(x, [1, 2]),
    "normalised": lambda x: tf.compat.v1.nn.fused_batch_norm(x, weights(3) + 1.0, weights(3))[0],
    "normalised by averages": lambda x: tf.compat.v1.nn.fused_batch_norm(
        x, weights(3) + 1.0, weights(3), weights(3), tf.exp(weights(3)), is_training=False
    )[0],
}


@pytest.mark.parametrize("name", list(IMAGES))
def test_images(name: str) -> None:
    assert_one_recipe(with_gradients(IMAGES[name]), SIZES_2D)


def test_averaged_areas() -> None:
    assert_one_recipe(resize("Area", (1, 1, 2)), SIZES_2D)


@pytest.mark.parametrize("padding", PADDINGS)
def test_patches(padding: str) -> None:
    assert_one_recipe(
        lambda x: tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 3, 1], [1, 1, 2, 1], padding), SIZES_2D
    )


@pytest.mark.parametrize("padding", PADDINGS)
def test_dilation(padding: str) -> None:
    kernel = weights(3, 3, 3)
    assert_one_recipe(lambda x: tf.nn.dilation2d(x, kernel, [1, 2, 1, 1], padding, "NHWC", [1, 1, 2, 1]), SIZES_2D)


def segment(x: tf.Tensor, filters: Sequence[Any]) -> tf.Tensor:
    """A small U-Net."""
    skipped = tf.nn.relu(tf.nn.conv2d(x, filters[0], 1, "SAME"))
    normal = tf.compat.v1.nn.fused_batch_norm(skipped, tf.ones([8]), tf.zeros([8]))[0]
    inner = tf.nn.relu(tf.nn.conv2d(tf.nn.max_pool2d(normal, 2, 2, "VALID"), filters[1], 1, "SAME"))
    upper = tf.nn.conv2d_transpose(inner, filters[2], tf.shape(skipped), 2, "SAME")
    return tf.nn.conv2d(tf.nn.relu(upper) + skipped, filters[3], 1, "SAME")


def encode(x: tf.Tensor, filters: Sequence[Any]) -> tf.Tensor:
    """Halves height and width twice by convolutions, and doubles them twice by interpolation."""
    x = tf.nn.relu(tf.nn.conv2d(x, filters[0], 2, "SAME"))
    x = tf.nn.relu(tf.nn.conv2d(x, filters[1], 2, "SAME"))
    for kernel in filters[2:4]:
        x = tf.image.resize(x, 2 * tf.shape(x)[1:3])
        x = tf.nn.conv2d(tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT"), kernel, 1, "VALID")
    return x


@pytest.mark.parametrize("network", [segment, encode])
@pytest.mark.parametrize("sizes", [[(32, 44), (40, 36), (36, 48), (48, 40), (40, 40), (36, 36)]])
def test_a_train_step_is_one_launch(network: Function, sizes: Sequence[tuple[int, int]]) -> None:
    losses = []
    for device in (CPU, HPU):
        with tf.device(device):
            filters = [tf.Variable(weights(3, 3, *f)) for f in ((3, 8), (8, 8), (8, 8), (8, 4))]

            @tf.function(input_signature=[tf.TensorSpec([2, None, None, 3]), tf.TensorSpec([2, None, None, 4])])
            def step(x: tf.Tensor, targets: tf.Tensor, filters: Sequence[tf.Variable] = filters) -> tf.Tensor:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(targets, network(x, filters)))
                for variable, gradient in zip(filters, tape.gradient(loss, filters)):
                    variable.assign_sub(0.1 * gradient)
                return loss

            for size in sizes:
                losses.append(step(random(2, *size, 3), tf.nn.softmax(random(2, *size, 4))))
    assert_close(losses[len(sizes) :], losses[: len(sizes)], Tolerance(1e-4, 1e-4))
    counts = statistics.get()
    assert counts.fallbacks == 0
    assert sum(cluster.recipes for cluster in counts.clusters) == 2
    assert counts.launches == len(sizes)


@pytest.mark.parametrize(
    ("function", "refused"),
    [
        (lambda x: tf.nn.space_to_depth(x, 2), (2, 10, 13)),
        (lambda x: tf.nn.max_pool2d(x, 10, 2, "VALID"), (2, 9, 14)),
        (lambda x: tf.pad(x, [[0, 0], [9, 0], [0, 0], [0, 0]], "REFLECT"), (2, 9, 14)),
    ],
    ids=["space to depth", "pooling", "reflection"],
)
def test_sizes_that_the_cpu_refuses_fail(function: Function, refused: tuple[int, ...]) -> None:
    graph = assert_one_recipe(function, [(2, 10, 16), (2, 12, 14), (2, 12, 16), (2, 10, 14)])
    for device in (CPU, HPU):
        with tf.device(device), pytest.raises(tf.errors.OpError):
            graph(random(*refused, 3))


def test_refused_sizes_end_no_bounded_recipe() -> None:
    graph = assert_one_recipe(lambda x: tf.nn.max_pool2d(x, 10, 2, "VALID"), [(2, 10, 16), (2, 12, 14), (2, 12, 16)])
    for width in range(13, 17):
        with tf.device(HPU), pytest.raises(tf.errors.OpError):
            graph(random(2, 9, width, 3))
    before = statistics.clusters()[0].recipes
    with tf.device(HPU):
        assert graph(random(2, 11, 15, 3)).shape == [2, 1, 3, 3]
    assert statistics.clusters()[0].recipes == before, "the recipe still serves other sizes"
