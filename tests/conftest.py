"""Fixtures and hooks for all tests: module locks, backend, result digests, device."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import pathlib
import signal
import tempfile
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.support import crashes, exceptions, processes, results

# Background jobs of a shell ignore SIGINT, which programs that tests start and interrupt would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Must precede the first import of TensorFlow.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

# Derandomized, so that each run uses the same examples. `make soak` runs the random_graphs tests with random examples.
settings.register_profile("default", derandomize=True)
settings.register_profile("random", derandomize=False, print_blob=True)
settings.load_profile("default")


@pytest.fixture(scope="session", autouse=True)
def module_locks() -> Iterator[None]:
    """Isolates this run's emulated modules from other runs on this machine."""
    with tempfile.TemporaryDirectory(prefix="hpu-tests-") as directory:
        os.environ.setdefault("HPU_MODULE_LOCK_DIR", directory)
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Creates the directory of processes.shared_recipes(). Workers of pytest-xdist inherit the directory."""
    if hasattr(config, "workerinput"):
        return
    directory = tempfile.TemporaryDirectory(prefix="hpu-tests-")
    config.add_cleanup(directory.cleanup)
    os.environ[processes.RECIPES] = directory.name


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("HPU")
    group.addoption("--remote", action="store_true", help="run tests on a device server started for this run")
    group.addoption("--with-exceptions", action="store_true", help="also run tests that cannot pass on the device")
    group.addoption("--sample", type=int, metavar="N", help="run at most N tests of each file")
    group.addoption("--record-results", metavar="FILE", help="write digests of each test's HPU results")
    group.addoption("--same-results", metavar="FILE", help="fail tests whose results differ from FILE")


# Folders with the slowest files. They run first, so that no worker is left with a long file at the end.
LONG_FOLDERS = ("hvd", "distribute", "soak", "docs", "pjrt", "remote", "equality")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts long files first, and skips tests that cannot pass on the device of HPU_BACKEND or with this TensorFlow."""
    items.sort(key=_place)  # stable: tests of a file stay together
    if sample := config.getoption("--sample"):
        _keep_sample(config, items, sample)
    skipped = exceptions.active_exceptions()
    if not skipped or config.getoption("--with-exceptions"):
        return
    for item in items:
        if (reason := exceptions.reason_to_skip(item.nodeid, skipped)) is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def _keep_sample(config: pytest.Config, items: list[pytest.Item], size: int) -> None:
    """Keeps `size` tests of each file, at equal distances."""
    kept: list[pytest.Item] = []
    for _, group in itertools.groupby(items, key=lambda item: item.path):
        tests = list(group)
        kept += [tests[number * len(tests) // size] for number in range(size)] if len(tests) > size else tests
    left_out = set(items).difference(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = kept


def pytest_collection_finish() -> None:
    """Exempts TensorFlow's modules and the tests from garbage collections, which would visit all of them each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    crashes.check(item, report)
    return report


def _place(item: pytest.Item) -> int:
    folder = item.path.relative_to(pathlib.Path(__file__).parent).parts[0]
    return LONG_FOLDERS.index(folder) if folder in LONG_FOLDERS else len(LONG_FOLDERS)


@pytest.fixture(scope="session", autouse=True)
def backend(module_locks: None, request: pytest.FixtureRequest) -> Iterator[None]:
    """With --remote, runs a device server, and makes this process and all programs of tests use its modules."""
    if not request.config.getoption("--remote"):
        yield
        return
    from tests.remote.servers import Server

    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hpu-tests-")))
        server = stack.enter_context(Server(directory, "--modules", "16", "--allow-faults"))
        os.environ["HPU_BACKEND"] = server.backend
        yield
        # This process still holds a module; stopping the server releases it.
        del os.environ["HPU_BACKEND"]


@pytest.fixture(scope="session")
def digests(request: pytest.FixtureRequest) -> Iterator[results.Digests]:
    """Digests of the results of all tests in this run (--record-results, --same-results)."""
    expected = request.config.getoption("--same-results")
    written = request.config.getoption("--record-results")
    run = results.Digests.read(expected) if expected else results.Digests()
    yield run
    if written:
        run.write(written)


@pytest.fixture(autouse=True)
def same_results(digests: results.Digests, request: pytest.FixtureRequest) -> Iterator[None]:
    """With --same-results, checks that the test's HPU results equal the recorded results bit for bit."""
    name = request.node.nodeid
    results.begin()
    yield
    digests.take(name, results.end())
    assert digests.as_expected(name), f"{name}: the results differ from the file of --same-results"


def folder_of(request: pytest.FixtureRequest) -> str:
    """Returns the name of the folder below tests/ that holds the test."""
    return str(request.path.relative_to(pathlib.Path(__file__).parent).parts[0])


@pytest.fixture(scope="session", autouse=True)
def compiles_each_signature() -> Iterator[bool]:
    """Compiles each signature, so that tests of many shapes test recipes. False if the user has chosen a mode."""
    chooses = "HPU_COMPILE_MODE" not in os.environ
    with pytest.MonkeyPatch.context() as patch:
        if chooses:
            patch.setenv("HPU_COMPILE_MODE", "strict")
        yield chooses


@pytest.fixture(scope="module", autouse=True)
def default_mode_of_pages(compiles_each_signature: bool, request: pytest.FixtureRequest) -> Iterator[None]:
    """Programs of pages have the default mode."""
    with pytest.MonkeyPatch.context() as patch:
        if compiles_each_signature and folder_of(request) == "docs":
            patch.delenv("HPU_COMPILE_MODE")
        yield


# A cluster or eager op that fails on the HPU fails the tests of these folders, instead of running on the CPU in each
# step. Other folders have no clusters, or have the default mode, which runs new shapes on the CPU (docs).
NO_FALLBACK_FOLDERS = ("distribute", "equality", "examples", "explain", "gaudi", "hvd", "keras", "pjrt", "precision")
# Tests of single ops: only the emulator has them all.
NO_FALLBACK_ON_EMULATOR = ("custom_ops", "device", "kernels", "ops", "passes", "profiling", "recipes", "remote")


@pytest.fixture(scope="module", autouse=True)
def forbidden_fallbacks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forbids CPU fallbacks in these folders. Programs of tests inherit the setting."""
    with pytest.MonkeyPatch.context() as patch:
        forbidding = (
            NO_FALLBACK_FOLDERS if os.environ.get("HPU_BACKEND") else NO_FALLBACK_FOLDERS + NO_FALLBACK_ON_EMULATOR
        )
        if folder_of(request) in forbidding:
            patch.setenv("TF_CPU_RUNTIME_FALLBACK", "forbid")
        yield


@pytest.fixture(autouse=True)
def cpu_fallback(forbidden_fallbacks: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allows CPU fallbacks in tests with the marker cpu_fallback."""
    if request.node.get_closest_marker("cpu_fallback"):
        monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "allow")


@pytest.fixture(scope="module", autouse=True)
def counters() -> None:
    """Resets the counters before each file, so that earlier files do not affect them."""
    from habana_frameworks.tensorflow import statistics
    from habana_frameworks.tensorflow._internal.native import plugin_library

    if plugin_library.is_loaded():
        statistics.reset()


@pytest.fixture(scope="session")
def hpu(backend: None) -> str:
    """Name of the HPU, with the module loaded. For tests that run ops on the HPU."""
    from habana_frameworks.tensorflow import load_habana_module

    devices = load_habana_module()
    assert len(devices) == 1, devices
    return "/device:HPU:0"
