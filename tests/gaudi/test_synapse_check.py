"""`hpu synapse-check` over the Synapse double: outcomes, exit codes, reports, crashes and hangs."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytest

from habana_frameworks.tensorflow.cli.synapse_check import process
from habana_frameworks.tensorflow.cli.synapse_check.report import Outcome
from tests.gaudi import doubles, hanging_worker
from tests.support.processes import ROOT, run

COMMAND = [sys.executable, "-m", "habana_frameworks.tensorflow", "synapse-check"]
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


def test_crashes_are_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A strict double aborts where it refuses a node; the check goes on behind it."""
    monkeypatch.setenv("SYNAPSE_DOUBLE_COMPLEX_GUIDS", "0")
    monkeypatch.setenv("SYNAPSE_DOUBLE_STRICT", "abort")
    report = process.check(process.Options(library("1.5"), "", "", 100), ())
    crashed = [graph for graph in report.graphs if graph.outcome is Outcome.CRASHED]
    assert {graph.stem for graph in crashed} == COMPLEX and len(report.graphs) == report.library.graphs
    assert [graph.index for graph in report.graphs] == list(range(len(report.graphs)))
    assert "SIGABRT" in crashed[0].reason and "rule 9" in crashed[0].log and crashed[0].name in crashed[0].plan


def test_hanging_processes_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(process, "_WORKER", hanging_worker.__name__)
    report = process.check(process.Options("library", "", "", 20), ())
    assert [graph.outcome for graph in report.graphs] == [Outcome.OK, Outcome.CRASHED]
    assert "had no result after 20 s" in report.graphs[1].reason and report.graphs[1].log == "compiling"
