"""Programs for test_saved_model_import.py."""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


class _Affine(tf.Module):
    """A product and a sum with float32 and int64 variables."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3))
        self.bias = tf.Variable(np.arange(3, dtype=np.int64))

    @tf.function(input_signature=[tf.TensorSpec((4, 2), tf.float32, name="x")])  # type: ignore[misc]
    def call(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"y": tf.matmul(x, self.weights) + tf.cast(self.bias, tf.float32)}


def save(directory: str) -> None:
    """Saves a SavedModel of TensorFlow 2 and one of TensorFlow 1, with variables on the HPU."""
    load_habana_module()
    module = _Affine()
    assert module.weights.device.endswith("HPU:0")
    tf.saved_model.save(module, f"{directory}/v2", signatures=module.call)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, (4, 2))
        weights = tf.compat.v1.get_variable("weights", (2, 3), initializer=tf.ones_initializer(), use_resource=True)
        y = tf.matmul(x, weights)
        session.run(weights.initializer)
        tf.compat.v1.saved_model.simple_save(session, f"{directory}/v1", {"x": x}, {"y": y})


def convert(directory: str, output: str, load_hpu: bool) -> None:
    """Writes the result of each conversion of save()'s SavedModels to a file in `output`."""
    if load_hpu:
        load_habana_module()
    results = pathlib.Path(output)
    results.mkdir()
    for version in ("v1", "v2"):
        model = f"{directory}/{version}"
        (results / f"{version}.tflite").write_bytes(tf.lite.TFLiteConverter.from_saved_model(model).convert())
        old = tf.compat.v1.lite.TFLiteConverter.from_saved_model(model)
        (results / f"{version}.old.tflite").write_bytes(old.convert())
        for lift in (False, True):
            text = tf.mlir.experimental.convert_saved_model_v1(model, "", "serve", lift, True)
            (results / f"{version}.lift_{lift}.mlir").write_text(text)
    (results / "v2.mlir").write_text(tf.mlir.experimental.convert_saved_model(f"{directory}/v2", ""))


def convert_models() -> None:
    """Converts models in memory, compares their results, and checks that later Sessions have the HPU."""
    load_habana_module()
    x = np.random.default_rng(0).random((4, 2), np.float32)
    model = tf.keras.Sequential([tf.keras.layers.Input((2,), 4), tf.keras.layers.Dense(3)])
    _check(tf.lite.TFLiteConverter.from_keras_model(model), x, model(x))
    module = _Affine()
    functions = [module.call.get_concrete_function()]
    _check(tf.lite.TFLiteConverter.from_concrete_functions(functions, module), x, module.call(x)["y"])
    # Excludes GPUs, as TensorFlow's importers do.
    config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        assert any(device.device_type == "HPU" for device in session.list_devices())


def quantize(directory: str) -> None:
    """Quantizes save()'s SavedModel of TensorFlow 2 by its weights."""
    from tensorflow.compiler.mlir.quantization.tensorflow import quantization_options_pb2 as options_pb2
    from tensorflow.compiler.mlir.quantization.tensorflow.python import quantize_model

    load_habana_module()
    method = options_pb2.QuantizationMethod.PresetMethod.METHOD_STATIC_RANGE_WEIGHT_ONLY_INT8
    options = options_pb2.QuantizationOptions(
        quantization_method=options_pb2.QuantizationMethod(preset_method=method),
        op_set=options_pb2.OpSet.XLA,
        tags={"serve"},
        signature_keys=["serving_default"],
    )
    quantized = quantize_model.quantize(f"{directory}/v2", f"{directory}/quantized", quantization_options=options)
    x = np.random.default_rng(0).random((4, 2), np.float32)
    y = quantized.signatures["serving_default"](x=tf.constant(x))["y"]
    np.testing.assert_allclose(y, x @ np.arange(6).reshape(2, 3) + np.arange(3), atol=0.1)


def _check(converter: tf.lite.TFLiteConverter, x: np.ndarray, expected: tf.Tensor) -> None:
    """Compares the converted model's result for x."""
    interpreter = tf.lite.Interpreter(model_content=converter.convert())
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
