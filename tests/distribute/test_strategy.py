"""HPUStrategy's weights equal one worker's weights for any number of workers."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow._internal.launch import ports
from habana_frameworks.tensorflow.recipe_store import list_entries
from tests.distribute import strategy_programs as programs
from tests.distribute.jobs import TRAIN, Trained, assert_same_weights, assert_trained_as, run_job, train, trained
from tests.hvd.jobs import Start, run_program
from tests.remote.servers import Server
from tests.support.keras_package import IS_KERAS_2, TRAIN_FUNCTION, variable_of
from tests.support.processes import ROOT, call_to, run_with_tensorflow

CASES = ("cnn-fit", "cnn-loop", "transformer-loop")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trained]]:
    """Results of one worker."""
    return train(tmp_path_factory.mktemp("alone"), 1, *CASES)


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Recipe directory that two workers share."""
    return tmp_path_factory.mktemp("recipes")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, recipes: pathlib.Path) -> dict[str, list[Trained]]:
    """Results of two workers."""
    environment = {"TF_RECIPE_CACHE_PATH": str(recipes)}
    return train(tmp_path_factory.mktemp("pair"), 2, *CASES, environment=environment)


@pytest.mark.parametrize("case", CASES)
def test_two_workers_train_as_one_does(
    case: str, alone: dict[str, list[Trained]], pair: dict[str, list[Trained]]
) -> None:
    (expected,) = alone[case]
    assert expected.replicas == 1
    assert_trained_as(pair[case], 2, expected)
    for rank, worker in enumerate(pair[case]):
        assert worker.devices == [f"/job:worker/replica:0/task:{rank}/device:HPU:0"]
        assert worker.clusters, "nothing ran on the HPU"
        assert worker.numbers == pytest.approx(expected.numbers, rel=1e-4)


def test_automatic_mixed_precision(tmp_path: pathlib.Path, alone: dict[str, list[Trained]]) -> None:
    """Two workers convert their graphs to bfloat16, scale the loss, and train as one worker does in float32."""
    case = "cnn-fit"
    (expected,) = alone[case]
    ranks = train(tmp_path, 2, case, environment={"TF_ENABLE_AUTO_MIXED_PRECISION": "1"})[case]
    for rank in ranks:
        assert (rank.replicas, rank.loss_scale, expected.loss_scale) == (2, 2.0**15, 1.0)
        assert_same_weights(rank, ranks[0], rtol=0)
        assert_same_weights(rank, expected, rtol=5e-2)
        assert rank.numbers != expected.numbers, "nothing was converted"


def test_workers_share_their_recipes(pair: dict[str, list[Trained]], recipes: pathlib.Path) -> None:
    last = pair[CASES[-1]]
    assert sum(worker.compiled for worker in last) == len(list_entries(recipes).entries), "a recipe was compiled twice"
    assert sum(worker.disk_hits for worker in last) > 0


def count_buckets(sizes: list[int], limit: int) -> int:
    """Counts gradient buckets as TensorFlow fills them: from the last weight to the first.

    A bucket is full once it exceeds `limit` bytes.
    """
    filled = [0]
    for size in reversed(sizes):
        if filled[-1] > limit:
            filled.append(0)
        filled[-1] += size
    return len(filled)


def test_a_step_has_a_cluster_for_each_bucket_and_one_for_the_updates(
    tmp_path: pathlib.Path, alone: dict[str, list[Trained]], pair: dict[str, list[Trained]]
) -> None:
    """Trains the transformer with one bucket (default) and with several buckets."""
    case = "transformer-loop"
    (expected,) = alone[case]
    steps = len(expected.numbers)
    assert set(expected.clusters.values()) == {steps} and len(expected.clusters) == 1
    for worker in pair[case]:
        assert set(worker.clusters.values()) == {steps} and len(worker.clusters) == 1 + 1
    # Keras adds reductions of metrics, which are not in clusters.
    for worker in pair["cnn-fit"]:
        # Keras 3 has one name for both functions, and averages the losses of the workers in each step.
        for function in (TRAIN_FUNCTION, "test_function") if IS_KERAS_2 else (TRAIN_FUNCTION,):
            assert len([name for name in worker.clusters if f"_{function}_" in name]) == (2 if IS_KERAS_2 else 3)
    sizes = [weight.nbytes for weight in expected.weights]
    limit = sum(sizes) // 4
    buckets = count_buckets(sizes, limit)
    assert buckets > 2
    for worker in train(tmp_path, 2, case, options=("--bucket-bytes", str(limit)))[case]:
        assert set(worker.clusters.values()) == {steps} and len(worker.clusters) == buckets + 1
        assert_same_weights(worker, expected)


def test_four_workers_on_modules_of_a_device_server(tmp_path: pathlib.Path, alone: dict[str, list[Trained]]) -> None:
    with Server(tmp_path) as server:
        workers = train(tmp_path, 4, "cnn-loop", environment={"HPU_BACKEND": server.backend})["cnn-loop"]
    for worker in workers:
        assert worker.replicas == 4
        assert_same_weights(worker, alone["cnn-loop"][0])


def test_workers_on_machines_of_their_own(tmp_path: pathlib.Path, alone: dict[str, list[Trained]]) -> None:
    """Workers in network namespaces, each with its own host name, address and module."""
    run_program(tmp_path, TRAIN, "--out", str(tmp_path), "cnn-loop", start=Start.MACHINES)
    workers = [trained(tmp_path, "cnn-loop", rank) for rank in range(2)]
    assert_trained_as(workers, 2, alone["cnn-loop"][0])


def test_strategies_without_the_hpu_warn_once() -> None:
    _, *created = run_with_tensorflow(call_to(programs.other_strategies)).stdout.split("--\n")
    assert created[:4] == [""] * 4
    expected = (
        "MirroredStrategy runs on CPU:0,",
        "MirroredStrategy has devices that do not exist in this process: HPU:1.",
        "OneDeviceStrategy has devices that do not exist in this process: GPU:0.",
        "MultiWorkerMirroredStrategy runs on CPU:0,",
    )
    for warnings, text in zip(created[4:], expected, strict=True):
        assert warnings.count("\n") == 1
        assert warnings.startswith(text)
        assert "HPUStrategy" in warnings


def test_a_strategy_does_not_warn_if_the_hpu_is_hidden() -> None:
    assert "HPUStrategy" not in run_with_tensorflow(call_to(programs.strategy_with_hidden_hpu)).stderr


def test_strategy_of_one_device(hpu: str) -> None:
    """TensorFlow's OneDeviceStrategy, with the device name that programs for Gaudi use."""
    with tf.distribute.OneDeviceStrategy("device:HPU:0").scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse")
    statistics.reset()
    history = model.fit(np.ones([8, 3], np.float32), np.zeros([8, 1]), epochs=2, verbose=0).history["loss"]
    assert history[1] < history[0]
    assert variable_of(model.trainable_variables[0]).device.endswith(hpu)
    assert statistics.get().launched_clusters and statistics.get().fallbacks == 0


@pytest.mark.slow  # tests of examples/clusters also train it
def test_example() -> None:
    output = run_job(2, ROOT / "examples" / "digits_strategy.py").output
    found = re.search(r"2 workers, worker 0 on \S*task:0/device:HPU:0: test loss \S+, test accuracy (\S+)%", output)
    assert found is not None, output
    assert float(found[1]) > 90


def test_estimator(tmp_path: pathlib.Path) -> None:
    values = []
    for count in (1, 2):
        directory = tmp_path / str(count)
        directory.mkdir()
        run_job(count, pathlib.Path(__file__).with_name("estimator.py"), str(directory))
        values.append(json.loads((directory / "variables.json").read_text()))
    for name, expected in values[0].items():
        np.testing.assert_allclose(values[1][name], expected, rtol=1e-4, err_msg=name)


def test_workers_without_rendezvous_get_an_error(tmp_path: pathlib.Path) -> None:
    launcher = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    done = run_with_tensorflow(
        call_to(programs.workers_without_tf_config),
        {"TF_CONFIG": None, "HPU_MODULE_LOCK_DIR": str(tmp_path), **launcher},
    )
    assert "started 2 processes, but TF_CONFIG is not set: this HPUStrategy has only one worker" in done.stderr
    assert "started 2 processes, but TF_CONFIG does not name them" in done.stdout
    assert "HPUStrategy was created after TensorFlow's first operation" in done.stdout


def test_one_worker_without_tf_config_and_with_a_resolver(tmp_path: pathlib.Path) -> None:
    environment = {"TF_CONFIG": None}
    assert "device:HPU:0" in run_with_tensorflow(call_to(programs.one_worker, str(tmp_path)), environment).stdout
    with ports.reserved(1) as (number,):
        program = call_to(programs.one_worker, str(tmp_path), number)
        assert "job:worker" in run_with_tensorflow(program, environment).stdout
