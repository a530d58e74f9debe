"""Instructions of launches in tf.profiler's profiles and in trace files (HPU_EMULATOR_PROFILE)."""

from __future__ import annotations

import json
import pathlib

import pytest

from habana_frameworks.tensorflow import library_loader
from tests.profiling import instruction_programs as programs
from tests.profiling import traces
from tests.support.keras_package import TRAIN_FUNCTION
from tests.support.processes import call_to, run_with_tensorflow

# Trace files have times in microseconds since 1970, as doubles.
ROUNDING_NS = 500.0


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The files of the program with timed recipes."""
    return run(tmp_path_factory.mktemp("timed"), "1")


def run(directory: pathlib.Path, profile: str) -> pathlib.Path:
    environment = {"HPU_EMULATOR_PROFILE": profile}
    run_with_tensorflow(call_to(programs.train_and_loop), cwd=directory, environment=environment)
    return directory


def instructions_of(launch: traces.Event, events: list[traces.Event]) -> list[traces.Event]:
    """Returns the instructions inside of a launch. Fails unless they are nested: none ends within another."""
    inside = [event for event in traces.of_lane(events, "XLA Ops") if launch.contains(event)]
    open_events: list[traces.Event] = []
    for event in sorted(inside, key=lambda event: (event.begin, -event.end)):
        while open_events and open_events[-1].end <= event.begin + ROUNDING_NS:
            open_events.pop()
        if open_events:
            assert event.end <= open_events[-1].end + ROUNDING_NS, (event, open_events[-1])
        open_events.append(event)
    return inside


def test_a_train_step_has_its_instructions(timed: pathlib.Path) -> None:
    events = traces.read_profile(timed)
    (launch,) = [event for event in traces.of_lane(events, "Compute") if TRAIN_FUNCTION in event.name]
    instructions = instructions_of(launch, events)
    assert instructions == traces.of_lane(events, "XLA Ops")
    # The step has no loop, so each instruction is outside of the others.
    assert 0 < sum(event.duration for event in instructions) <= launch.duration
    by_op = {event.stats["tf_op"]: event for event in instructions if "tf_op" in event.stats}
    for op in ("digits/conv2d/Conv2D:Conv2D", "digits/dense/MatMul:MatMul"):
        assert op in by_op, sorted(by_op)
        event = by_op[op]
        assert event.name == op.partition(":")[0] and event.duration > 0
        assert TRAIN_FUNCTION in event.stats["hlo_module"]
        assert event.stats["hlo_op"] and event.stats["hlo_category"]
        assert event.stats["source"].startswith(f"{programs.__file__}:")


def test_recipes_without_timing_have_the_same_results_and_no_instructions(
    timed: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    untimed = run(tmp_path, "0")
    events = traces.read_profile(untimed)
    assert traces.of_lane(events, "Compute") and not traces.of_lane(events, "XLA Ops")
    assert json.loads((untimed / "loss.json").read_text()) == json.loads((timed / "loss.json").read_text())


def test_instructions_of_a_loop_lie_in_the_loop(timed: pathlib.Path) -> None:
    events = traces.read_chrome(timed / "loop.json")
    (launch,) = [event for event in traces.of_lane(events, "Compute") if "looped" in event.name]
    instructions = instructions_of(launch, events)
    (loop,) = [event for event in instructions if event.stats["hlo_category"] == "while"]
    products = [event for event in instructions if event.stats.get("tf_op") == "while/MatMul:MatMul"]
    assert len(products) == 5 and all(loop.contains(product) for product in products)
    assert sum(product.duration for product in products) <= loop.duration


def test_a_request_on_a_backend_without_times_is_answered_at_load() -> None:
    texts = {}
    for backend in ("null", "emulator"):
        environment = {"HPU_EMULATOR_PROFILE": "1", "HPU_BACKEND": backend}
        texts[backend] = run_with_tensorflow(call_to(library_loader.load_habana_module), environment).stderr
    assert 'profiles will lack the line "XLA Ops": the backend null does not time instructions' in texts["null"]
    assert "XLA Ops" not in texts["emulator"]
