"""HPU_COMPILE_MODE: ops on the CPU with reasons, and unchanged results across the switch to the HPU."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any

import pytest

from tests.recipes import compile_modes_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def run(program: str, mode: str, environment: Mapping[str, str | None] | None = None) -> Any:
    """Runs the program. Returns its JSON output, with stderr as "messages"."""
    done = run_with_tensorflow(program, {"HPU_COMPILE_MODE": mode, "TF_CPP_MIN_LOG_LEVEL": "1", **(environment or {})})
    return {**json.loads(done.stdout.splitlines()[-1]), "messages": done.stderr}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("strict", {"launches": 6, "recipes": 1, "reasons": {}}),
        ("lazy", {"launches": 4, "recipes": 1, "reasons": {"lazy": 2}}),
        ("never", {"launches": 0, "recipes": 0, "reasons": {"never": 6}}),
    ],
)
def test_where_a_train_step_runs(mode: str, expected: Mapping[str, Any]) -> None:
    done = run(call_to(programs.steps), mode)
    assert {name: done[name] for name in expected} == expected


@pytest.mark.cpu_fallback
def test_auto_compiles_the_first_shape_only() -> None:
    assert run(call_to(programs.steps), "auto")["launches"] == 6
    done = run(call_to(programs.rare_shapes), "auto")
    assert (done["launches"], done["recipes"], done["reasons"]) == (1, 1, {"new-shape": 18})
    assert "most frequent change" not in done["messages"]


@pytest.mark.cpu_fallback
def test_auto_compiles_a_shape_once_the_cpu_has_taken_as_long() -> None:
    done = run(call_to(programs.shapes_until_compiled), "auto")
    assert done["recipes"] == 2 and done["launches"] == done["before"]["launches"] + 2
    assert done["before"]["reasons"]["compiling"] >= 1
    # The third size runs on the CPU. The time of the second may already pay for a recipe of both ("compiling").
    assert sum(done["reasons"].values()) == sum(done["before"]["reasons"].values()) + 1


@pytest.mark.cpu_fallback
def test_auto_counts_all_traces_of_a_function_as_one() -> None:
    done = run(call_to(programs.traces_for_each_shape), "auto")
    # The first shape of each function has the same recipe.
    assert (done["launches"], done["reasons"]) == (2, {"new-shape": 4})


def test_auto_compiles_each_model_at_once() -> None:
    done = run(call_to(programs.models_of_two_sizes), "auto")
    assert (done["launches"], done["recipes"], done["reasons"]) == (2, 2, {})


def test_auto_is_strict_where_the_choice_would_matter() -> None:
    forbidden = run(call_to(programs.rare_shapes), "auto", {"TF_CPU_RUNTIME_FALLBACK": "forbid"})
    deterministic = run(call_to(programs.deterministic_shapes), "auto")
    collective = run(call_to(programs.shapes_after_a_collective), "auto")
    for done in (forbidden, deterministic, collective):
        assert (done["launches"], done["recipes"], done["reasons"]) == (19, 19, {})


@pytest.mark.cpu_fallback
def test_auto_uses_stored_recipes_at_once(tmp_path: pathlib.Path) -> None:
    store = {"TF_RECIPE_CACHE_PATH": str(tmp_path), "HPU_RECIPE_CACHE_MIN_COMPILE_MS": "0"}
    assert run(call_to(programs.rare_shapes), "strict", store)["launches"] == 19
    assert run(call_to(programs.rare_shapes), "auto", store)["launches"] == 19
    # Other shapes run on the CPU, after a few lookups.
    done = run(call_to(programs.other_rare_shapes), "auto", store)
    assert (done["launches"], done["reasons"]) == (2, {"new-shape": 18})


def test_the_threshold_of_lazy() -> None:
    assert run(call_to(programs.steps), "lazy", {"HPU_LAZY_COMPILE_AFTER": "4"})["reasons"] == {"lazy": 4}


def test_async_switches_with_equal_numbers() -> None:
    done = run(call_to(programs.switch_after_step_20), "async")
    (on_cpu,) = done["reasons"].values()
    assert list(done["reasons"]) == ["compiling"] and done["recipes"] == 1
    assert 1 <= on_cpu <= 21 and on_cpu + done["launches"] == 50


def test_async_before_the_first_compilation() -> None:
    # The only compile thread is busy at first, so that all steps run on the CPU.
    done = run(call_to(programs.busy_queue), "async")
    assert done["reasons"] == {"compiling": 2} and done["launches"] == 0


@pytest.mark.cpu_fallback
def test_a_background_compile_that_fails_is_a_fallback() -> None:
    done = run(call_to(programs.failing_compile), "async", {"HPU_FAULTS": "compile@1+"})
    assert done["launches"] == 0 and done["reasons"]["compiling"] >= 1 and done["reasons"]["fallback"] >= 2
    assert done["messages"].count("Computation on HPU failed: node=habana_cluster_step_0") == 1


def test_a_background_compile_that_fails_is_an_error_where_fallbacks_are_forbidden() -> None:
    # HPU_COMPILE_MODE's runs on the CPU are not failures, so TF_CPU_RUNTIME_FALLBACK=forbid allows them.
    done = run(
        call_to(programs.forbidden_fallback), "async", {"HPU_FAULTS": "compile@1+", "TF_CPU_RUNTIME_FALLBACK": "forbid"}
    )
    assert "TF_CPU_RUNTIME_FALLBACK=forbid" in done["error"] and done["reasons"].keys() == {"compiling"}


@pytest.mark.parametrize("mode", ["auto", "lazy", "async", "never"])
def test_jit_compile_compiles_at_once(mode: str) -> None:
    done = run(call_to(programs.jit_compile), mode, {"TF_CPU_RUNTIME_FALLBACK": "forbid"})
    assert (done["launches"], done["recipes"], done["reasons"]) == (1, 1, {})


@pytest.mark.parametrize("mode", ["lazy", "async"])
def test_a_megamorphic_cluster_stays_on_the_cpu(mode: str) -> None:
    done = run(call_to(programs.many_shapes), mode, {"HPU_LAZY_COMPILE_AFTER": "0"})
    assert done["before"]["recipes"] == done["after"]["recipes"] == 11
    assert done["after"]["reasons"]["megamorphic"] == 18
    (warning,) = [line for line in done["messages"].splitlines() if "most frequent change" in line]
    assert "11 recipes for 11 executions" in warning
    assert "dimension 0 of argument 0, x (10, 11, 12)" in warning


def test_a_cluster_that_runs_on_earns_its_next_recipe() -> None:
    done = run(call_to(programs.many_runs_of_one_shape), "lazy", {"HPU_LAZY_COMPILE_AFTER": "0"})
    assert done["recipes"] == 12 and done["reasons"] == {"megamorphic": 1}


@pytest.mark.parametrize("mode", ["lazy", "async"])
def test_a_cluster_that_takes_long_to_compile_is_not_compiled_for_other_shapes(mode: str) -> None:
    done = run(call_to(programs.two_shapes), mode, {"HPU_LAZY_COMPILE_AFTER": "0", "HPU_COMPILE_LIMIT_S": "0"})
    assert done["recipes"] == 1 and done["reasons"]["compile-limit"] == 3


def test_strict_follows_no_such_rule_but_warns() -> None:
    done = run(call_to(programs.shapes_in_strict_mode), "strict", {"HPU_COMPILE_LIMIT_S": "0"})
    assert (done["recipes"], done["reasons"]) == (19, {}) and done["messages"].count("most frequent change") == 1


@pytest.mark.parametrize("mode", ["auto", "lazy", "async", "never"])
def test_a_function_that_the_cpu_cannot_run_is_compiled_at_once(mode: str) -> None:
    # An op that only XLA supports.
    done = run(call_to(programs.op_of_xla_alone), mode)
    assert (done["launches"], done["reasons"]) == (1, {})


@pytest.mark.cpu_fallback
def test_auto_compiles_eager_ops_once_that_pays() -> None:
    done = run(call_to(programs.eager_ops_until_compiled), "auto")
    assert done["before"][0] == 0 and done["before"][1] >= 4 and done["recipes"] == 1


@pytest.mark.cpu_fallback
def test_auto_runs_a_cluster_that_cannot_be_compiled_in_parts_or_on_the_cpu() -> None:
    done = run(call_to(programs.parts_or_cpu), "auto")
    assert 4 <= done["reasons"]["faster-on-cpu"] <= 16, "each way is tried four times"
    assert "Delegating node" not in done["messages"]
    assert run(call_to(programs.parts_or_cpu), "strict")["reasons"] == {}


def test_eager_ops_are_not_compiled_in_mode_never() -> None:
    done = run(call_to(programs.eager_ops), "never")
    assert done["recipes"] == 0 and done["runs"] >= 5


def test_a_kernel_is_destroyed_while_its_cluster_is_compiled_or_queued() -> None:
    done = run(call_to(programs.freed_kernels), "async")
    assert done["launches"] == 1
    assert done["slow"]["recipes"] <= 4


@pytest.mark.parametrize("ending", ["return", "raise", "_exit"])
def test_a_program_that_ends_while_compiling(ending: str) -> None:
    run(call_to(programs.end_while_compiling, ending), "async")


def test_a_child_forked_while_compiling() -> None:
    done = run(call_to(programs.fork_while_compiling), "async")
    assert done["child"] == 7 and done["launches"] >= 1
