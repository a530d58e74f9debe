"""Compilation with the CUDA plugin for cards that are not present."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from tests.pjrt.cuda_plugin import PLUGIN, with_plugin
from tests.support.processes import ROOT, WARM_PYTHON, run

COMMAND = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow"]
PROGRAMS = ROOT / "tests" / "pjrt" / "programs"
SCRIPT = PROGRAMS / "mlp_steps.py"


@with_plugin
@pytest.mark.parametrize("card", ["h100", "h200", "a100", "l4"])
def test_clusters_compile_for_a_card(card: str) -> None:
    command = [*COMMAND, "compile-check", "--json", "--target", card, str(SCRIPT), "3"]
    report = json.loads(run(command, {"HPU_BACKEND": f"pjrt:{PLUGIN}"}, timeout=280).stdout)
    assert report["memory_bytes"] > 15e9 and not report["failures"]
    assert all(cluster["fits"] for cluster in report["clusters"])
    step = max(report["clusters"], key=lambda cluster: cluster["ops"])
    assert step["code_bytes"] > 10_000 and step["argument_bytes"] > 2e6 and step["temporary_bytes"] > 0


@with_plugin
def test_a_second_warm_up_for_the_card_compiles_nothing(tmp_path: pathlib.Path) -> None:
    """Even if the directory of recipes and measurements has moved meanwhile."""

    def warm_up(path: pathlib.Path, level: str | None = None) -> dict[str, int]:
        command = [*COMMAND, "warmup", "--json", "--target", "h100", "--path", str(path), str(SCRIPT), "3"]
        environment = {
            "HPU_BACKEND": f"pjrt:{PLUGIN}",
            "HPU_RECIPE_CACHE_MIN_COMPILE_MS": "0",
            "HPU_PJRT_AUTOTUNE_LEVEL": level,
        }
        result: dict[str, int] = json.loads(run(command, environment, timeout=280).stdout)
        return result

    first = warm_up(tmp_path / "first")
    assert first["compiled"] > 0
    assert len(list((tmp_path / "first" / "autotune").iterdir())) == 1
    moved = (tmp_path / "first").rename(tmp_path / "moved")
    second = warm_up(moved)
    assert second["compiled"] == 0 and second["loaded"] == first["compiled"]
    assert warm_up(moved, level="0")["compiled"] == first["compiled"]


@with_plugin
def test_clusters_that_do_not_compile_or_fit_are_listed() -> None:
    """The program survives its errors, so the exit code is the check's."""
    command = [*COMMAND, "compile-check", "--target", "h100", str(PROGRAMS / "refused.py")]
    done = run(command, {"HPU_BACKEND": f"pjrt:{PLUGIN}"}, timeout=280, check=False)
    assert done.returncode == 1, done.stderr
    _, _, table = done.stderr.partition("not present: computes nothing; ")
    lines = [line for line in table.splitlines() if line]
    assert lines[0] == "63.7 GB for programs" and lines[1].split()[0] == "cluster"
    exceeding, reason = [line for line in lines if "exceeding" in line]
    assert exceeding.split()[-3:] == ["90.0", "GB", "NO"]
    assert " does not fit the card: " in reason
    (fitting,) = [line.split() for line in lines if "fitting" in line]
    assert fitting[-1] == "yes"
    (unknown,) = [line for line in lines if "unknown" in line]
    assert "was not compiled as a whole: " in unknown and "abacus" in unknown


@with_plugin
def test_steps_that_do_not_fit_the_card_end_with_an_error_and_do_not_run_on_the_cpu() -> None:
    command = [*COMMAND, "compile-check", "--json", "--target", "h100", str(PROGRAMS / "too_large.py")]
    done = run(command, {"HPU_BACKEND": f"pjrt:{PLUGIN}"}, timeout=280, check=False)
    assert done.returncode == 1, done.stderr
    lines = [line for line in done.stderr.splitlines() if re.match("(fitting|exceeding|beside): ", line)]
    assert [line.split(": ")[:2] for line in lines] == [
        ["fitting", "ran"],
        ["exceeding", "ResourceExhaustedError"],
        ["beside", "ResourceExhaustedError"],
        ["fitting", "ran"],
    ]
    for line in lines[1:3]:
        assert " does not fit the card: " in line and "for temporaries" in line, line
    assert done.stderr.count("does not run on the CPU instead, because the card is not present") == 2
    assert "to CPU" not in done.stderr
    report = json.loads(done.stdout)
    assert [(failure["rule"], "for temporaries" in failure["reason"]) for failure in report["failures"]] == [
        ("too-large", True)
    ] * 2
    fits = {cluster["temporary_bytes"] > 60e9: cluster["fits"] for cluster in report["clusters"]}
    assert fits == {True: False, False: True}


@with_plugin
def test_unknown_cards_are_reported() -> None:
    command = [*COMMAND, "compile-check", "--target", "abacus", str(SCRIPT)]
    done = run(command, {"HPU_BACKEND": f"pjrt:{PLUGIN}"}, check=False)
    assert done.returncode == 2 and "expected a100, h100, h200, l4, or the path" in done.stderr


@with_plugin
def test_values_that_the_program_wrote_are_read_back() -> None:
    """Datasets and Keras's fit read back sizes that they wrote to the device."""
    command = [*COMMAND, "compile-check", "--json", "--target", "h100", str(ROOT / "examples" / "digits_keras.py")]
    report = json.loads(run(command, {"HPU_BACKEND": f"pjrt:{PLUGIN}"}, timeout=280).stdout)
    assert not report["failures"] and max(cluster["ops"] for cluster in report["clusters"]) > 100
