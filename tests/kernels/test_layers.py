"""Layers and functions with fused ops: results and gradients equal TensorFlow's."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import habana_ops, statistics
from habana_frameworks.tensorflow.explanation import passes
from habana_frameworks.tensorflow.ops import keras_symbols
from habana_frameworks.tensorflow.ops.gelu import habana_gelu
from habana_frameworks.tensorflow.ops.instance_norm import HabanaInstanceNormalization
from habana_frameworks.tensorflow.ops.layer_norm import HabanaLayerNormalization
from tests.support.clusters import assert_launched, pattern_rewrites
from tests.support.compare import CPU, HPU, Tolerance, assert_close, assert_same_graph, with_gradients
from tests.support.keras_package import IS_KERAS_2, PACKAGE, TRAIN_FUNCTION, keras_2_only

pytestmark = pytest.mark.usefixtures("hpu")

TOLERANCE = Tolerance(2e-5, 2e-5)
KerasLayerNormalization: Any = PACKAGE.layers.LayerNormalization


def array(*shape: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32) * 1.5 + 0.3


def assert_same_layer(ours: Any, theirs: Any, x: Any, tolerance: Tolerance = TOLERANCE) -> None:
    """Compares results and gradients of two layers: `ours` on the HPU, eager and in a graph; `theirs` on the CPU."""
    ours.build(x.shape), theirs.build(x.shape)
    weights = [array(*weight.shape, seed=index) for index, weight in enumerate(theirs.weights)]
    ours.set_weights(weights), theirs.set_weights(weights)

    def call(layer: Any) -> Any:
        def results(x: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = layer(x)
                loss = tf.reduce_sum(tf.sin(tf.cast(y, tf.float32)))
            return y, tape.gradient(loss, [x, *layer.trainable_weights])

        return results

    with tf.device(CPU), keras_symbols.original_symbols(PACKAGE):
        expected = call(theirs)(tf.constant(x))
    with tf.device(HPU):
        for function in (call(ours), tf.function(call(ours))):
            assert_close(function(tf.constant(x)), expected, tolerance)
    assert_launched()


@pytest.mark.parametrize("axis", [-1, 1, [1, 2], [2, 1], [-1, -2, -3]], ids=str)
@pytest.mark.parametrize("parts", [{}, {"center": False}, {"scale": False, "epsilon": 1e-5}], ids=str)
def test_layer_normalization(axis: Any, parts: dict[str, Any]) -> None:
    options = {"axis": axis, **parts}
    assert_same_layer(HabanaLayerNormalization(**options), KerasLayerNormalization(**options), array(2, 3, 4, 5))


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
def test_layer_normalization_of_other_types(policy: str) -> None:
    x = array(4, 6) if policy == "mixed_bfloat16" else array(4, 6).astype(np.float64)
    tolerance = Tolerance(5e-2, 5e-2) if policy == "mixed_bfloat16" else TOLERANCE
    assert_same_layer(HabanaLayerNormalization(dtype=policy), KerasLayerNormalization(dtype=policy), x, tolerance)


def test_layer_normalization_is_a_keras_layer() -> None:
    layer = HabanaLayerNormalization(axis=[1, 2], epsilon=1e-12, name="LayerNorm", gamma_regularizer="l2")
    assert HabanaLayerNormalization.from_config(layer.get_config()).get_config() == layer.get_config()
    assert isinstance(layer, tf.keras.layers.LayerNormalization)
    with pytest.raises((ValueError, IndexError), match=r"Invalid value for `axis` argument|out of range"):
        HabanaLayerNormalization(axis=4)(tf.zeros([2, 3]))


@keras_2_only
def test_layer_normalization_of_a_ragged_tensor() -> None:
    """Keras 2's layer supports this case: the ragged dimension is not normalized."""
    ragged = tf.RaggedTensor.from_row_lengths(array(5, 3), [2, 3])
    own, keras = HabanaLayerNormalization(), KerasLayerNormalization()
    own.build([None, None, 3]), keras.build([None, None, 3])
    np.testing.assert_allclose(own(ragged).to_tensor(), keras(ragged).to_tensor(), atol=1e-5)


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "float16"])
def test_own_layers_in_a_saved_model(policy: str, tmp_path: pathlib.Path) -> None:
    """A functional model, whose inputs are symbolic, keeps its layers, weights and results."""
    inputs = tf.keras.Input((6, 4))
    normal = HabanaInstanceNormalization(epsilon=1e-4, dtype=policy)(inputs)
    outputs = HabanaLayerNormalization(axis=[1, 2], gamma_initializer="random_normal", dtype=policy)(normal)
    assert tuple(outputs.shape) == (None, 6, 4)
    model = tf.keras.Model(inputs, outputs)
    assert model(array(2, 6, 4)).dtype == tf.as_dtype(outputs.dtype) == tf.as_dtype(policy.removeprefix("mixed_"))
    weights = {tf.as_dtype(weight.dtype) for layer in model.layers for weight in layer.weights}
    assert weights == {tf.float16 if policy == "float16" else tf.float32}
    model.save(tmp_path / "model.keras")
    restored = tf.keras.models.load_model(tmp_path / "model.keras")
    assert [type(layer) for layer in restored.layers] == [type(layer) for layer in model.layers]
    results = [tf.cast(found(array(2, 6, 4)), tf.float32) for found in (restored, model)]
    np.testing.assert_allclose(results[0], results[1], rtol=1e-2, atol=1e-4)


def test_inputs_keep_their_precision_in_mixed_precision() -> None:
    """Keras 3 does not convert the inputs of a layer normalization. A large mean shows their precision."""
    x = array(3, 64) + 300.0
    for layer in (HabanaLayerNormalization(dtype="mixed_bfloat16"), KerasLayerNormalization(dtype="mixed_bfloat16")):
        with keras_symbols.original_symbols(PACKAGE):
            plain = KerasLayerNormalization(dtype="mixed_bfloat16")(x)
        np.testing.assert_allclose(tf.cast(layer(x), tf.float32), tf.cast(plain, tf.float32), atol=0.03)


@pytest.mark.parametrize("shape", [(2, 6, 5, 3), (2, 4, 3, 2, 3), (2, 7, 3)], ids=str)
@pytest.mark.parametrize("parts", [{}, {"center": False}, {"scale": False, "epsilon": 1e-6}], ids=str)
def test_instance_normalization(shape: tuple[int, ...], parts: dict[str, Any]) -> None:
    theirs = tf.keras.layers.GroupNormalization(groups=-1, axis=-1, **parts)
    assert_same_layer(HabanaInstanceNormalization(**parts), theirs, array(*shape))


def test_instance_normalization_is_a_keras_layer() -> None:
    layer = HabanaInstanceNormalization(gamma_initializer="random_normal", beta_constraint="non_neg")
    config = layer.get_config()
    assert (config["groups"], config["axis"]) == (-1, -1)
    assert HabanaInstanceNormalization.from_config(config).get_config() == config
    with pytest.raises(ValueError, match="must have rank 3 or more"):
        layer(tf.zeros([2, 3]))
    with pytest.raises(ValueError, match="groups=2"):
        HabanaInstanceNormalization(groups=2)


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu(approximate: bool) -> None:
    x = array(5, 7)
    with tf.device(CPU):
        expected = with_gradients(lambda x: tf.nn.gelu(x, approximate))(tf.constant(x))
    with tf.device(HPU):
        function = with_gradients(lambda x: habana_gelu(x, approximate, name="gelu"))
        assert_close(function(tf.constant(x)), expected, TOLERANCE)
        assert_close(tf.function(function)(tf.constant(x)), expected, TOLERANCE)


SECOND: dict[str, tuple[Any, Any, tuple[int, ...]]] = {
    "gelu": (habana_gelu, tf.nn.gelu, (3, 4)),
    "layer_norm": (HabanaLayerNormalization(), KerasLayerNormalization(), (3, 6)),
    "instance_norm": (HabanaInstanceNormalization(), tf.keras.layers.GroupNormalization(groups=-1), (2, 4, 3, 2)),
}


@pytest.mark.parametrize("name", SECOND)
def test_gradients_of_gradients(name: str) -> None:
    """Second-order gradients, as in gradient penalties."""
    ours, theirs, shape = SECOND[name]

    def penalty(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(x: tf.Tensor) -> Any:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = tf.reduce_sum(function(x) ** 3)
                slope = inner.gradient(y, x)
                norm = tf.reduce_sum(slope**2)
            return slope, outer.gradient(norm, x)

        return run

    x = array(*shape)
    with tf.device(CPU), keras_symbols.original_symbols(PACKAGE):
        expected = penalty(theirs)(tf.constant(x))
    with tf.device(HPU):
        actual = tf.function(penalty(ours))(tf.constant(x))
    assert_close(actual, expected, Tolerance(1e-3, 1e-3))


def reference_roi_align(images: Any, counts: Any, boxes: Any, levels: Any, size: int, ratio: int, stride: Any) -> Any:
    """Reference implementation, one sample at a time. `stride`: divisor of the coordinates, by level."""
    result = np.zeros([*boxes.shape[:2], size, size, images[0].shape[-1]], np.float32)
    for batch, box in np.ndindex(*boxes.shape[:2]):
        if box >= counts[batch, 0]:
            continue
        image = images[levels[batch, box, 0]][batch]
        y1, x1, y2, x2 = boxes[batch, box] / stride[levels[batch, box, 0]]
        for place in np.ndindex(size, size):
            for sample in np.ndindex(ratio, ratio):
                y = y1 + (y2 - y1) * (place[0] + (sample[0] + 0.5) / ratio) / size
                x = x1 + (x2 - x1) * (place[1] + (sample[1] + 0.5) / ratio) / size
                y, x = np.clip(y, 0, image.shape[0] - 1), np.clip(x, 0, image.shape[1] - 1)
                top, left = int(y), int(x)
                bottom, right = min(top + 1, image.shape[0] - 1), min(left + 1, image.shape[1] - 1)
                v, h = y - top, x - left
                upper = image[top, left] * (1 - h) + image[top, right] * h
                lower = image[bottom, left] * (1 - h) + image[bottom, right] * h
                result[batch, box][place] += (upper * (1 - v) + lower * v) / ratio**2
    return result


BOXES = np.array([[[4, 8, 40, 60], [0, 0, 63, 63], [-9, 3, 30, 99]], [[8, 8, 8, 8], [1, 2, 3, 4], [5, 6, 50, 61]]])
LEVELS = np.array([[[0], [1], [1]], [[0], [0], [1]]], np.int32)
COUNTS = np.array([[3], [2]], np.int32)


@pytest.mark.parametrize("ratio", [1, 2])
@pytest.mark.parametrize("coordinates", ["input", "level", "parts"])
def test_pyramid_roi_align(ratio: int, coordinates: str) -> None:
    images = [array(2, 16, 16, 3), array(2, 8, 8, 3, seed=4)]
    sizes = {"input": [4, 8], "level": [1, 1], "parts": [1, 1]}[coordinates]
    boxes = BOXES.astype(np.float32) / {"input": 1, "level": 4, "parts": 64}[coordinates]
    scaled = boxes * np.where(LEVELS == 0, 16, 8) if coordinates == "parts" else boxes
    expected = reference_roi_align(images, COUNTS, scaled, LEVELS, 3, ratio, sizes)
    options = {"use_abs_coords": coordinates != "parts", "scale_to_level": coordinates == "input"}

    def align(first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
        return habana_ops.pyramid_roi_align(
            [first, second], COUNTS, boxes, LEVELS, output_size=[3, 3], sampling_ratio=ratio, **options
        )

    (result, gradients) = assert_same_graph(align, *images, tolerance=TOLERANCE)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    with tf.device(HPU):
        named = habana_ops.pyramid_roi_align_grad_images(
            [tf.constant(image) for image in images],
            tf.ones_like(result),
            COUNTS,
            boxes,
            LEVELS,
            image_pyramid_shapes=[[16, 16], [8, 8]],
            sampling_ratio=ratio,
            **options,
        )
    assert_close(named, gradients, TOLERANCE)


def test_pyramid_roi_align_names_the_invalid_argument() -> None:
    image, boxes = tf.zeros([2, 16, 16, 3]), tf.zeros([2, 3, 4])
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="for 'images' argument"):
            habana_ops.pyramid_roi_align(image.numpy(), COUNTS, boxes.numpy(), LEVELS)
        with pytest.raises(ValueError, match="sampling_ratio"):
            habana_ops.pyramid_roi_align([image.numpy()], COUNTS, boxes.numpy(), LEVELS, sampling_ratio=0)
        flat = tf.compat.v1.placeholder(tf.float32, [None, 16, 3])
        with pytest.raises(ValueError, match=r"image 0 of the pyramid has shape \[\?,16,3\]; expected"):
            habana_ops.pyramid_roi_align([flat], COUNTS, boxes.numpy(), LEVELS)


def test_pyramid_roi_align_is_an_op_and_a_model_has_any_image_size() -> None:
    """With unknown image sizes, the graph contains the op types that bf16 recipes list, forward and backward."""

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3])])
    def gradient_of(image: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(image)
            boxes = tf.constant(BOXES, tf.float32)
            loss = tf.reduce_sum(habana_ops.pyramid_roi_align([image], COUNTS, boxes, LEVELS, output_size=[3, 3]) ** 2)
        return tape.gradient(loss, image)

    ops = {op.type for op in gradient_of.get_concrete_function().graph.get_operations()}
    assert ops >= {"PyramidRoiAlign", "PyramidRoiAlignGradImages"}
    for size in (16, 20):
        image = tf.constant(array(2, size, size, 3))
        with tf.device(CPU):
            expected = gradient_of(image)
        assert_close(gradient_of(image), expected, TOLERANCE)


def test_a_detection_head_in_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gaudi's recipe `full` converts ROI align and pooling, forward and backward, but not the coordinates."""

    @tf.function
    def detection_head(fine: tf.Tensor, coarse: tf.Tensor) -> tuple[tf.Tensor, ...]:
        with tf.GradientTape() as tape:
            tape.watch([fine, coarse])
            boxes = tf.constant(BOXES, tf.float32)
            features = habana_ops.pyramid_roi_align([fine, coarse], COUNTS, boxes, LEVELS, output_size=[4, 4])
            features = tf.reshape(features, [6, 4, 4, 3])
            pooled = habana_ops.habana_max_pool(features, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
            loss = tf.reduce_mean(pooled**2)
        return loss, *tape.gradient(loss, [fine, coarse])

    images = [tf.constant(array(2, 16, 16, 3)), tf.constant(array(2, 8, 8, 3, seed=4))]
    with tf.device(CPU):
        expected = tf.function(detection_head.python_function)(*images)
    monkeypatch.setenv("TF_BF16_CONVERSION", "full")
    assert_close(detection_head(*images), expected, Tolerance(0.05, 0.01))
    rewrites = [rewrite for report in passes.recent_reports() for rewrite in report.rewrites]
    converted = {rewrite.op for rewrite in rewrites if rewrite.pass_name == "bf16"}
    assert converted >= {"PyramidRoiAlign", "PyramidRoiAlignGradImages", "HabanaMaxPool", "HabanaMaxPoolGrad"}


def test_symbols_are_replaced_and_models_keep_their_names(tmp_path: pathlib.Path) -> None:
    assert hasattr(tf.keras.layers.LayerNormalization.call, "_replaced")
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input([3]),
            tf.keras.layers.Dense(4, activation=tf.keras.activations.gelu),
            tf.keras.layers.LayerNormalization(),
        ]
    )
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    x = array(5, 3)
    with keras_symbols.original_symbols(PACKAGE):
        assert not hasattr(tf.keras.layers.LayerNormalization.call, "_replaced")
        plain = tf.keras.models.load_model(tmp_path / "model.keras")
        assert type(plain.layers[1]) is type(model.layers[1]) is KerasLayerNormalization
        plain.load_weights(tmp_path / "model.weights.h5")
        expected = plain(x)
    with tf.GradientTape() as tape:
        y = model(x)  # eager, with the fused op
    assert tape.gradient(y, model.trainable_variables)[0] is not None
    np.testing.assert_allclose(y, expected, atol=1e-5)
    ops = {op.type for op in tf.function(model).get_concrete_function(tf.TensorSpec([5, 3])).graph.get_operations()}
    assert not any(op.startswith("Habana") for op in ops), "graphs are TensorFlow's own"
    assert hasattr(tf.keras.layers.LayerNormalization.call, "_replaced")
    assert statistics.get().fallbacks == 0


def test_replaced_symbols_accept_symbolic_inputs() -> None:
    x = tf.keras.Input((6,))
    y = tf.keras.activations.gelu(tf.keras.layers.LayerNormalization()(x))
    model = tf.keras.Model(x, y)
    with keras_symbols.original_symbols(PACKAGE):
        expected = model(array(4, 6))
    np.testing.assert_allclose(model(array(4, 6)), expected, atol=1e-5)


NORM = "flat_layer_norm" if IS_KERAS_2 else "layer_norm"
REPLACED = {NORM, f"{NORM}_grad", "gelu_erf", "gelu_erf_grad"}


def replaced_model(x: tf.Tensor) -> tf.Tensor:
    """A model of symbols that load_habana_module() replaces."""
    return tf.sin(tf.keras.activations.gelu(tf.keras.layers.LayerNormalization()(x)))


def in_function(x: np.ndarray[Any, Any]) -> tuple[str, Any]:
    layer = tf.keras.layers.LayerNormalization()
    layer.build(x.shape)

    @tf.function(input_signature=[tf.TensorSpec([None, x.shape[1]])])
    def replaced_symbols(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(tf.keras.activations.gelu(layer(x)))
        return y, tape.gradient(y, x)

    return "replaced_symbols", replaced_symbols(tf.constant(x))


def in_keras(x: np.ndarray[Any, Any]) -> tuple[str, Any]:
    layers = [tf.keras.layers.LayerNormalization(), tf.keras.layers.Activation(tf.keras.activations.gelu)]
    model = tf.keras.Sequential([tf.keras.layers.Dense(x.shape[1]), *layers, tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    model.fit(x, x[:, :2], verbose=0)
    return TRAIN_FUNCTION, None


def in_session(x: np.ndarray[Any, Any]) -> tuple[str, Any]:
    tf1 = tf.compat.v1
    with tf.Graph().as_default():
        fed = tf1.placeholder(tf.float32, x.shape)
        y = replaced_model(fed)
        fetches = y, tf1.gradients(y, fed)[0]
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            return "session", session.run(fetches, {fed: x})


@pytest.mark.parametrize("way", [in_function, in_keras, in_session], ids=lambda way: way.__name__)
def test_replaced_symbols_are_fused_in_graphs_by_the_passes(way: Callable[..., Any]) -> None:
    x = array(4, 6)
    name, values = way(x)
    assert {rewrite.what.split(":")[0] for rewrite in pattern_rewrites(name)} >= REPLACED
    if values is not None:
        with keras_symbols.original_symbols(PACKAGE), tf.device(CPU):
            expected = with_gradients(replaced_model)(tf.constant(x))
        np.testing.assert_allclose(values[0], expected[0], atol=1e-4)
        np.testing.assert_allclose(values[1], expected[1][0], atol=1e-4)
