"""Parts of tf.keras that the sweep leaves out: utils, preprocessing, experimental, datasets.

Programs use them around models, so the tests train on the HPU with what they return.
"""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import assert_launched
from tests.support.compare import CPU, HPU
from tests.support.keras_package import PACKAGE, keras_2_only, variable_of

pytestmark = pytest.mark.usefixtures("hpu")
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((24, 6)).astype(np.float32)
CLASSES = GENERATOR.integers(0, 3, 24)


def dense() -> tf.keras.Model:
    return tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(3, "softmax")])


def losses(device: str, make: Callable[[], Any], data: Callable[[], Any], loss: str = "mse") -> list[float]:
    """Trains a new model for two epochs."""
    tf.keras.utils.set_random_seed(1)
    with tf.device(device):
        model = make()
        model.compile(tf.keras.optimizers.SGD(0.01), loss)
        given = data()
        arguments = given if isinstance(given, tuple) else (given,)
        found = model.fit(*arguments, epochs=2, shuffle=False, verbose=0).history["loss"]
    assert all(variable_of(weight).device.endswith(device) for weight in model.trainable_weights)
    return [float(value) for value in found]


def assert_trains(make: Callable[[], Any], data: Callable[[], Any], loss: str = "mse") -> None:
    expected = losses(CPU, make, data, loss)
    statistics.reset()
    assert losses(HPU, make, data, loss) == pytest.approx(expected, rel=1e-4)
    assert expected[1] < expected[0]
    assert_launched()


class Batches(tf.keras.utils.Sequence):  # type: ignore[misc,name-defined]
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        part = slice(8 * index, 8 * index + 8)
        return X[part], tf.keras.utils.to_categorical(CLASSES, 3)[part]


@tf.keras.utils.register_keras_serializable("test_other_parts")
class Scaled(tf.keras.layers.Layer):  # type: ignore[misc,name-defined]
    def call(self, x: tf.Tensor) -> tf.Tensor:
        return 2.0 * x


class TestUtils:
    def test_a_sequence_of_batches(self) -> None:
        np.testing.assert_array_equal(tf.keras.utils.to_categorical(CLASSES, 3).argmax(1), CLASSES)
        assert_trains(dense, Batches, "categorical_crossentropy")

    def test_normalize_and_split_dataset(self) -> None:
        def data() -> Any:
            rows = tf.keras.utils.normalize(X, axis=1)
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)
            pairs = tf.data.Dataset.from_tensor_slices((rows, CLASSES))
            left, right = tf.keras.utils.split_dataset(pairs, left_size=0.75)
            assert (len(left), len(right)) == (18, 6)
            return left.batch(6)

        assert_trains(dense, data, "sparse_categorical_crossentropy")

    def test_names_of_objects(self) -> None:
        assert tf.keras.utils.get_registered_name(Scaled) == "test_other_parts>Scaled"
        assert tf.keras.utils.get_registered_object("test_other_parts>Scaled") is Scaled
        assert tf.keras.utils.get_custom_objects()["test_other_parts>Scaled"] is Scaled
        with tf.keras.utils.custom_object_scope({"Alias": Scaled}):
            assert tf.keras.utils.get_registered_object("Alias") is Scaled
        assert tf.keras.utils.get_registered_object("Alias") is None

    def test_a_registered_layer_is_restored(self, tmp_path: pathlib.Path) -> None:
        with tf.device(HPU):
            model = tf.keras.Sequential([Scaled(), tf.keras.layers.Dense(2)])
            expected = model(X).numpy()
            model.save(tmp_path / "model.keras")
            restored = tf.keras.models.load_model(tmp_path / "model.keras")
            assert isinstance(restored.layers[0], Scaled)
            np.testing.assert_allclose(restored(X), expected, rtol=1e-5)
            cloned = tf.keras.utils.deserialize_keras_object(tf.keras.utils.serialize_keras_object(model))
            assert [type(layer) for layer in cloned.layers] == [type(layer) for layer in model.layers]


class TestPreprocessing:
    def test_padded_sequences(self) -> None:
        """A text of tokens, padded to one length, into an embedding."""
        texts = ["a card", "a card that computes", "computes", "that a card computes"]
        tokenizer = tf.keras.preprocessing.text.Tokenizer()
        tokenizer.fit_on_texts(texts)
        rows = tf.keras.preprocessing.sequence.pad_sequences(tokenizer.texts_to_sequences(texts), padding="post")
        assert rows.shape == (4, 4) and rows[2].tolist()[1:] == [0, 0, 0]

        def model() -> tf.keras.Model:
            layers = tf.keras.layers
            embedding = layers.Embedding(8, 4, mask_zero=True)
            return tf.keras.Sequential([embedding, layers.GlobalAveragePooling1D(), layers.Dense(1)])

        assert_trains(model, lambda: (rows, np.arange(1, 5, dtype=np.float32)))

    def test_windows_of_a_series(self) -> None:
        series, targets = X[:, :1], X[:, 1]

        def data() -> Any:
            return tf.keras.preprocessing.timeseries_dataset_from_array(
                series, targets, sequence_length=5, batch_size=4
            )

        def model() -> tf.keras.Model:
            layers = tf.keras.layers
            return tf.keras.Sequential([layers.Conv1D(4, 3), layers.GlobalAveragePooling1D(), layers.Dense(1)])

        assert_trains(model, data)

    def test_batches_of_images(self) -> None:
        """ImageDataGenerator computes with NumPy in the program's process."""
        images = GENERATOR.uniform(0, 255, (8, 6, 6, 1)).astype(np.float32)

        def data() -> Any:
            augmented = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
            return augmented.flow(images, np.arange(8.0) / 8, batch_size=4, shuffle=False, seed=3)

        def model() -> tf.keras.Model:
            layers = tf.keras.layers
            return tf.keras.Sequential([layers.Conv2D(2, 3, input_shape=(6, 6, 1)), layers.Flatten(), layers.Dense(1)])

        assert_trains(model, data)

    def test_a_directory_of_texts(self, tmp_path: pathlib.Path) -> None:
        """Strings stay on the CPU; the labels and what is computed from the strings may be on the HPU."""
        for name in ("good", "bad"):
            (tmp_path / name).mkdir()
            for index in range(3):
                (tmp_path / name / f"{index}.txt").write_text(f"{name} text {index}")
        dataset = tf.keras.preprocessing.text_dataset_from_directory(tmp_path, batch_size=3, shuffle=False)
        assert dataset.class_names == ["bad", "good"]

        def data() -> Any:
            return dataset.map(lambda text, label: (tf.one_hot(tf.strings.length(text), 16), label))

        assert_trains(lambda: tf.keras.Sequential([tf.keras.layers.Dense(1)]), data)


@keras_2_only
class TestExperimental:
    def test_a_linear_model(self) -> None:
        assert_trains(tf.keras.experimental.LinearModel, lambda: (X, X.sum(1)))

    def test_a_wide_and_deep_model(self) -> None:
        def model() -> Any:
            deep = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
            return tf.keras.experimental.WideDeepModel(tf.keras.experimental.LinearModel(), deep)

        losses: dict[str, list[float]] = {}
        for device in (CPU, HPU):
            tf.keras.utils.set_random_seed(1)
            with tf.device(device):
                combined = model()
                combined.compile(["sgd", "sgd"], "mse")
                history = combined.fit([X, X], X.sum(1), epochs=2, shuffle=False, verbose=0).history
            losses[device] = history["loss"]
        assert losses[HPU] == pytest.approx(losses[CPU], rel=1e-4) and losses[HPU][1] < losses[HPU][0]

    @pytest.mark.parametrize("name", ["CosineDecay", "CosineDecayRestarts"])
    def test_schedules(self, name: str) -> None:
        schedule = getattr(tf.keras.experimental, name)(0.1, 10)
        rates = {}
        for device in (CPU, HPU):
            with tf.device(device):
                rates[device] = [float(schedule(tf.constant(step))) for step in (0, 5, 9, 12)]
        assert rates[HPU] == pytest.approx(rates[CPU], rel=1e-5) and rates[HPU][1] < 0.1


def test_a_data_set(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """load_data() returns NumPy arrays; its download is replaced by a file."""
    mnist = importlib.import_module(f"{PACKAGE.__name__}.src.datasets.mnist")
    images = GENERATOR.integers(0, 256, (12, 28, 28), dtype=np.uint8)
    labels = GENERATOR.integers(0, 10, 12, dtype=np.uint8)
    np.savez(tmp_path / "mnist.npz", x_train=images, y_train=labels, x_test=images[:2], y_test=labels[:2])
    monkeypatch.setattr(mnist, "get_file", lambda *_, **__: str(tmp_path / "mnist.npz"))
    (x, y), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
    assert x.shape == (12, 28, 28) and x_test.shape == (2, 28, 28) and y_test.tolist() == y[:2].tolist()

    def model() -> tf.keras.Model:
        return tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, "softmax")])

    assert_trains(model, lambda: (x / np.float32(255.0), y), "sparse_categorical_crossentropy")
