"""The plugin's log files, TensorFlow's native log, and the table of clusters."""

from __future__ import annotations

import pathlib
import re

import pytest
from google.protobuf import text_format

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow._internal.messages import report_pb2
from tests.python import logs_programs as programs
from tests.support.processes import call_to, own_lines, run_with_tensorflow


def run_program(tmp_path: pathlib.Path, late: dict[str, str] | None = None, **variables: str | None) -> tuple[str, str]:
    """Runs a program with home tmp_path/home. Returns its process id and its stderr."""
    environment: dict[str, str | None] = {"HOME": str(tmp_path / "home"), "TF_CPP_MIN_LOG_LEVEL": "2", **variables}
    done = run_with_tensorflow(call_to(programs.train, late or {}), environment)
    (pid,) = re.findall(r"PID (\d+)", done.stdout)
    return pid, done.stderr


def logs(directory: pathlib.Path) -> dict[str, str]:
    """Returns the text of all log files by name."""
    return {path.name: path.read_text() for path in directory.iterdir()} if directory.is_dir() else {}


def test_nothing_is_written_by_default(tmp_path: pathlib.Path) -> None:
    _, stderr = run_program(tmp_path, TF_CPP_MIN_LOG_LEVEL="0")
    assert not logs(tmp_path / "home" / ".habana_logs")
    assert "_pass.cc" not in stderr and "clusters of this process" not in stderr


def test_level_all_writes_a_file_per_module_and_process(tmp_path: pathlib.Path) -> None:
    pid, stderr = run_program(tmp_path, LOG_LEVEL_ALL="2", TF_CPP_MIN_LOG_LEVEL="3", HPU_QUIET="1")
    found = logs(tmp_path / "home" / ".habana_logs")
    assert set(found) == {f"{module}_{pid}.log" for module in ("passes", "compiler", "device")}
    assert "1 clusters" in found[f"passes_{pid}.log"]
    assert re.search(rf"^[\d-]+ [\d:.]+ {pid}/\d+ I DEVICE: acquired emulated", found[f"device_{pid}.log"])
    assert len(re.findall(r"habana_cluster_\w+: compiled in", found[f"compiler_{pid}.log"])) == 1
    assert own_lines(stderr) == "", "TF_CPP_MIN_LOG_LEVEL is for the console only, and these are for files"


def test_a_modules_level_is_its_own_and_may_be_set_late(tmp_path: pathlib.Path) -> None:
    late = {"LOG_LEVEL_KERNELS": "0", "HABANA_LOGS": str(tmp_path / "a" / "b")}
    run_program(tmp_path, late)
    (text,) = logs(tmp_path / "a" / "b").values()
    assert len(re.findall(r"T KERNELS: habana_cluster_\w+: launched", text)) == 3


def test_levels_are_cumulative(tmp_path: pathlib.Path) -> None:
    (tmp_path / "logs").mkdir()
    printed = run_with_tensorflow(call_to(programs.levels), {"HABANA_LOGS": str(tmp_path / "logs")}).stdout.split()
    assert printed[0::2] == ["3", "2", "1", "0"]
    none, information, debug, trace = map(int, printed[1::2])
    assert none == 0
    assert (information, debug - information) == (1, 2), "the graph; the graph and its cluster"
    assert trace - debug == 4, "the argument and the result, which stay out, too"


def test_console(tmp_path: pathlib.Path) -> None:
    _, stderr = run_program(tmp_path, LOG_LEVEL_ALL="2", LOG_LEVEL_PASSES="6", ENABLE_CONSOLE="true")
    assert " I DEVICE: acquired" in stderr and " I COMPILER: " in stderr and " PASSES: " not in stderr
    assert not logs(tmp_path / "home" / ".habana_logs")


def test_errors_of_the_device_are_critical(tmp_path: pathlib.Path) -> None:
    variables = {"HOME": str(tmp_path), "HPU_FAULTS": "lost@2"}
    done = run_with_tensorflow(call_to(programs.train, {}, read=True), variables, check=False)
    assert done.returncode != 0
    (name,) = logs(tmp_path / ".habana_logs")
    assert name.startswith("backend_")
    assert "C BACKEND: the HPU is lost" in logs(tmp_path / ".habana_logs")[name]


def test_a_directory_that_cannot_be_written_is_warned_about_once(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    variables = {"HABANA_LOGS": str(tmp_path / "file"), "LOG_LEVEL_ALL": "0", "TF_CPP_MIN_LOG_LEVEL": "1"}
    stderr = run_with_tensorflow(call_to(programs.train, {}), variables).stderr
    assert stderr.count("no log files are written") == 1 and "Set HABANA_LOGS to another directory" in stderr


def assert_has_table(stderr: str) -> None:
    assert stderr.count("clusters of this process:") == 1
    assert len(re.findall(r"^habana_cluster_\w+ .* 3 +0$", stderr, re.MULTILINE)) == 1


class TestNativeLog:
    def test_files_log_under_their_names(self, tmp_path: pathlib.Path) -> None:
        modules = "segmentation_pass=1,marking_pass=2,statistics=1"
        _, stderr = run_program(tmp_path, TF_CPP_MIN_LOG_LEVEL="0", TF_CPP_VMODULE=modules)
        assert re.search(r"segmentation_pass.cc:\d+\] habana_cluster_\w+: 3 ops", stderr)
        assert re.search(r"marking_pass.cc:\d+\] x \(_Arg\) stays outside clusters by rule border: ", stderr)
        assert_has_table(stderr)

    def test_compilations_and_reports(self, tmp_path: pathlib.Path) -> None:
        """launch_kernel=1 logs the running total of compile time, report=1 each graph's report as protobuf text."""
        modules = "launch_kernel=1,report=1"
        _, stderr = run_program(
            tmp_path, {"TF_RECIPE_CACHE_PATH": ""}, TF_CPP_MIN_LOG_LEVEL="0", TF_CPP_VMODULE=modules
        )
        found = re.findall(
            r"launch_kernel.cc:\d+\] (habana_cluster_\w+): compiled in (\S+) s \((\S+) s in total\), (\d+) bytes of "
            r"arguments, recipe of (\d+) bytes",
            stderr,
        )
        ((cluster, seconds, total, arguments, recipe),) = found
        assert float(total) >= float(seconds) - 1e-6 > 0, "the total counts whole microseconds"
        assert int(arguments) == 4 * 4 and int(recipe) > 1000
        (text,) = re.findall(r"report.cc:\d+\] graph passes: (.*)", stderr)
        report = text_format.Parse(text, report_pb2.GraphReport())
        assert report.clusters[0].name == cluster and report.hpu_nodes > 2

    def test_conversions_to_bfloat16(self, tmp_path: pathlib.Path) -> None:
        variables: dict[str, str | None] = {"TF_CPP_VMODULE": "bf16_pass=2", "TF_BF16_CONVERSION": "full"}
        _, stderr = run_program(tmp_path, None, TF_CPP_MIN_LOG_LEVEL="0", **variables)
        assert re.search(r"bf16_pass.cc:\d+\] \w* ?: [1-9]\d* nodes to bfloat16", stderr)
        assert re.search(r"bf16_pass.cc:\d+\] \w+ \(Tanh\) becomes bfloat16, by allowlist", stderr)

    def test_the_plugins_warnings_obey_the_least_level(self) -> None:
        code = call_to(programs.train, {})
        fault: dict[str, str | None] = {"HPU_FAULTS": "compile@1+", "HPU_MIN_CLUSTER_SIZE": "many"}
        both = {"HPU_MEMORY_MB": "lots"}  # read in Python and in C++
        stderr = run_with_tensorflow(code, {**fault, **both, "TF_CPP_MIN_LOG_LEVEL": "1"}).stderr
        assert "Delegating node=" in stderr and "HPU_MIN_CLUSTER_SIZE=many is not a whole number" in stderr
        assert stderr.count("HPU_MEMORY_MB=lots is not a whole number") == 1
        assert run_with_tensorflow(code, {**fault, "TF_CPP_MIN_LOG_LEVEL": "2", "HPU_QUIET": "1"}).stderr == ""

    @pytest.mark.parametrize("imported_before", [False, True])
    def test_the_old_name_of_the_verbose_level(self, imported_before: bool) -> None:
        code = call_to(programs.train, {}) if imported_before else call_to(programs.import_tensorflow_after_load)
        variables = {"TF_CPP_MIN_VLOG_LEVEL": "1", "TF_CPP_MAX_VLOG_LEVEL": None, "TF_CPP_MIN_LOG_LEVEL": "0"}
        stderr = run_with_tensorflow(code, variables).stderr
        assert stderr.count("TensorFlow reads TF_CPP_MAX_VLOG_LEVEL, not TF_CPP_MIN_VLOG_LEVEL") == 1
        assert "segmentation_pass.cc" in stderr
        assert ("optimization_registry.cc" in stderr) != imported_before


def test_the_table_of_clusters(hpu: str) -> None:
    import tensorflow as tf

    statistics.reset()

    @tf.function
    def tabled(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        return tf.reshape(tf.tanh(x) * 2.0 + 1.0, n)

    for size in (6, 6, 12):
        tabled(tf.ones([size]), tf.constant([2, size // 2]))
    (cluster,) = (cluster for cluster in statistics.clusters() if "tabled" in cluster.name)
    assert (cluster.arguments, cluster.constants, cluster.launches, cluster.recipes) == (2, 1, 3, 2)
    assert cluster.argument_bytes == 12 * 4
    assert cluster.recipe_bytes > 1000 and cluster.compile_seconds > 0
    header, *rows = statistics.table().splitlines()
    assert header.startswith("cluster ") and header.endswith(" fallbacks")
    (row,) = (row.split() for row in rows if "tabled" in row)
    assert row[1:4] == [str(cluster.ops), "2", "1"] and row[5] == "2" and row[9:] == ["3", "0"]
    assert float(row[7]) >= float(row[6]) > 0
    statistics.reset()
    assert statistics.clusters() == ()


def test_the_table_is_logged_when_the_program_ends() -> None:
    assert_has_table(run_with_tensorflow(call_to(programs.train_and_log)).stderr)


@pytest.mark.parametrize(("configures", "expected"), [(False, "HPU: WARNING: a text\n"), (True, "root a text\n")])
def test_warnings_have_a_prefix_unless_the_program_configures_logging(configures: bool, expected: str) -> None:
    assert run_with_tensorflow(call_to(programs.warn, configures)).stderr == expected
