"""benchmarks/compile_check.py: programs, table, and compilation of a small model and an example for a card."""

from __future__ import annotations

import pathlib

import pytest

from benchmarks import compile_check
from benchmarks.compile_check import Program, Result
from habana_frameworks.tensorflow.cli.compile_check import Cluster, Failure, Report
from tests.pjrt.cuda_plugin import PLUGIN, with_plugin

STEP = Cluster("habana_cluster_step_0", 1200, 2.5, 40_000, 3_000_000, 2_000_000, 0, fits=True)
FILL = Cluster("Fill", 5, 0.1, 4_000, 4, 128, 64, fits=True)
LARGE = Cluster("habana_cluster_step_1", 10, 0.5, 4_000, 90 * 10**9, 4, 0, fits=False)


def report(*clusters: Cluster, failures: tuple[Failure, ...] = ()) -> Report:
    return Report("h100", "a card", 64 * 10**9, clusters, failures)


TOO_LARGE = Failure("habana_cluster_step_1", "too-large", "no memory")
RESULTS = [
    Result("whole", "h100", 0, 9.0, 8.0, report(FILL, STEP), ""),
    Result("large", "h100", 1, 9.0, 8.0, report(LARGE, failures=(TOO_LARGE,)), "too large\n"),
    Result("split", "h100", 1, 9.0, 8.0, report(failures=(Failure("step_0", "compile-error", "no memory"),)), "a\nb"),
    Result("slow", "h100", None, 60.0, 8.0, None, ""),
    Result("empty", "h100", 3, 9.0, 8.0, report(), ""),
]


def test_all_examples_are_checked() -> None:
    folder = compile_check.ROOT / "examples"
    scripts = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}
    # Servers, and programs of Ray, do not train by themselves.
    others = {script for script in scripts if script.startswith(("clusters/", "inference/"))}
    assert scripts - {"digits.py"} - others == set(compile_check.EXAMPLES)


def test_names_are_unique() -> None:
    names = [program.name for suite in compile_check.SUITES.values() for program in suite]
    assert len(set(names)) == len(names)


def test_the_table_shows_sums_maxima_and_problems() -> None:
    lines = list(compile_check.markdown(RESULTS))
    assert lines[2] == "| whole | 1 | 1 | 1,205 | 2.6 s | 8 s | 44.0 KB | 3.0 MB | 2.0 MB | 64 bytes | yes |"
    assert lines[3].endswith("| 90.0 GB | 4 bytes | 0 bytes | NO |")
    assert lines[4] == "| split | 0 | 0 | - | - | - | - | - | - | - | - |"
    assert lines[7:] == [
        "",
        "- large: habana_cluster_step_1 does not fit the card: no memory",
        "- large: exit code 1: too large",
        "- split: step_0 was not compiled as a whole: no memory",
        "- split: exit code 1: b",
        "- slow: timed out after 60 s",
    ]


def test_results_are_read_back(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "results.json"
    assert compile_check.load(path) == []
    compile_check.save(path, RESULTS)
    assert compile_check.load(path) == RESULTS


# Models that the card's compiler takes seconds for; the rest takes up to a minute each.
QUICK = ("mlp", "cnn", "transformer", "lstm", "digits_custom_loop.py")
NAMES = (*(model.name for model in compile_check.SUITES["models"]), "digits_custom_loop.py")


@with_plugin
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in NAMES]
)
def test_program_compiles_for_a_card(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_BACKEND", f"pjrt:{PLUGIN}")
    result = compile_check.check(_program(name), "h100", time_limit=580)
    assert result.is_whole and result.report, result.error
    assert not result.report.failures and all(cluster.fits for cluster in result.report.clusters)
    assert any(cluster.ops > 100 for cluster in result.report.clusters)


@with_plugin
def test_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_BACKEND", f"pjrt:{PLUGIN}")
    result = compile_check.check(_program("mlp"), "h100", time_limit=0.5)
    assert (result.exit_code, result.report, result.is_whole) == (None, None, False)


def _program(name: str) -> Program:
    return next(program for suite in compile_check.SUITES.values() for program in suite if program.name == name)
