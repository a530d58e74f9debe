"""`hpu report`: the figures of its page are the program's own, and the page stands alone."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

from habana_frameworks.tensorflow.cli.report import exceptions, wording
from habana_frameworks.tensorflow.explanation import Cluster, Explanation, Graph, Op
from habana_frameworks.tensorflow.statistics import Eager
from tests.support.processes import ROOT, WARM_PYTHON, run

COMMAND = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "report"]
PROGRAMS = ROOT / "tests" / "report" / "programs"
PROGRAM = PROGRAMS / "trained.py"
STEPS = 12
COPIED_BYTES = 2 * STEPS * 8 * 32 * 4  # the op's argument and result, copied in each step


class Output(NamedTuple):
    """Outputs of one run, and the figures that the program itself counted."""

    own: Any
    report: Any
    text: str
    page: str


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Output:
    folder = tmp_path_factory.mktemp("report")
    files = ["--json", str(folder / "report.json"), "--html", str(folder / "report.html")]
    settings = {"HPU_MEMORY_MB": "500", "HPU_SERVER_TOKEN": "a secret"}
    done = run([*COMMAND, *files, str(PROGRAM), "--name", "<b>"], settings)
    report = json.loads((folder / "report.json").read_text())
    return Output(json.loads(done.stdout), report, done.stderr, (folder / "report.html").read_text())


def test_steps_and_launches_are_those_of_the_statistics(output: Output) -> None:
    steps, clusters = output.report["steps"], output.own["clusters"]
    assert len(clusters) == 2 and set(clusters.values()) == {STEPS}
    assert steps["cluster"] in clusters
    assert (steps["launches"], steps["fallbacks"], len(steps["seconds"])) == (STEPS, 0, STEPS - 1)
    parts = {part["name"]: part["count"] for part in output.report["times"] if part["kind"] == "cluster"}
    assert parts == clusters


def test_the_times_sum_to_the_run_time(output: Output) -> None:
    parts = output.report["times"]
    assert sum(part["seconds"] for part in parts) == pytest.approx(output.report["program"]["seconds"])
    assert sum(part["share"] for part in parts) == pytest.approx(1.0)
    assert all(part["seconds"] >= 0 for part in parts)
    counts = {part["kind"]: part["count"] for part in parts}
    assert counts["input"] == STEPS + 1  # the last call found the dataset's end
    assert counts["tracing"] == 1
    assert counts["compile"] == output.own["compiled"]


def test_recipes_and_memory_are_those_of_the_statistics(output: Output) -> None:
    recipes, memory = output.report["recipes"], output.report["memory"]
    assert recipes["compiled"] == output.own["compiled"]
    assert recipes["compile_seconds"] == pytest.approx(output.own["compile_seconds"])
    assert memory["device_limit"] == output.own["memory"]["limit"] == 500 << 20
    assert memory["device_peak"] == output.own["memory"]["peak"]
    assert max(sample["device"] for sample in memory["samples"]) <= memory["device_peak"]


def test_the_exception_is_named_with_its_line(output: Output) -> None:
    lines = PROGRAM.read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.endswith("# the exception"))
    (exception,) = output.report["exceptions"]
    assert exception["rule"] == "pinned"
    assert exception["ops"] == ["on_cpu (Exp)"]
    assert exception["source_line"] == f"{PROGRAM}:{number}"
    assert exception["copied_bytes"] == COPIED_BYTES
    shown = f"trained.py:{number}: {lines[number - 1].strip()}"
    assert shown in output.text
    assert shown in "".join(ElementTree.fromstring(output.page).itertext())


def pinned(name: str, line: str | None, copied_bytes: int) -> Op:
    return Op(name, "Exp", "CPU:0", None, (), (), rule="pinned", copied_bytes=copied_bytes, source_line=line)


def test_graphs_share_the_exception_of_a_line() -> None:
    """A function that is traced twice has two graphs. Exceptions of unknown lines stay apart."""
    line = f"{PROGRAM}:1"
    traces = (
        Graph("step_1", "step", (pinned("x", line, 4), pinned("y", None, 1))),
        Graph("step_2", "step", (pinned("x", line, 8), pinned("z", line, 0), pinned("y", None, 2))),
    )
    shared, *others = exceptions.find(Explanation(traces, Eager(0, 0.0, 0, 0, 0)))
    assert (shared.graph, shared.graphs, shared.copied_bytes) == ("step_2", 2, 12)
    assert shared.ops == ("x (Exp)", "z (Exp)")
    assert "x (Exp), z (Exp) in step_2 and 1 other graph: " in wording.ops(shared)
    assert [(other.graph, other.graphs) for other in others] == [("step_2", 1), ("step_1", 1)]


def test_runs_on_the_cpu_of_two_traces_count_once() -> None:
    """Clusters of the same name and size share their counters."""
    cluster = Cluster("c_0", "HPU:0", 1, 0, 0, 0, 1, False, fallbacks=3, fallback_bytes=64, rule="fallback")
    ops = (Op("x", "Exp", "HPU:0", "c_0", (), (), source_line=f"{PROGRAM}:1"),)
    traces = tuple(Graph("step", f"step_{i}", ops, (cluster,)) for i in range(2))
    (found,) = exceptions.find(Explanation(traces, Eager(0, 0.0, 0, 0, 0)))
    assert (found.cpu_runs, found.copied_bytes, found.source_line) == (3, 64, f"{PROGRAM}:1")


def test_settings_are_listed_without_secrets(output: Output) -> None:
    settings = {setting["name"]: setting["value"] for setting in output.report["settings"]}
    assert settings["HPU_MEMORY_MB"] == "500"
    assert settings["HPU_SERVER_TOKEN"] == "(not shown)"
    assert "a secret" not in output.page + output.text + json.dumps(output.report)
    assert output.report["versions"]["backend"] == "emulator"
    assert output.report["notes"] == []


def test_the_page_is_well_formed_and_stands_alone(output: Output) -> None:
    page = ElementTree.fromstring(output.page)
    shown = "".join(page.itertext())
    assert f"{STEPS} steps: executions of {output.report['steps']['cluster']}" in shown
    assert "--name '<b>'" in shown
    for part in output.report["times"]:
        assert (
            f"{part['name']}{1e3 * part['seconds']:.2f} ms{100 * part['share']:.1f} %" in shown or part["seconds"] >= 1
        )
    assert {element.tag for element in page.iter()}.isdisjoint({"script", "link", "img", "iframe", "object", "b:"})
    assert not any(re.search("href|src", name) for element in page.iter() for name in element.attrib)
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|@[A-Z]+@", output.page)
    assert len(page.findall(".//polyline")) == 4  # step time, time of the cluster, memory of device and process


def test_a_program_that_profiles_itself_and_is_stopped(tmp_path: pathlib.Path) -> None:
    arguments = ["--steps", "20", "--json", "-", str(PROGRAMS / "profiled.py"), str(tmp_path / "profile")]
    done = run([*COMMAND, *arguments])
    report = json.loads(done.stdout)
    assert report["program"]["stopped"] == "a cluster was launched 20 times" and report["steps"]["launches"] == 20
    assert report["notes"] == ["Waits for input and tracing: recorded until the program started a profile."]
    assert list((tmp_path / "profile").rglob("*.xplane.pb")), "the program's own profile is missing"


@pytest.mark.parametrize(
    ("program", "code", "word"),
    [
        ("raise SystemExit(7)", 7, "No graph ran"),
        ("print('nothing')", 3, "nothing ran on the HPU"),
        (None, 2, "no program at"),
    ],
)
def test_exit_codes(tmp_path: pathlib.Path, program: str | None, code: int, word: str) -> None:
    path = tmp_path / "program.py"
    if program is not None:
        path.write_text(program)
    done = run([*COMMAND, str(path)], check=False)
    assert done.returncode == code and word in done.stderr
