"""Event files that tb_utils writes for TensorBoard."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import tb_utils

pytestmark = pytest.mark.usefixtures("hpu")


def written(directory: pathlib.Path) -> dict[str, list[float]]:
    """Returns the scalars under a directory by tag, and hyperparameters by plugin name."""
    found: dict[str, list[float]] = {}
    for path in sorted(directory.rglob("events.out.*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                number = 0.0
                if value.HasField("simple_value"):
                    number = value.simple_value
                elif value.HasField("tensor") and value.tensor.dtype == tf.float32.as_datatype_enum:
                    number = tf.make_ndarray(value.tensor).item() if not value.tensor.tensor_shape.dim else 0.0
                found.setdefault(value.tag, []).append(number)
    return found


def train(*callbacks: Any) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones([16, 2], np.float32), np.ones([16, 1], np.float32)
    model.fit(*data, validation_data=data, batch_size=4, epochs=2, verbose=0, callbacks=list(callbacks))


def test_keras_hooks(tmp_path: pathlib.Path) -> None:
    train(
        tb_utils.ExamplesPerSecondKerasHook(every_n_steps=2, output_dir=str(tmp_path / "v1"), batch_size=4),
        tb_utils.ExamplesPerSecondKerasHookV2(every_n_steps=4, output_dir=str(tmp_path / "v2"), batch_size=4),
        tb_utils.TimeToTrainKerasHook(output_dir=str(tmp_path / "ttt")),
        tb_utils.TensorBoardWithHParamsV2({"rate": 0.1, "dtype": "bf16"}, log_dir=str(tmp_path / "tb")),
    )
    for version, count in (("v1", 4), ("v2", 2)):
        scalars = written(tmp_path / version)
        assert len(scalars["examples/sec"]) == len(scalars["global_step/sec"]) == count
        np.testing.assert_allclose(scalars["examples/sec"], 4 * np.array(scalars["global_step/sec"]), rtol=1e-5)
    times = written(tmp_path / "ttt")
    assert [len(times[f"ttt/{tag}"]) for tag in ("train/begin", "train/end", "train/epoch/begin", "eval/end")] == [
        1,
        1,
        2,
        2,
    ]
    assert times["ttt/train/begin"][0] <= times["ttt/train/epoch/end"][1] <= times["ttt/train/end"][0]
    assert "_hparams_/session_start_info" in written(tmp_path / "tb" / "train")
    assert (tmp_path / "tb" / "eval").is_dir() and not (tmp_path / "tb" / "validation").exists()


def test_session_hooks(tmp_path: pathlib.Path) -> None:
    with tf.Graph().as_default():
        step = tf.compat.v1.train.get_or_create_global_step()
        advance = tf.compat.v1.assign_add(step, 1)
        hooks = [
            tb_utils.ExamplesPerSecondEstimatorHook(
                batch_size=8, every_n_steps=2, output_dir=str(tmp_path / "rate"), extra_metrics={"tokens/sec": 80}
            ),
            tb_utils.TimeToTrainEstimatorHook("train", str(tmp_path / "ttt")),
            tb_utils.TensorBoardHook(str(tmp_path / "profile"), "2,3"),
        ]
        with tf.compat.v1.train.SingularMonitoredSession(hooks=hooks) as session:
            for _ in range(6):
                session.run(advance)
    rates = written(tmp_path / "rate")
    assert len(rates["examples/sec"]) >= 2
    np.testing.assert_allclose(rates["tokens/sec"], 10 * np.array(rates["examples/sec"]), rtol=1e-5)
    times = written(tmp_path / "ttt")
    assert times["ttt/train/begin"][0] <= times["ttt/train/end"][0]
    assert list((tmp_path / "profile").rglob("*.xplane.pb"))


def test_summary_and_hparams_v1(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tb_utils.TBSummary(tmp_path) as summary:
        summary.add_scalar("loss", 0.5, 3)
    assert written(tmp_path)["loss"] == [0.5]
    monkeypatch.setenv("TF_BF16_CONVERSION", "1")
    assert tb_utils._parameters({"rate": 0.1, "layers": [1, 2]}) == {"rate": 0.1, "precision": "bf16"}
    assert tb_utils._parameters({"data_type": "fp16"})["precision"] == "fp16"
    tb_utils.write_hparams_v1(tmp_path / "hparams", {"rate": 0.1})
    assert "_hparams_/session_start_info" in written(tmp_path / "hparams")
    for steps in ("5,2", "1", "1,b"):
        with pytest.raises(ValueError, match="first,last"):
            tb_utils.TensorBoardHook(profile_steps=steps)
