"""Keras beyond fit(): evaluate, predict, callbacks, saving and restoring, policies."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import assert_launched, pattern_rewrites
from tests.support.compare import CPU, HPU, assert_close
from tests.support.keras_package import IS_KERAS_2, TRAIN_FUNCTION, variable_of

ROWS = 48
Data = tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]


@pytest.fixture
def data() -> Data:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((ROWS, 8, 8, 1), dtype=np.float32)
    return x, (x.sum((1, 2, 3)) > 0).astype(np.int32)


def cnn() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(4, 3, use_bias=False, input_shape=(8, 8, 1)),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(2),
        ]
    )


def build(device: str, make: Callable[[], tf.keras.Model] = cnn, weights: Any = None, **options: Any) -> tf.keras.Model:
    with tf.device(device):
        model = make()
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.Adam(0.01), loss, metrics=["accuracy"], **options)
    if weights is not None:
        model.set_weights(weights)
    return model


def pair(make: Callable[[], tf.keras.Model] = cnn, **options: Any) -> dict[str, tf.keras.Model]:
    """Builds one model per device, with equal weights."""
    on_cpu = build(CPU, make, **options)
    return {CPU: on_cpu, HPU: build(HPU, make, on_cpu.get_weights(), **options)}


def fit(model: tf.keras.Model, device: str, data: Any, **options: Any) -> dict[str, list[float]]:
    with tf.device(device):
        history = model.fit(*data, shuffle=False, verbose=0, **{"batch_size": 16, "epochs": 2, **options})
    return history.history  # type: ignore[no-any-return]


def assert_same_histories(histories: dict[str, dict[str, list[float]]], rtol: float = 1e-4) -> None:
    assert histories[HPU].keys() == histories[CPU].keys()
    for name, expected in histories[CPU].items():
        np.testing.assert_allclose(histories[HPU][name], expected, rtol=rtol, err_msg=name)


def test_fit_evaluate_predict(data: Data) -> None:
    histories, evaluations, predictions = {}, {}, {}
    for device, model in pair().items():
        histories[device] = fit(model, device, data, validation_data=data)
        with tf.device(device):
            evaluations[device] = model.evaluate(*data, batch_size=16, verbose=0)
            predictions[device] = model.predict(data[0], batch_size=16, verbose=0)
    assert_same_histories(histories)
    np.testing.assert_allclose(evaluations[HPU], evaluations[CPU], rtol=1e-4)
    np.testing.assert_allclose(predictions[HPU], predictions[CPU], rtol=1e-3, atol=1e-4)
    assert len(statistics.get().launched_clusters) >= 3 and statistics.get().fallbacks == 0


@pytest.mark.parametrize(
    "options", [{"run_eagerly": True}, {"steps_per_execution": 3}], ids=lambda options: next(iter(options))
)
def test_ways_to_run(data: Data, options: dict[str, Any]) -> None:
    models = pair(**options)
    assert_same_histories({device: fit(model, device, data) for device, model in models.items()})
    assert statistics.get().fallbacks == 0


def test_steps_per_execution_beyond_the_number_of_steps(data: Data) -> None:
    models = pair(steps_per_execution=4)
    assert_same_histories({device: fit(model, device, data, batch_size=12) for device, model in models.items()})
    assert_launched()


class Watch(tf.keras.callbacks.Callback):
    """Callback that reads weights during training, as users' callbacks do."""

    def __init__(self) -> None:
        super().__init__()
        self.norms: list[float] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.norms.append(float(tf.linalg.global_norm(self.model.trainable_variables)))


def test_callbacks(data: Data, tmp_path: pathlib.Path) -> None:
    histories, norms, rates = {}, {}, {}
    for name, (device, model) in zip(("cpu", "hpu"), pair().items()):
        folder = tmp_path / name
        watch = Watch()
        callbacks = [
            watch,
            tf.keras.callbacks.EarlyStopping("loss", patience=1, min_delta=10.0, restore_best_weights=True),
            tf.keras.callbacks.ModelCheckpoint(str(folder / "weights-{epoch}.weights.h5"), save_weights_only=True),
            tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
            tf.keras.callbacks.TensorBoard(str(folder / "logs"), histogram_freq=1, update_freq=1),
            tf.keras.callbacks.CSVLogger(str(tmp_path / f"{name}.csv")),
        ]
        histories[device] = fit(model, device, data, epochs=5, callbacks=callbacks)
        norms[device] = watch.norms
        rates[device] = float(model.optimizer.learning_rate)
        assert (folder / "weights-1.weights.h5").exists()
        assert list((folder / "logs" / "train").iterdir())
    assert len(histories[HPU]["loss"]) == 2, "EarlyStopping did not stop"
    assert_same_histories(histories)
    np.testing.assert_allclose(norms[HPU], norms[CPU], rtol=1e-4)
    assert rates[HPU] == rates[CPU] == np.float32(0.01) / 4


FORMATS = {"h5": "model.h5", "keras": "model.keras"}
# Formats without the optimizer's state: Keras 3 restores it from its own format only.
WITHOUT_STATE = {"saved_model"} if IS_KERAS_2 else {"h5"}
if IS_KERAS_2:
    FORMATS["saved_model"] = "model"


@pytest.mark.parametrize("target", [CPU, HPU], ids=["to-cpu", "to-hpu"])
@pytest.mark.parametrize("source", [CPU, HPU], ids=["from-cpu", "from-hpu"])
@pytest.mark.parametrize("form", FORMATS)
def test_whole_models_are_saved_and_loaded(
    data: Data, tmp_path: pathlib.Path, form: str, source: str, target: str
) -> None:
    model = build(source)
    fit(model, source, data, epochs=1)
    path = str(tmp_path / FORMATS[form])
    with tf.device(source):
        expected = model.predict(data[0], verbose=0)
        model.save(path)
    with tf.device(target):
        loaded = tf.keras.models.load_model(path)
        np.testing.assert_allclose(loaded.predict(data[0], verbose=0), expected, rtol=1e-4, atol=1e-5)
    # Saving includes the optimizer's state, so the next epoch is equal.
    if form not in WITHOUT_STATE:
        assert_same_histories({CPU: fit(model, source, data), HPU: fit(loaded, target, data)})


@pytest.mark.parametrize("target", [CPU, HPU], ids=["to-cpu", "to-hpu"])
@pytest.mark.parametrize("source", [CPU, HPU], ids=["from-cpu", "from-hpu"])
def test_checkpoints(data: Data, tmp_path: pathlib.Path, source: str, target: str) -> None:
    model = build(source)
    fit(model, source, data)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(model=model, optimizer=model.optimizer), str(tmp_path), max_to_keep=1
    )
    path = manager.save()
    other = build(target)
    with tf.device(target):
        status = tf.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path)
        other.optimizer.build(other.trainable_variables)
    status.assert_consumed()
    for one, two in zip(other.variables + other.optimizer.variables, model.variables + model.optimizer.variables):
        np.testing.assert_array_equal(one.numpy(), two.numpy())
    assert_same_histories({CPU: fit(model, source, data), HPU: fit(other, target, data)})


def test_a_served_function_runs_on_either_device(data: Data, tmp_path: pathlib.Path) -> None:
    model = build(HPU)
    expected = model(data[0]).numpy()
    tf.saved_model.save(model, str(tmp_path / "model"))
    for device in (CPU, HPU):
        with tf.device(device):
            serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
            (result,) = serve(tf.constant(data[0])).values()
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_a_layer_on_the_cpu(data: Data) -> None:
    class OnCpu(tf.keras.layers.Layer):
        def build(self, shape: Any) -> None:
            with tf.device(CPU):
                self.scale = self.add_weight(name="scale", shape=[1], initializer="ones")

        def call(self, x: tf.Tensor) -> tf.Tensor:
            with tf.device(CPU):
                return tf.math.sin(x) * self.scale

    def make() -> tf.keras.Model:
        layers = tf.keras.layers
        return tf.keras.Sequential([layers.Flatten(), layers.Dense(6, "tanh"), OnCpu(), layers.Dense(2)])

    models = {}
    for device in (CPU, HPU):
        models[device] = build(device, make)
        with tf.device(device):
            models[device](data[0])
    models[HPU].set_weights(models[CPU].get_weights())
    assert "CPU" in variable_of(models[HPU].layers[2].scale).device
    assert "HPU" in variable_of(models[HPU].layers[1].kernel).device
    assert_same_histories({device: fit(model, device, data) for device, model in models.items()})
    assert len(statistics.get().launched_clusters) >= 2, (
        "the CPU's layer cuts the step into clusters before and after it"
    )


def test_datasets_feed_it_all(data: Data) -> None:
    dataset = tf.data.Dataset.from_tensor_slices(data).map(lambda x, y: (x * 2.0, y)).cache().batch(16).prefetch(2)
    histories, evaluations = {}, {}
    for device, model in pair().items():
        with tf.device(device):
            histories[device] = model.fit(dataset, epochs=2, verbose=0, validation_data=dataset).history
            evaluations[device] = model.evaluate(dataset, verbose=0)
            assert model.predict(dataset.map(lambda x, _: x), verbose=0).shape == (ROWS, 2)
    assert_same_histories(histories)
    np.testing.assert_allclose(evaluations[HPU], evaluations[CPU], rtol=1e-4)
    assert_launched()


def test_a_dataset_inside_a_function(data: Data) -> None:
    def total(device: str) -> tf.Tensor:
        dataset = tf.data.Dataset.from_tensor_slices(data[0]).batch(10)

        @tf.function
        def run() -> tf.Tensor:
            sums = tf.zeros([8, 8, 1])
            for batch in dataset:
                sums += tf.reduce_sum(tf.square(batch), 0)
            return sums

        with tf.device(device):
            return run()

    assert_close(total(HPU), total(CPU))


def test_mixed_bfloat16(data: Data) -> None:
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    models = pair()
    assert models[HPU].layers[0].compute_dtype == "bfloat16"
    histories = {device: fit(model, device, data, epochs=12) for device, model in models.items()}
    assert histories[HPU]["loss"][-1] < 0.8 * histories[HPU]["loss"][0]
    np.testing.assert_allclose(histories[HPU]["loss"][0], histories[CPU]["loss"][0], rtol=3e-2)
    assert statistics.get().cluster(TRAIN_FUNCTION).fallbacks == 0


def test_mixed_bfloat16_with_a_float32_last_layer(data: Data) -> None:
    """The policy of the guides: layers compute in bfloat16, the last layer and the loss in float32."""
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

    def with_float32_result() -> tf.keras.Model:
        layers = tf.keras.layers
        return tf.keras.Sequential([layers.Input((8, 8, 1)), *cnn().layers[:-1], layers.Dense(2, dtype="float32")])

    models = pair(with_float32_result)
    predictions = {}
    for device, model in models.items():
        assert {layer.compute_dtype for layer in model.layers[:-1]} == {"bfloat16"}
        assert model.layers[-1].compute_dtype == "float32" and tf.as_dtype(model.outputs[0].dtype) == tf.float32
        fit(model, device, data)
        assert {tf.as_dtype(weight.dtype) for weight in model.trainable_weights} == {tf.float32}
        with tf.device(device):
            predictions[device] = model.predict(data[0], batch_size=16, verbose=0)
    assert np.any(predictions[HPU] != predictions[HPU].astype(tf.bfloat16.as_numpy_dtype)), "the result was rounded"
    np.testing.assert_allclose(predictions[HPU], predictions[CPU], atol=3e-2)
    assert statistics.get().cluster(TRAIN_FUNCTION).fallbacks == 0


def test_custom_train_step(data: Data) -> None:
    class Clipped(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.body = cnn()
            self.mean_loss = tf.keras.metrics.Mean("loss")

        def call(self, x: tf.Tensor, training: bool = False) -> tf.Tensor:
            return self.body(x, training=training)

        def train_step(self, batch: Any) -> dict[str, tf.Tensor]:
            x, y = batch
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, self(x, training=True))
                loss = tf.reduce_mean(losses) + 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in self.trainable_variables])
            gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, self.trainable_variables), 0.5)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            self.mean_loss.update_state(loss)
            return {"loss": self.mean_loss.result(), "norm": norm}

        @property
        def metrics(self) -> list[tf.keras.metrics.Metric]:
            return [self.mean_loss]

    models = pair(Clipped)
    assert_same_histories({device: fit(model, device, data) for device, model in models.items()})
    assert statistics.get().cluster(TRAIN_FUNCTION).fallbacks == 0


def test_many_inputs_and_outputs() -> None:
    generator = np.random.default_rng(1)
    inputs = {
        "words": generator.integers(0, 20, (ROWS, 5)),
        "image": generator.standard_normal((ROWS, 6, 6, 2), dtype=np.float32),
        "numbers": generator.standard_normal((ROWS, 3), dtype=np.float32),
    }
    outputs = {"class": generator.integers(0, 3, ROWS), "value": generator.standard_normal((ROWS, 1), dtype=np.float32)}

    def make() -> tf.keras.Model:
        layers = tf.keras.layers
        words = tf.keras.Input((5,), dtype=tf.int64, name="words")
        image, numbers = tf.keras.Input((6, 6, 2), name="image"), tf.keras.Input((3,), name="numbers")
        parts = [
            layers.GlobalAveragePooling1D()(layers.Embedding(20, 4)(words)),
            layers.Flatten()(layers.Conv2D(3, 3, activation="relu")(image)),
            layers.LayerNormalization()(numbers),
        ]
        joined = layers.Dense(8, "tanh")(layers.Concatenate()(parts))
        results = {"class": layers.Dense(3, name="class")(joined), "value": layers.Dense(1, name="value")(joined)}
        return tf.keras.Model([words, image, numbers], results)

    histories, weights = {}, None
    for device in (CPU, HPU):
        with tf.device(device):
            model = make()
            model.compile(
                tf.keras.optimizers.SGD(0.05),
                {"class": tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), "value": "mse"},
                metrics={"class": "accuracy", "value": "mae"},
                loss_weights={"class": 1.0, "value": 0.3},
            )
        weights = weights or model.get_weights()
        model.set_weights(weights)
        histories[device] = fit(model, device, (inputs, outputs))
    assert_same_histories(histories)
    assert_launched()


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop", "adagrad"])
def test_embeddings_train(optimizer: str) -> None:
    generator = np.random.default_rng(2)
    ids, labels = generator.integers(0, 30, (ROWS, 6)).astype(np.int32), generator.integers(0, 2, ROWS)
    losses, tables = {}, {}
    weights = None
    for device in (CPU, HPU):
        with tf.device(device):
            layers = tf.keras.layers
            model = tf.keras.Sequential([layers.Input([6]), layers.Embedding(30, 4), layers.Flatten(), layers.Dense(2)])
            model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        weights = weights or model.get_weights()
        model.set_weights(weights)
        losses[device] = fit(model, device, (ids, labels))
        tables[device] = model.layers[0].get_weights()[0]
    assert_same_histories(losses)
    np.testing.assert_allclose(tables[HPU], tables[CPU], rtol=1e-4, atol=1e-5)
    assert_launched()


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_gradients_of_gradients(graph: bool) -> None:
    x = np.random.default_rng(3).standard_normal((3, 4), dtype=np.float32)

    def penalty(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.tanh(x @ tf.transpose(x)) ** 3)
            first = inner.gradient(y, x)
            norm = tf.reduce_sum(first**2)
        return y, first, outer.gradient(norm, x)

    def jacobian(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.softmax(x)
        return tape.batch_jacobian(y, x)

    results = {}
    for device in (CPU, HPU):
        with tf.device(device):
            functions = [tf.function(f) if graph else f for f in (penalty, jacobian)]
            results[device] = [function(tf.constant(x)) for function in functions]
    assert_close(results[HPU], results[CPU])


def test_metrics() -> None:
    generator = np.random.default_rng(4)
    y, p = generator.integers(0, 2, 40), generator.random(40).astype(np.float32)
    results = {}
    for device in (CPU, HPU):
        with tf.device(device):
            metrics = [
                tf.keras.metrics.AUC(),
                tf.keras.metrics.Precision(),
                tf.keras.metrics.Recall(),
                tf.keras.metrics.BinaryAccuracy(),
                tf.keras.metrics.MeanSquaredError(),
                tf.keras.metrics.MeanIoU(2),
            ]
            for metric in metrics:
                for _ in range(2):
                    metric.update_state(y, y if isinstance(metric, tf.keras.metrics.MeanIoU) else p)
            results[device] = [float(metric.result()) for metric in metrics]
    np.testing.assert_allclose(results[HPU], results[CPU], rtol=1e-5)


def encoder() -> tf.keras.Model:
    """Encoder of Keras layers, which TensorFlow builds from many small ops."""
    layers = tf.keras.layers
    x = inputs = layers.Input((6, 16))
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, "gelu")(x)))
    image = layers.Reshape((6, 4, 4))(layers.Softmax()(layers.Dense(16, "relu")(x)))
    x = layers.Flatten()(layers.ReLU()(layers.BatchNormalization()(image)))
    return tf.keras.Model(inputs, layers.Dense(2)(x))


def test_fit_with_a_partial_last_batch_finds_the_layers() -> None:
    """With a partial last batch, the batch size in the train step is unknown."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((40, 6, 16), dtype=np.float32)
    data = x, (x.sum((1, 2)) > 0).astype(np.int32)
    histories = {device: fit(model, device, data) for device, model in pair(encoder).items()}
    assert_same_histories(histories)
    assert_launched()
    found = Counter(rewrite.what.split(":")[0] for rewrite in pattern_rewrites(TRAIN_FUNCTION))
    twice = ("flat_layer_norm", "flat_layer_norm_grad", "softmax_grad")
    once = ("gelu_erf", "gelu_erf_grad", "bias_relu", "batch_norm_relu")
    assert found == {**dict.fromkeys(twice, 2), **dict.fromkeys(once, 1)}
