"""Judgements of the accelerator kit's checks on faked results: wrong results, and figures over the limits."""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from tests.profiling.traces import Event
from tools.accelerator import programs
from tools.accelerator.checks import collectives, launches, numerics, outcome, profiler, recipes, speed, training
from tools.accelerator.checks.outcome import FAILED, OVER, PASSED
from tools.accelerator.corpus import Array, Errors, Losses, Reference, compare

CARD, CPU = "pjrt:/site-packages/xla_cuda_plugin.so", "pjrt:/site-packages/pjrt_c_api_cpu_plugin.so"
EXECUTE, STREAM = "launch by the plugin's Execute, arguments", "launch by a stream, arguments"


def test_problems_precede_figures_over_limits(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_RESULT", str(tmp_path / "result.json"))
    verdict = outcome.Verdict()
    verdict.limit("a", 1.0, 1.0)
    assert verdict.status == PASSED
    verdict.limit("b:", 1.26, 1.2, " us")
    verdict.limit("c:", math.nan, 1)
    assert verdict.status == OVER and len(verdict.over) == 2
    verdict.problems.append("it is wrong")
    assert verdict.report("the rest", {"a": 1}) == 0
    written = json.loads((tmp_path / "result.json").read_text())
    assert written["status"] == FAILED and written["values"] == {"a": 1}
    assert written["summary"] == "it is wrong; b: 1.26 us (limit 1.2 us); c: nan (limit 1); the rest"


def times() -> dict[str, float]:
    """Faked medians of all benchmarks, within the limits."""
    found = dict.fromkeys(launches._NAMES, 10.0)
    found |= {f"{EXECUTE} 2": 2.0, f"{STREAM} 2": 2.2, f"{EXECUTE} 400": 170.0, f"{STREAM} 400": 180.0}
    return found


@pytest.mark.parametrize(
    ("changed", "over"),
    [
        ({}, []),
        ({f"{EXECUTE} 2": 6.0, f"{STREAM} 2": 5.1}, ["2 arguments: 5.1 us (limit 5 us)"]),
        ({f"{STREAM} 2": 2.5}, ["2 arguments, stream / Execute: 1.25 (limit 1.2)"]),
        ({f"{STREAM} 400": 221.0}, ["400 arguments, stream / Execute: 1.3 (limit 1.2)"]),
    ],
)
def test_launches(changed: dict[str, float], over: list[str]) -> None:
    verdict = launches.judge(times() | changed)
    assert verdict.over == over and not verdict.problems


def test_missing_benchmarks_fail() -> None:
    found = times()
    del found[f"{STREAM} 400"]
    assert launches.judge(found).problems == [f"no result: {STREAM} 400"]


def test_speed() -> None:
    assert speed.judge({"float32": 1.05, "bfloat16": 0.5}).status == PASSED
    verdict = speed.judge({"float32": 1.09, "bfloat16": 1.04})
    assert verdict.status == OVER and verdict.over == ["float32, HPU / JAX: 1.09 (limit 1.05)"]


def test_recipes() -> None:
    losses = [2.0, 2.5]
    assert recipes.judge(3, 3, 0, losses).status == PASSED
    assert recipes.judge(3, 2, 1, losses).problems == [
        "1 of 3 recipes were not loaded",
        "1 recipes were compiled again",
    ]
    assert recipes.judge(3, 3, 1, losses).status == FAILED  # a cluster that the kit lacks
    assert recipes.judge(3, 3, 0, [math.inf, 2.0]).status == FAILED
    assert recipes.judge(0, 0, 0, losses).status == FAILED


def errors(largest: float, together: float = 0.0, unequal: dict[str, int] | None = None) -> Errors:
    return Errors(largest, "an array", 0.0, together, unequal or {})


@pytest.mark.parametrize(("name", "full", "tf32"), [("products", 1.6e-6, 3.9e-4), ("convolutions", 4.5e-6, 8.0e-4)])
def test_tf32_in_place_of_full_precision_fails(name: str, full: float, tf32: float) -> None:
    """Errors that an H100 had."""
    assert numerics.judge(name, False, errors(full)).status == PASSED
    assert numerics.judge(name, True, errors(tf32)).status == PASSED
    (problem,) = numerics.judge(name, False, errors(tf32)).problems
    assert problem.startswith("an array with full precision: error ")


@pytest.mark.parametrize("name", programs.NAMES)
def test_wrong_results_fail(name: str) -> None:
    for tf32 in (False, True):
        for wrong in (errors(1.0, 1.0), errors(math.inf, math.inf), errors(0.0, 0.0, {"indices": 1})):
            assert numerics.judge(name, tf32, wrong).status == FAILED
        assert numerics.judge(name, tf32, errors(0.0), same_inputs=False).status == FAILED
        assert numerics.judge(name, tf32, errors(1e-6, 1e-7)).status == PASSED


def rounded(array: Array) -> Array:
    """Rounds float32 numbers to the 10 bits of TF32's mantissa."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.usefixtures("hpu")
@pytest.mark.parametrize("name", ["mlp", "lstm"])
def test_factors_of_tf32_exceed_the_tolerance_of_full_precision(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def results() -> dict[str, Array]:
        built = programs.build(name, outcome.CPU)
        with tf.device(outcome.CPU):
            return programs.flat_results(built, tf.function(built.function)(*built.inputs))

    reference = Reference.of("", results())
    assert numerics.judge(name, False, compare(reference, results(), 1e-3)).status == PASSED
    exact = programs.uniform
    monkeypatch.setattr(programs, "uniform", lambda *arguments: rounded(exact(*arguments)))
    assert numerics.judge(name, False, compare(reference, results(), 1e-3)).status == FAILED


def test_losses() -> None:
    """Losses of runs of ResNet-50, whose last loss counts, and of another model."""
    amplifying = Losses([2.7, 3.2, 1.17e-4], [2.7, 2.0, 1.47e-4])
    right = training.compare(amplifying, [2.7, 1.0, 2.0e-4], "float32")
    assert right.amplifies and right.difference == pytest.approx(5.3e-5) and right.accepted == pytest.approx(2.7e-4)
    wrong = training.compare(amplifying, [2.7, 1.0, 1e-2], "float32")
    assert wrong.difference > wrong.accepted
    other = Losses([2.5, 2.4, 1.8], [2.5, 2.4, 1.8])
    for precision, loss, good in (("float32", 2.40002, True), ("float32", 2.401, False), ("bfloat16", 2.401, True)):
        found = training.compare(other, [2.5, loss, 1.8], precision)
        assert not found.amplifies and (found.difference <= found.accepted) == good


def event(begin: float, duration: float = 1e3) -> Event:
    return Event("Stream #13(Compute)", "fusion", begin, begin + duration, {})


def test_profiles_need_events_of_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_BACKEND", CARD)
    launched = [event(1e9 + number) for number in range(3)]
    card = {"/device:GPU:0": [event(1e9 + number) for number in range(3)]}
    assert profiler.judge(launched, card).status == PASSED
    assert profiler.judge(launched[:2], card).problems == ["2 launches in 3 steps"]
    too_few: list[dict[str, list[Event]]] = [{}, {"/device:GPU:0": []}, {"/device:GPU:0": [event(1e9, 0)] * 3}]
    for few in too_few:
        (problem,) = profiler.judge(launched, few).problems
        assert "0 events of the card in 3 steps" in problem
    (problem,) = profiler.judge(launched, {"/device:GPU:0": [*card["/device:GPU:0"], event(5e9)]}).problems
    assert problem == "1 events of the card are seconds away from the launches"
    monkeypatch.setenv("HPU_BACKEND", CPU)
    assert profiler.judge(launched, {}).status == PASSED


def test_collectives_are_compared_by_mode() -> None:
    both = {"host": {"1 MiB": 2.0, "64 MiB": 90.0}, "device": {"1 MiB": 1.0, "64 MiB": 99.0}}
    assert collectives.judge(both).over == ["64 MiB, device / host: 1.1 (limit 1)"]
    assert collectives.judge({**both, "device": {"1 MiB": 1.0}}).status == PASSED
    assert collectives.judge({**both, "device": {}}).problems == ["no result with HPU_PJRT_COLLECTIVES=device"]


def test_collectives_need_two_cards(tmp_path: pathlib.Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert collectives.cards(tmp_path) == 2
