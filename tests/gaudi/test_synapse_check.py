"""`hpu synapse-check` with the Synapse double: outcomes, exit codes, reports, crashes and hangs."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytest

from habana_frameworks.tensorflow.cli.synapse_check import process, views
from habana_frameworks.tensorflow.cli.synapse_check.report import Graph, Library, Outcome, Report
from tests.gaudi import doubles, failing_worker
from tests.support.processes import ROOT, run

COMMAND = [sys.executable, "-m", "habana_frameworks.tensorflow", "synapse-check"]
PROGRAMS = pathlib.Path(__file__).parent / "programs"
ADD = "HloModule sum\nENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }"
FFT = "HloModule fft\nENTRY e { x = c64[8] parameter(0) ROOT y = c64[8] fft(x), fft_type=FFT, fft_length={8} }"
COMPLEX = {"topk", "div_mod_fwd", "clamp_pt_fwd", "argmax_multi_dim_fwd", "argmin_multi_dim_fwd"} | {
    f"reduce_{name}_multi_dim_fwd" for name in ("sum", "max", "min", "prod")
}


def library(release: str) -> str:
    return doubles.backend(release).partition(":")[2]


def check(release: str, *options: str, **environment: str) -> tuple[int, str, str]:
    command = [*COMMAND, "--library", library(release), *options]
    done = run(command, {"GC_KERNEL_PATH": None, **environment}, timeout=280, check=False)
    return done.returncode, done.stdout, done.stderr


def check_json(release: str, *options: str, **environment: str) -> tuple[int, Any]:
    code, out, err = check(release, "--json", *options, **environment)
    assert out, err
    return code, json.loads(out)


@pytest.mark.parametrize("release", doubles.RELEASES)
def test_every_node_is_ok(release: str) -> None:
    code, report = check_json(release)
    assert [graph for graph in report["graphs"] if graph["outcome"] != "ok"] == []
    assert code == 0 and report["totals"] == {"ok": report["library"]["graphs"]}
    assert report["library"]["profile"] == release
    assert report["library"]["generation"] == {"1.5": "gaudi", "1.18": "gaudi2"}[release]
    found = {(graph["stem"], graph["type"]) for graph in report["graphs"]}
    assert {("gemm", "bf16"), ("add_fwd", "i32"), ("cast", "f32 to bf16"), ("range", "f32")} <= found
    assert (("add_fwd", "f16") in found) == (release == "1.18")


def test_absent_complex_guids_are_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "report.txt"
    code, out, _ = check("1.18", "--report", str(path), SYNAPSE_DOUBLE_COMPLEX_GUIDS="0")
    assert code == 1
    lines = [line.split() for line in out.splitlines()]
    assert {words[0] for words in lines if words[1:2] == ["refused"]} == COMPLEX
    assert "synFail (26)" in out
    text = path.read_text()
    assert "SynapseAI 1.18" in text and "hpu-tensorflow" in text and "kernels=" in text
    assert "plan: 0: result0 f32{1,4} = reduce_sum_multi_dim_fwd_f32(argument0 f32{8,4}) params" in text
    assert "output: synapse_double: rule 9" in text and "the complex-guid library is absent" in text


def test_generations() -> None:
    code, report = check_json("1.18", "--generation", "gaudi")
    assert code == 0 and report["library"]["generation"] == "gaudi"
    assert all(graph["type"] != "f16" for graph in report["graphs"])
    code, out, err = check("1.5", "--generation", "gaudi3")
    assert code == 2 and not out and "gaudi3" in err


@pytest.mark.parametrize("release", doubles.RELEASES)
def test_a_train_step_compiles(release: str) -> None:
    code, report = check_json(release, "--programs", str(PROGRAMS))
    step = report["graphs"][-1]
    assert code == 0 and step["name"] == str(PROGRAMS / "softmax_train_step.hlo") and step["outcome"] == "ok"
    assert "gemm(" in step["plan"]


def test_programs(tmp_path: pathlib.Path) -> None:
    (tmp_path / "add.hlo").write_text(ADD)
    (tmp_path / "fft.hlo").write_text(FFT)
    code, report = check_json("1.18", "--programs", str(tmp_path))
    add, fft = report["graphs"][-2:]
    assert code == 0 and add["outcome"] == "ok" and "add_fwd_f32" in add["plan"]
    assert fft["outcome"] == "no nodes" and "c64" in fft["reason"]
    (tmp_path / "noise.pb").write_bytes(b"noise")
    code, report = check_json("1.18", "--programs", str(tmp_path))
    assert code == 1 and report["graphs"][-1]["outcome"] == "no program"


def test_unusable_libraries_are_errors(tmp_path: pathlib.Path) -> None:
    done = run([*COMMAND, "--library", "/nowhere/libSynapse.so"], check=False)
    assert done.returncode == 2 and "/nowhere/libSynapse.so" in done.stderr and "LD_LIBRARY_PATH" in done.stderr
    code, _, err = check("1.18", SYNAPSE_DOUBLE_VERSION="1.11.0-abc")
    assert code == 2 and "'1.11.0-abc'" in err
    code, _, err = check("1.18", "--programs", str(tmp_path))
    assert code == 2 and "*.hlo" in err


def test_missing_functions_are_named() -> None:
    incomplete = doubles.BUILD / "libsynapse_fake_incomplete.so"
    if not incomplete.is_file():
        pytest.skip(f"no {incomplete}: run `make build-tests`")
    done = run([*COMMAND, "--library", str(incomplete)], {"FAKE_SYNAPSE_VERSION": "1.18.0"}, check=False)
    assert done.returncode == 2
    assert "it does not export synNodeCreateWithId, synSectionSetConst" in done.stderr


def test_the_check_goes_on_behind_a_crash_or_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(process, "_WORKER", failing_worker.__name__)
    report = process.check(process.Options("library", "", "", timeout_seconds=20), ())
    failing = (failing_worker.CRASHING, failing_worker.HANGING)
    expected = [Outcome.CRASHED if index in failing else Outcome.OK for index in range(failing_worker.GRAPHS)]
    assert [graph.outcome for graph in report.graphs] == expected
    crashed, hung = report.failures()
    assert "crashed with SIGABRT" in crashed.reason and "had no result after 20 s" in hung.reason
    for index, graph in enumerate(report.graphs):
        assert (graph.index, graph.plan, graph.log) == (index, f"plan {index}", f"compiling {index}")


def test_a_worker_that_ends_at_once_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_WORKER", "no_such_module")
    with pytest.raises(process.CheckError, match=r"exit code 1: .*No module named no_such_module"):
        process.check(process.Options("library", "", "", 100), ())


def test_the_table_joins_the_types_of_a_guid() -> None:
    def graph(index: int, type_: str, outcome: Outcome, reason: str = "") -> Graph:
        return Graph(index, "add_fwd", type_, f"add_fwd_{type_}", "", outcome, reason)

    graphs = (
        graph(0, "f32", Outcome.OK),
        graph(1, "i8", Outcome.REFUSED, "no i8"),
        graph(2, "bf16", Outcome.OK),
        graph(3, "u8", Outcome.REFUSED, "no u8"),
    )
    report = Report(Library("lib.so", "1.18.0", "1.18", "gaudi2", "target", ("synDeviceCount",), 4), (), graphs)
    lines = list(views.table_lines(report))
    rows = [line.split() for line in lines if line.startswith("  add_fwd")]
    assert rows == [["add_fwd", "ok", "f32,", "bf16"], ["add_fwd", "refused", "i8,", "u8"]]
    assert lines[lines.index("missing functions: synDeviceCount") :][-1] == "4 graphs: 2 ok, 2 refused"
    assert [line.strip() for line in lines if "->" in line] == ["-> no i8", "-> no u8"]
