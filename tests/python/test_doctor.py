"""`hpu doctor`: each problem is reported with a remedy."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import pytest

from habana_frameworks.tensorflow import lib_utils
from tests.support.processes import HIDE_TREE, ROOT, WARM_PYTHON, run, start

VERSION = lib_utils.release().version
Findings = list[dict[str, Any]]


def doctor(
    environment: dict[str, str | None] | None = None, cwd: pathlib.Path = ROOT, python: str = WARM_PYTHON
) -> tuple[int, Findings]:
    """Runs `hpu doctor`, and returns its exit code and findings."""
    command = [python, "-m", "habana_frameworks.tensorflow", "doctor", "--json"]
    if cwd != ROOT:
        program = "from habana_frameworks.tensorflow.cli import main\nsys.exit(main(['doctor', '--json']))"
        command = [python, "-c", HIDE_TREE + program]
    done = run(command, environment, check=False, cwd=cwd)
    report = json.loads(done.stdout)
    assert report["healthy"] == (done.returncode == 0), done.stderr
    return done.returncode, report["findings"]


def about(findings: Findings, subject: str, level: str) -> Findings:
    return [finding for finding in findings if (finding["subject"], finding["level"]) == (subject, level)]


@pytest.fixture
def bare_package(tmp_path: pathlib.Path) -> pathlib.Path:
    """Copies the Python files, with an empty lib/."""
    shutil.copytree(ROOT / "habana_frameworks", tmp_path / "habana_frameworks", ignore=shutil.ignore_patterns("lib"))
    (tmp_path / "habana_frameworks" / "tensorflow" / "lib").mkdir()
    return tmp_path


def test_healthy() -> None:
    code, findings = doctor({"XLA_FLAGS": None, "TF_XLA_FLAGS": None}, python=sys.executable)
    assert code == 0
    assert about(findings, "TensorFlow", "ok")[0]["data"]["built_for"] == sorted(lib_utils.built_for())
    assert about(findings, "plugin loads", "ok")[0]["text"].startswith("0.2.0_")
    device = about(findings, "backend", "ok")[0]["data"]
    assert device.pop("compiler_target").startswith("emulator ")
    assert device == {"acquired": False, "backend": "emulator", "modules": 8}
    assert about(findings, "device", "ok")[0]["data"]["devices"] == ["/physical_device:HPU:0"]
    assert not [finding for finding in findings if finding["level"] in ("error", "warning")]


def test_for_people() -> None:
    done = run([sys.executable, "-m", "habana_frameworks.tensorflow", "doctor"], {"HPU_BACKENT": "x"})
    assert "warning  settings" in done.stdout
    assert "-> rename it to HPU_BACKEND" in done.stdout
    assert done.stdout.endswith("The HPU can be used.\n")


def test_not_built(bare_package: pathlib.Path) -> None:
    code, findings = doctor({"PYTHONPATH": str(bare_package)}, bare_package)
    assert code == 1
    (problem,) = about(findings, "plugin", "error")
    assert str(bare_package) in problem["text"] and "pip install --force-reinstall" in problem["remedy"]


def test_not_loadable(bare_package: pathlib.Path) -> None:
    (bare_package / f"habana_frameworks/tensorflow/lib/habana_device.so.{VERSION}").write_text("nonsense")
    code, findings = doctor({"PYTHONPATH": str(bare_package)}, bare_package)
    assert code == 1
    assert "cannot be loaded" in about(findings, "plugin loads", "error")[0]["text"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++ to build a library that crashes")
def test_plugin_that_crashes(bare_package: pathlib.Path) -> None:
    library = bare_package / f"habana_frameworks/tensorflow/lib/habana_device.so.{VERSION}"
    source = "#include <cstdlib>\n__attribute__((constructor)) static void Crash() { std::abort(); }\n"
    command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True)
    code, findings = doctor({"PYTHONPATH": str(bare_package)}, bare_package)
    assert code == 1
    assert "crashed with SIGABRT" in about(findings, "plugin loads", "error")[0]["text"]


def test_plugin_for_another_tensorflow(bare_package: pathlib.Path) -> None:
    (bare_package / "habana_frameworks/tensorflow/lib/habana_device.so.2.14.0").write_text("")
    code, findings = doctor({"PYTHONPATH": str(bare_package)}, bare_package)
    assert code == 1
    (problem,) = about(findings, "TensorFlow", "error")
    assert "the plugin is built for 2.14.0" in problem["text"] and "==2.14.0" in problem["remedy"]


def test_unknown_backend() -> None:
    code, findings = doctor({"HPU_BACKEND": "abacus"})
    assert code == 1
    assert "HPU_BACKEND=abacus is not a backend" in about(findings, "backend", "error")[0]["text"]


def test_settings() -> None:
    environment = {
        "HPU_MEMORY_MB": "lots",
        "HPU_BACKENT": "null",
        "HPU_CLUSTERING": "off",
        "XLA_FLAGS": "--xla_dump_max_hlo_modules=1",
    }
    others = {"HOROVOD_FUSION_THRESHOLD": "0", "GRAPH_VISUALIZATION": "1", "HPU_EMULATOR_MODULES": "3"}
    logs = {"LOG_LEVEL_GC": "0", "LOG_LEVEL_PROF_hl0": "1", "LOG_LEVEL_PASSES": "1"}
    placed = {"TF_PLACE_ON_CPU": "[Tahn], Erfinv,[ all_nodes ],Frobnicate"}
    _, findings = doctor({**environment, **others, **logs, **placed, "HPU_BACKEND": None})
    texts = [finding["text"] for finding in about(findings, "settings", "warning")]
    assert texts == [
        "HPU_MEMORY_MB=lots is not a whole number; '0' is used",
        f"TF_PLACE_ON_CPU={placed['TF_PLACE_ON_CPU']} names unknown op types: Tahn (did you mean Tan or Tanh?), "
        "Frobnicate",
        "HPU_BACKENT is not a setting of hpu-tensorflow",
    ]
    accepted = [finding["text"] for finding in about(findings, "settings", "ok")]
    assert "HPU_CLUSTERING=off (default on)" in accepted and "LOG_LEVEL_PASSES=1 (default -1)" in accepted
    notes = [finding["text"] for finding in about(findings, "settings", "note")]
    assert "XLA_FLAGS=--xla_dump_max_hlo_modules=1 is a setting of TensorFlow" in notes
    assert "HOROVOD_FUSION_THRESHOLD=0 applies to the processes of a job" in notes
    assert "GRAPH_VISUALIZATION=1 is accepted but has no effect" in notes
    assert "HPU_EMULATOR_MODULES=3: this setting was renamed to HPU_MODULES" in notes
    modules = "modules with a log: PASSES, COMPILER, DEVICE, KERNELS, BACKEND"
    for inert in ("LOG_LEVEL_GC=0", "LOG_LEVEL_PROF_hl0=1"):
        assert f"{inert} is accepted but has no effect ({modules})" in notes


def test_values_that_stop_a_program_are_errors(tmp_path: pathlib.Path) -> None:
    lists = tmp_path / "bf16.json"
    lists.write_text('{"allowlst": ["MatMul"]}')
    values = {
        "TF_BF16_CONVERSION": (str(lists), "has the unknown key allowlst (did you mean allowlist?)"),
        "HABANA_PROFILE_RANGE": ("9:2", "is not start:stop, two step numbers with start before stop, such as 10:20"),
    }
    environment: dict[str, str | None] = {name: value for name, (value, _) in values.items()}
    _, findings = doctor({**environment, "TF_HOOK_MODE": "keras"})
    texts = [finding["text"] for finding in about(findings, "settings", "error")]
    assert sorted(texts) == sorted(f"{name}={value} {problem}" for name, (value, problem) in values.items())
    (load,) = about(findings, "plugin loads", "error")
    assert load["remedy"] == "correct or unset the setting"


def test_numbers_out_of_range_are_warnings() -> None:
    _, findings = doctor({"HPU_MEMORY_MB": "-5", "HPU_COMPILE_EFFORT": "99", "HPU_FILL_MEMORY": "999"})
    assert sorted(finding["text"] for finding in about(findings, "settings", "warning")) == [
        "HPU_COMPILE_EFFORT=99 is not a number from 0 to 3; '3' is used",
        "HPU_FILL_MEMORY=999 is not a number from -1 to 255; '-1' is used",
        "HPU_MEMORY_MB=-5 is not a number of at least 0; '0' is used",
    ]


def test_a_range_without_steps_is_reported() -> None:
    _, findings = doctor({"HABANA_PROFILE_RANGE": "3:5"})
    (finding,) = about(findings, "settings", "warning")
    assert finding["text"].startswith("HABANA_PROFILE_RANGE=3:5 has no effect") and "TF_HOOK_MODE" in finding["text"]


def test_secrets_are_not_shown() -> None:
    _, findings = doctor({"HPU_SERVER_TOKEN": "hush-hush"})
    (finding,) = [finding for finding in findings if finding["data"].get("name") == "HPU_SERVER_TOKEN"]
    assert finding["text"] == "HPU_SERVER_TOKEN=(not shown) (default empty)"
    assert "hush-hush" not in json.dumps(findings)


def test_unknown_setting_is_an_error_where_asked_for() -> None:
    code, findings = doctor({"HPU_BACKENT": "null", "HPU_STRICT_FLAGS": "1"})
    assert code == 1
    assert about(findings, "settings", "error")[0]["data"] == {"name": "HPU_BACKENT", "nearest": "HPU_BACKEND"}


def test_modules_in_use(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "module-1"
    path.write_text("4711\npython train.py\n")
    (tmp_path / "module-0").write_text("4710\nended long ago\n")
    environment: dict[str, str | None] = {"HPU_MODULE_LOCK_DIR": str(tmp_path), "HPU_MODULES": "2"}
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _, findings = doctor(environment)
        (finding,) = about(findings, "modules", "ok")
        assert finding["text"] == "1 of 2 are free; module 1: process 4711 (python train.py)"
        code, findings = doctor({**environment, "HPU_MODULES": "1"})
        assert code == 1
        assert "HPU_MODULES" in about(findings, "modules", "error")[0]["remedy"]


def test_usage() -> None:
    done = run([sys.executable, "-m", "habana_frameworks.tensorflow"], check=False)
    assert done.returncode == 2 and "usage: hpu" in done.stderr
    done = run([sys.executable, "-m", "habana_frameworks.tensorflow", "--version"])
    assert done.stdout == "hpu-tensorflow 0.2.0\n"


def test_output_to_a_closed_pipe() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    program = start(
        [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "doctor"], stdout=write_end, stderr=subprocess.PIPE
    )
    os.close(write_end)
    _, errors = program.communicate(timeout=120)
    assert b"Traceback" not in errors


def test_options_of_xla_in_nvidias_guide() -> None:
    environment: dict[str, str | None] = {
        "TF_XLA_FLAGS": "--tf_xla_min_cluster_size=4,--tf_xla_async_io_level=1",
        "XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_gpu_disable_ptxas_optimizations --tf_xla_auto_jit=1",
    }
    _, findings = doctor(environment)
    notes = {finding["text"]: finding["remedy"] for finding in about(findings, "settings", "note")}
    text = "TF_XLA_FLAGS: --tf_xla_min_cluster_size has no effect on the HPU. It is for TensorFlow's auto-clustering."
    assert notes[text] == "use HPU_MIN_CLUSTER_SIZE (docs/user/xla_options.md)"
    assert not any("autotune" in note and "no effect" in note for note in notes)
    assert not any("auto_jit has" in note for note in notes), "an option of the other variable"
    warnings = {finding["text"]: finding["remedy"] for finding in about(findings, "settings", "warning")}
    asked = f"TF_XLA_FLAGS: TensorFlow {VERSION} does not know --tf_xla_async_io_level, and ends the process"
    assert warnings[asked] == "use HPU_COLLECTIVE_BUCKET_MB (docs/user/xla_options.md)"
    text = f"XLA_FLAGS: TensorFlow {VERSION} does not know --xla_gpu_disable_ptxas_optimizations, and ends the process"
    assert warnings[text].startswith("remove it. PTX is compiled by NVIDIA's tools")
