"""Traces that environment variables enable in unmodified programs."""

from __future__ import annotations

import inspect
import pathlib

from tests.profiling import hooks_programs as programs
from tests.profiling import traces
from tests.support.processes import call_to, run_with_tensorflow


def launches(path: pathlib.Path) -> int:
    return len([event for event in traces.of_lane(traces.read_chrome(path), "Compute") if "cluster" in event.name])


def test_whole_program(tmp_path: pathlib.Path) -> None:
    run_with_tensorflow(call_to(programs.keras), cwd=tmp_path, environment={"HABANA_PROFILE": "1"})
    assert launches(tmp_path / "default_profiling.json") == 10


def test_whole_program_with_instructions(tmp_path: pathlib.Path) -> None:
    run_with_tensorflow(call_to(programs.keras), cwd=tmp_path, environment={"HABANA_PROFILE": "1"})
    path = tmp_path / "default_profiling.json"
    products = [
        event for event in traces.read_chrome(path) if event.stats.get("tf_op", "").endswith("/dense/MatMul:MatMul")
    ]
    assert {event.lane for event in products} == {"XLA Ops"}
    (line,) = {event.stats["source"] for event in products}  # the program's line that calls Keras
    fit = (
        inspect.getsource(programs)
        .splitlines()
        .index(next(filter(lambda text: ".fit(" in text, inspect.getsource(programs.keras).splitlines())))
    )
    assert line == f"{programs.__file__}:{fit + 1}"


def test_range_of_keras(tmp_path: pathlib.Path) -> None:
    run_with_tensorflow(
        call_to(programs.keras), cwd=tmp_path, environment={"TF_HOOK_MODE": "keras", "HABANA_PROFILE_RANGE": "4:7"}
    )
    path = tmp_path / "default_profiling_[4-6].json"
    assert launches(path) == 3
    marks = traces.of_lane(traces.read_chrome(path), "Marks")
    assert [mark.name for mark in marks] == ["step 4", "step 5", "step 6"]
    assert sorted(tmp_path.iterdir()) == [path]


def test_invalid_range(tmp_path: pathlib.Path) -> None:
    environment = {"TF_HOOK_MODE": "keras", "HABANA_PROFILE_RANGE": "7"}
    done = run_with_tensorflow(call_to(programs.keras), cwd=tmp_path, environment=environment, check=False)
    assert done.returncode == 1
    assert "HABANA_PROFILE_RANGE=7 is not start:stop" in done.stderr


def test_synapse_logger_hook(tmp_path: pathlib.Path) -> None:
    run_with_tensorflow(call_to(programs.session), cwd=tmp_path, environment={"HABANA_SYNAPSE_LOGGER": "range"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "worker_0_step_1.local.synapse_log.json",
        "worker_0_step_2.local.synapse_log.json",
    ]
    events = traces.read_chrome(tmp_path / "worker_0_step_2.local.synapse_log.json")
    assert [mark.name for mark in traces.of_lane(events, "Marks")] == ["call:step begin 2", "call:step end 2"]
    assert len(traces.of_lane(events, "Compute")) >= 1


def test_monitored_session(tmp_path: pathlib.Path) -> None:
    environment = {"TF_HOOK_MODE": "v1", "TF_HW_PROFILE_RANGE": "0:2", "HABANA_SYNAPSE_LOGGER": ""}
    run_with_tensorflow(call_to(programs.session), cwd=tmp_path, environment=environment)
    (path,) = tmp_path.iterdir()
    assert path.name == "default_profiling_[0-1].json" and launches(path) == 2


def test_calls_of_a_trainable_and_the_whole_log(tmp_path: pathlib.Path) -> None:
    """Traces calls with TF_HOOK_MODE=ctl, and the whole program with HABANA_SYNAPSE_LOGGER=all."""
    hook = {"TF_HOOK_MODE": "ctl", "HABANA_PROFILE_RANGE": "1:2"}
    run_with_tensorflow(call_to(programs.trainable), cwd=tmp_path, environment={"HABANA_SYNAPSE_LOGGER": "all", **hook})
    assert launches(tmp_path / "default_profiling_[1-1].json") == 2
    assert launches(tmp_path / "worker0.local.synapse_log.json") == 6
    assert len(list(tmp_path.iterdir())) == 2


def test_custom_training_loop_without_changes(tmp_path: pathlib.Path) -> None:
    """With TF_HOOK_MODE=all, each outermost call of a tf.function is a step; the nested call of step 3 is not."""
    environment = {"TF_HOOK_MODE": "all", "HABANA_PROFILE_RANGE": "2:4"}
    run_with_tensorflow(call_to(programs.custom_loop), cwd=tmp_path, environment=environment)
    (path,) = tmp_path.iterdir()
    assert path.name == "default_profiling_[2-3].json"
    marks = traces.of_lane(traces.read_chrome(path), "Marks")
    assert [mark.name for mark in marks] == ["step 2", "step 3"]
    assert launches(path) == 2


def test_values_of_habana_synapse_logger(tmp_path: pathlib.Path) -> None:
    done = run_with_tensorflow(call_to(programs.synapse_logger_values), cwd=tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["True", "on", "synapse,hw", "t"]
    assert "HABANA_SYNAPSE_LOGGER=nonsense does not start a log: expected one of 1, t, true, on, all" in done.stderr


def test_synapse_logger_commands(tmp_path: pathlib.Path) -> None:
    (tmp_path / "synapse_logger_command").write_text("no_eager_flush\n")
    commands = "stop_data_capture:file_name=mine"
    done = run_with_tensorflow(
        call_to(programs.commands), cwd=tmp_path, environment={"HBN_SYNAPSE_LOGGER_COMMANDS": commands}
    )
    assert "no command enabel; valid: enable," in done.stdout
    assert "category_mask=two is not a number; expected 0x3" in done.stdout
    assert "category_mask=0x1 selects categories, but the log of this device always contains all events" in done.stdout
    marks = traces.of_lane(traces.read_chrome(tmp_path / "mine.json"), "Marks")
    assert [mark.name for mark in marks] == ["here", '{"ref": "loss", "type": "float", "values": [0.5]}']
    assert (tmp_path / "default_profiling.json").exists()


def test_modules_import_without_a_device() -> None:
    done = run_with_tensorflow(call_to(programs.imports))
    assert done.stdout == "False\n"
