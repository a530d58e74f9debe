"""`hpu explain`: unchanged behaviour of the program, and correct reports on its graphs."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from habana_frameworks.tensorflow import explanation
from tests.support.processes import ROOT, WARM_PYTHON, run

PROGRAM = ROOT / "tests" / "explain" / "refusals.py"
PROGRAMS = PROGRAM.with_name("programs")
COMMAND = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "explain"]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, explanation.Explanation]:
    """stdout, stderr and JSON of one run of refusals.py."""
    target = tmp_path_factory.mktemp("explain") / "all.json"
    page = target.with_name("all.html")
    done = run([*COMMAND, "--json", str(target), "--html", str(page), str(PROGRAM)])
    assert "StringToHashBucketFast" in page.read_text() and str(page) in done.stderr
    return done.stdout, done.stderr, explanation.from_json(target.read_text())


def test_stdout_is_the_programs(output: tuple[str, str, explanation.Explanation]) -> None:
    assert output[0] == "ran\n"


RULES = {
    "checked": "lost-error",
    "on_cpu": "pinned",
    "noise/TruncatedNormal": "random",
    "python": "uncompilable",
    "hashed": "string",
    "found": "dynamic-size",
    "data_shape": "changing-constant",
}


def test_each_rule_is_named(output: tuple[str, str, explanation.Explanation]) -> None:
    graph = output[2].graph("refused")
    found = {op.name: op.rule for op in graph.ops if op.rule}
    python = next(op.name for op in graph.ops if op.type == "EagerPyFunc")
    hashed = next(op.name for op in graph.ops if op.type == "StringToHashBucketFast")
    names = {"python": python, "hashed": hashed}
    assert {name: found.get(names.get(name, name)) for name in RULES} == RULES
    assert "control-flow" in found.values() and "border" in found.values()
    assert all(op.reason for op in graph.ops if op.rule)
    assert all((op.cluster is None) == (op.rule is not None) for op in graph.ops)


def test_bytes_of_copies_are_those_of_the_edges(output: tuple[str, str, explanation.Explanation]) -> None:
    graph = output[2].graph("refused")
    # A 4 by 4 float32 tensor, copied in both directions three times; the CPU kernel's result, copied three times.
    assert graph.op("on_cpu").copied_bytes == 3 * 2 * 64 and graph.op("on_cpu").copies == 6
    assert graph.op("noise/TruncatedNormal").copied_bytes == 3 * 64
    assert graph.op("noise/TruncatedNormal").cpu_runs == 3
    totals = {total.rule.value: total for total in output[2].rules()}
    assert totals["pinned"].copied_bytes == 3 * 2 * 64


def test_splits_name_the_ops_between(output: tuple[str, str, explanation.Explanation]) -> None:
    graph = output[2].graph("refused")
    assert len(graph.clusters) > 1
    cycles = [split for split in graph.splits if split.rule == "cycle"]
    assert any("on_cpu" in split.through for split in cycles) and graph.op("on_cpu").splits >= 1
    nested = output[2].graph("nested").splits
    assert {split.rule for split in nested} == {"must-compile"}
    assert all("the size of its result depends on values" in split.reason for split in nested)
    clean = output[2].graph("clean")
    assert not clean.splits and [cluster.launches for cluster in clean.clusters] == [1]


def test_lowered_loops_are_reported(output: tuple[str, str, explanation.Explanation]) -> None:
    graph = output[2].graph("looping")
    assert [(entry.op, entry.rule) for entry in graph.lowered] == [("While", "lowered")]
    assert (graph.lowered[0].source_line or "").startswith(f"{PROGRAM}:")
    assert {"loop", "deadness"} & {split.rule for split in graph.splits}


def test_the_summary_counts_and_advises(output: tuple[str, str, explanation.Explanation]) -> None:
    text = output[1]
    assert "pinned (1 op, 1 split" not in text and "pinned (1 op, 384 bytes copied)" in text
    assert "-> remove the tf.device around the op" in text
    assert "  refused " in text and "4 graphs:" in text
    assert re.search(r"refusals\.py:\d+: on_cpu \(\w+\): a tf.device places it on ", " ".join(text.split()))


def test_the_programs_end_is_kept_and_still_explained() -> None:
    done = run([*COMMAND, "--json", "-", str(PROGRAMS / "failing.py"), "--json", "mine"], check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["graphs"][0]["clusters"][0]["launches"] == 1  # stdout contains only JSON
    assert "[0.0, 0.0]" in done.stderr and "ValueError: from the program" in done.stderr
    assert "runpy" not in done.stderr and "1 graph:" in done.stderr


def test_times_are_listed_by_instruction_and_by_op(tmp_path: pathlib.Path) -> None:
    target = tmp_path / "all.json"
    environment = {"TF_RECIPE_CACHE_PATH": str(tmp_path / "recipes"), "HPU_RECIPE_CACHE_MIN_COMPILE_MS": "0"}
    for _ in range(2):  # the first run compiles, the second run loads stored recipes
        done = run([*COMMAND, "--time", "--json", str(target), str(PROGRAMS / "timed.py")], environment)
        times = explanation.from_json(target.read_text()).times
        assert times is not None
        kinds = {time.kind for time in times if "timed" in time.cluster}
        assert "dot" in kinds and any(kind.startswith("convolution.") for kind in kinds), kinds
        assert {"MatMul", "Conv2D"} <= {time.op_type for time in times}
        assert all(0 < time.seconds < 60 for time in times)
        assert "Time of habana_cluster_timed_0" in done.stderr and "by instruction" in done.stderr


def test_memory_names_the_largest_tensor_and_its_line(tmp_path: pathlib.Path) -> None:
    target, page, program = tmp_path / "all.json", tmp_path / "page.html", PROGRAMS / "memory.py"
    done = run([*COMMAND, "--memory", "--json", str(target), "--html", str(page), str(program)])
    memory = explanation.from_json(target.read_text()).memory
    assert memory is not None
    (cluster,) = [cluster for cluster in memory if "grown" in cluster.cluster]
    largest = cluster.buffers[0]
    (line,) = [number for number, text in enumerate(program.read_text().splitlines(), 1) if "wide =" in text]
    assert (largest.op_type, largest.bytes, largest.source_line) == ("MatMul", 512 * 512 * 4, f"{program}:{line}")
    assert largest.shape.startswith("f32[512,512]") and largest.kind == "workspace"
    assert largest.is_live(cluster.peak) and not largest.is_live(0)
    assert largest.bytes <= cluster.peak_bytes <= cluster.bytes
    (argument,) = [buffer for buffer in cluster.buffers if buffer.kind == "argument"]
    assert argument.bytes == cluster.argument_bytes == 512 * 8 * 4 and argument.is_live(cluster.peak)
    assert f"{program}:{line}" in done.stderr and "peak" in done.stderr
    assert json.dumps(largest.source_line) in page.read_text()


def test_times_of_a_program_that_reads_no_result() -> None:
    program = PROGRAMS / "unread.py"
    done = run([*COMMAND, "--time", str(program)])
    assert "Time of habana_cluster_unread_0" in done.stderr and "No times" not in done.stderr
    failed = run([*COMMAND, "--time", str(program)], {"HPU_FAULTS": "launch@1"})
    assert "the HPU's queued work failed after the program ended" in failed.stderr and "launch" in failed.stderr
    assert "1 graph:" in failed.stderr


def test_eager_runs_checks_and_clusters_without_counted_ops_have_reasons(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\n"
        "print(tf.nn.relu(tf.range(-2.0, 2.0) * 3.0))\n"
        "f = tf.function(lambda x, n: tf.reduce_sum((x * 2) // n))\n"
        "print(f(tf.range(64), tf.constant(3)))\n"
    )
    text = run([*COMMAND, str(program)]).stderr
    assert "(an op runs on its CPU kernel until a recipe for its shapes pays: docs/tuning/compile_modes.md)" in text
    assert "Checks of indices and values outside clusters: " in text
    assert "not counting copies and int32 arithmetic (small)" in " ".join(text.split())


def test_constants_of_checks_after_clusters_have_reasons(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\n"
        "@tf.function\n"
        "def f(x, columns):\n"
        "    y = tf.reduce_sum(tf.gather_nd(tf.tanh(x) * 2.0, tf.stack([tf.range(2), columns[:, 0]], 1)))\n"
        "    for k in tf.range(3):\n"
        "        tf.print(k)  # keeps the loop out of clusters\n"
        "        y += tf.reduce_sum(tf.tanh(x * y) * 2.0)\n"
        "    return y\n"
        "print(f(tf.ones([3, 4]), tf.constant([[0, 1], [2, 3]])))\n"
    )
    text = run([*COMMAND, str(program)]).stderr
    assert "Checks of indices and values outside clusters: 2 ops" in text
    assert "no pass recorded a reason" not in text


def test_errors_of_graphs_have_no_frames_of_the_command(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    lines = ("import tensorflow as tf", "@tf.function", "def f(x, i):", "    return tf.gather(x, i)")
    program.write_text("\n".join([*lines, "f(tf.range(3.0), tf.constant([7]))"]))
    done = run([*COMMAND, str(program)], check=False)
    stack = done.stderr.partition("Detected at node")[2].partition("indices[0] = 7")[0]
    assert done.returncode == 1 and f'File "{program}", line 4' in stack
    assert "runpy" not in stack and "cli/" not in stack


@pytest.mark.parametrize(
    ("program", "code", "word"),
    [
        ("raise SystemExit(7)", 7, ""),
        ("print('nothing')", 3, "no graph had an op on the HPU"),
        (None, 2, "no program at"),
    ],
)
def test_exit_codes(tmp_path: pathlib.Path, program: str | None, code: int, word: str) -> None:
    path = tmp_path / "program.py"
    if program is not None:
        path.write_text(program)
    done = run([*COMMAND, str(path)], check=False)
    assert done.returncode == code and word in done.stderr
    assert ("0 graphs" in done.stderr) == (code == 3)


def test_a_missing_directory_is_reported_before_the_program_runs(tmp_path: pathlib.Path) -> None:
    done = run([*COMMAND, "--json", str(tmp_path / "no" / "x.json"), str(PROGRAM)], check=False)
    assert done.returncode == 2 and "there is no directory" in done.stderr and "ran" not in done.stdout


def test_the_summary_counts_runs_on_the_cpu_and_states_a_reason_once() -> None:
    done = run([*COMMAND, str(PROGRAMS / "memory.py")], {"HPU_COMPILE_MODE": "never"})
    assert "\n1 run of clusters on the CPU: see the rules below\n" in done.stderr
    assert done.stderr.count("HPU_COMPILE_MODE=never") == 1
    assert "of clusters on the CPU" not in run([*COMMAND, str(PROGRAMS / "memory.py")]).stderr


def summary_of_changing_sizes(**environment: str) -> list[str]:
    settings = {"HPU_COMPILE_MODE": "auto", "TF_CPU_RUNTIME_FALLBACK": "allow", **environment}
    lines = run([*COMMAND, str(PROGRAMS / "changing_sizes.py")], settings).stderr.splitlines()
    return lines[lines.index("Sizes that change:") + 1 :]


def test_sizes_that_change_are_named_with_the_padding() -> None:
    size, handling, advice = summary_of_changing_sizes(TF_ENABLE_DYNAMIC_SHAPES="1")[:3]
    assert size.endswith("habana_cluster_step_0: dimension 0 of argument 0, x (20, 21, 22)")
    assert re.search(r"changing_sizes\.py:1[567]: ", size)
    # Of seven padded launches: sizes 10 and 12 in arrays of 12, the others in arrays of 24.
    padding = 1 - (10 + 12 + 17 + 18 + 20 + 21 + 22) / (2 * 12 + 5 * 24)
    assert handling.strip() == (f"3 recipes; 8 launches; 7 of them of bounded recipes, {100 * padding:.0f} % padding")
    assert "4, 6, 8, 12, 16, 24, 32, 48, … need no masks" in advice


def test_sizes_that_run_on_the_cpu_are_named_with_the_remedy() -> None:
    size, handling, advice = summary_of_changing_sizes()[:3]
    assert size.endswith("x (20, 21, 22)")
    assert handling.strip() == "1 recipe; 1 launch; 7 runs on the CPU (new-shape 7)"
    assert "`hpu warmup` stores the recipes of all sizes" in advice
