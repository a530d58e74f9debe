"""A SavedModel with its recipes, served in another process and folder by examples/inference/server.py."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sklearn.datasets
import tensorflow as tf

from tests.support.processes import ROOT, WARM_PYTHON, run, start

FOLDER = ROOT / "examples" / "inference"
HPU = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow"]
BATCH_SIZES = [1, 4, 6, 8]
RECIPES = 7
"""One for each size, and with TF_ENABLE_DYNAMIC_SHAPES one for each of the ranges 2 to 4, 5 to 6, and 7 to 8."""

pytestmark = pytest.mark.timeout(900)  # the fixtures start five programs, on a busy machine


def images(count: int) -> npt.NDArray[np.float32]:
    found = sklearn.datasets.load_digits().images[:count]
    return (found / 16).astype(np.float32).reshape(-1, 8, 8, 1)


@dataclasses.dataclass(frozen=True)
class Client:
    """Requests to a server."""

    url: str

    def ask(self, path: str, body: bytes | None = None) -> tuple[int, str]:
        """Returns status and body of the answer, also for errors."""
        request = urllib.request.Request(self.url + path, body)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def predict(self, instances: Any, model: str = "digits") -> Any:
        status, body = self.ask(f"/v1/models/{model}:predict", json.dumps({"instances": instances}).encode())
        assert status == 200, body
        return json.loads(body)["predictions"]

    def recipes(self) -> dict[str, int]:
        _, text = self.ask("/monitoring/prometheus/metrics")
        return {origin: int(count) for origin, count in re.findall(r'^hpu_recipes{origin="(\w+)"} (\d+)$', text, re.M)}


@contextlib.contextmanager
def serving(folder: pathlib.Path, *models: str, environment: Mapping[str, str]) -> Iterator[Client]:
    """Serves models of `folder`, with recipes imported into a new directory. The server must end with exit code 0."""
    bundle = "digits/1/assets.extra/recipes.bundle"
    done = run([*HPU, "cache", "import", "--path", "cache", "--key", "bundle.key", bundle], cwd=folder)
    assert f"{RECIPES} recipes imported" in done.stdout
    command = [WARM_PYTHON, str(FOLDER / "server.py"), "--port", "0", *models]
    with (folder / "errors").open("w") as errors:
        variables = {"TF_RECIPE_CACHE_PATH": "cache", **environment}
        server = start(command, variables, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert server.stdout is not None
    try:
        for line in server.stdout:
            if found := re.fullmatch(r"listening on (http://\S+)\n", line):
                yield Client(found[1])
                break
        else:
            raise AssertionError((folder / "errors").read_text())
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) == 0, (folder / "errors").read_text()
    finally:
        server.kill()
        server.communicate()
        shutil.rmtree(folder / "cache", ignore_errors=True)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with the model and the key, as moved to another machine: the folder of the export is gone."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    run([WARM_PYTHON, str(FOLDER / "export.py"), "models/digits/1"], cwd=here, timeout=280)
    sizes = list(map(str, BATCH_SIZES))
    warm_up = [str(FOLDER / "warm_up.py"), "models/digits", "--batch-sizes", *sizes]
    for setting in ("0", "1"):
        environment = {"TF_ENABLE_DYNAMIC_SHAPES": setting}
        run([*HPU, "warmup", "--path", "recipes", *warm_up], environment, cwd=here, timeout=280)
    (here / "bundle.key").write_bytes(os.urandom(32))
    (here / "bundle.key").chmod(0o600)
    bundle = "models/digits/1/assets.extra/recipes.bundle"
    run([*HPU, "cache", "export", "--path", "recipes", "--key", "bundle.key", bundle], cwd=here)
    shutil.move(here / "models" / "digits", there)
    shutil.move(here / "bundle.key", there)
    shutil.rmtree(here)
    return there


@pytest.fixture(scope="module")
def expected(exported: pathlib.Path) -> Any:
    """Loads the model in this process. Returns a function from images to scores."""
    signature = tf.saved_model.load(str(exported / "digits" / "1")).signatures["serving_default"]
    return lambda rows: signature(image=tf.constant(rows))["scores"].numpy()


@pytest.fixture(scope="module")
def client(exported: pathlib.Path) -> Iterator[Client]:
    """A server that receives requests of exported batch sizes only, except in the test of another size."""
    with serving(exported, "digits=digits", environment={}) as client:
        yield client


def test_exported_sizes_compile_nothing_and_another_size_compiles_once(client: Client, expected: Any) -> None:
    assert client.recipes() == {"compiled": 0, "disk_hits": len(BATCH_SIZES), "memory_hits": 0}
    for size in BATCH_SIZES:
        scores = client.predict(images(size).tolist())
        np.testing.assert_allclose(scores, expected(images(size)), rtol=1e-4, atol=1e-6)
    assert client.recipes() == {"compiled": 0, "disk_hits": len(BATCH_SIZES), "memory_hits": 0}
    labels = sklearn.datasets.load_digits().target[:8]
    assert np.count_nonzero(np.argmax(scores, axis=1) == labels) >= 6, "the model has not learned"
    for _ in range(2):
        np.testing.assert_allclose(client.predict(images(5).tolist()), expected(images(5)), rtol=1e-4, atol=1e-6)
        assert client.recipes()["compiled"] == 1


def test_the_state_of_the_model(client: Client) -> None:
    state = {"version": "1", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    for path in ("/v1/models/digits", "/v1/models/digits/versions/1"):
        status, body = client.ask(path)
        assert (status, json.loads(body)) == (200, {"model_version_status": [state]})


@pytest.mark.parametrize(
    ("path", "body", "status", "text"),
    [
        ("/v1/models/other", None, 404, "no model other"),
        ("/v1/models/digits/versions/2", None, 404, "versions/2"),
        ("/v1/models/digits:predict", None, 400, "malformed request: GET"),
        ("/v1/models/digits", b"{}", 400, "malformed request: POST"),
        ("/v1/models/digits:classify", b"{}", 400, "malformed request: POST"),
        ("/v1/models/digits:predict", b"{", 400, "line 1 column 2"),
        ("/v1/models/digits:predict", b"[" * 100000, 400, ""),
        ("/v1/models/digits:predict", b"\xff", 400, "utf-8"),
        ("/v1/models/digits:predict", b"[]", 400, "not a JSON object"),
        ("/v1/models/digits:predict", b"{}", 400, '"instances" must be a list'),
        ("/v1/models/digits:predict", b'{"instances": []}', 400, "at least one instance"),
        ("/v1/models/digits:predict", b'{"instances": [1]}', 400, "shape (), expected (8, 8, 1)"),
        ("/v1/models/digits:predict", b'{"instances": [[1], [1, 2]]}', 400, "differ in shape"),
        ("/v1/models/digits:predict", b'{"instances": ["1"]}', 400, "expected float32"),
        ("/v1/models/digits:predict", b'{"instances": [{"picture": 1}]}', 400, "with the inputs image"),
        ("/v1/models/digits:predict", b'{"instances": [1], "signature_name": "x"}', 400, "no signature x"),
    ],
)
def test_errors(client: Client, path: str, body: bytes | None, status: int, text: str) -> None:
    found, answer = client.ask(path, body)
    assert found == status, answer
    assert text in json.loads(answer)["error"]


def test_threads_send_requests_at_the_same_time(client: Client, expected: Any) -> None:
    sizes = BATCH_SIZES * 4
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for size, scores in zip(sizes, pool.map(lambda size: client.predict(images(size).tolist()), sizes)):
            np.testing.assert_allclose(scores, expected(images(size)), rtol=1e-4, atol=1e-6)


def save_model_of_two_inputs(folder: pathlib.Path) -> None:
    specs = {"x": tf.TensorSpec([None, 2], tf.float32, "x"), "n": tf.TensorSpec([None], tf.int32, "n")}
    module = tf.Module()
    function = tf.function(lambda x, n: {"scaled": x * tf.cast(n, tf.float32)[:, None], "next": n + 1})
    tf.saved_model.save(module, str(folder), signatures=function.get_concrete_function(**specs))


def test_other_sizes_have_bounded_recipes_and_several_inputs_are_objects(exported: pathlib.Path, expected: Any) -> None:
    save_model_of_two_inputs(exported / "two" / "7")
    environment = {"TF_ENABLE_DYNAMIC_SHAPES": "1"}
    with serving(exported, "digits=digits", "two=two", environment=environment) as client:
        for size in (5, 7):
            scores = client.predict(images(size).tolist())
            np.testing.assert_allclose(scores, expected(images(size)), rtol=1e-4, atol=1e-6)
        assert client.recipes()["compiled"] == 0, "the ranges of 6 and 8 were exported"
        rows = [{"x": [1, 2.5], "n": 3}, {"x": [0, -1], "n": 5}]
        assert client.predict(rows, "two") == [{"scaled": [3, 7.5], "next": 4}, {"scaled": [0, -5], "next": 6}]
        for wrong, text in (({"x": [1, 2], "n": 1 << 31}, "range of int32"), ({"x": [1, 2], "n": 1.5}, "float64")):
            status, answer = client.ask("/v1/models/two:predict", json.dumps({"instances": [wrong]}).encode())
            assert status == 400
            assert text in json.loads(answer)["error"]
