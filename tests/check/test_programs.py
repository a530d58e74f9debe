"""`hpu check` names the line and the reason in programs written to fail on a card, and accepts ordinary programs."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import pytest

from tests.support.processes import ROOT, WARM_PYTHON, run

PROGRAMS = ROOT / "tests" / "check" / "programs"
MARK = "# fails on the card"
# Rules that each program breaks, and words of the reason at the marked line.
FAILING = {
    "float64_math": ({"dtype"}, "Mul with T=double"),
    "int64_overflow": ({"dtype"}, "constants that do not fit in 32 bits: 11400714819323198"),
    "int64_labels": ({"dtype"}, "the values come from the input pipeline, such as labels"),
    "unsupported_op": ({"no-kernel"}, "the HPU has no kernel for FractionalMaxPool"),
    "data_dependent_shape": ({"dynamic-size", "dtype"}, "the size of Where's result depends on values"),
    "memory_too_large": ({"memory"}, "cannot allocate 18692 MiB"),
    "rank_nine": ({"rank"}, "a tensor of rank 9; the maximum in the op list is 5"),
    "string_op": ({"string"}, "has strings as input"),
    "complex_fft": ({"dtype"}, "FFT with Tcomplex=complex64"),
    "thirty_batch_sizes": ({"recompiles"}, "step compiled 30 recipes for one cluster: x has the shape [None, 16]"),
    "variable_dtype": ({"dtype"}, "Cast with DstT=double"),
}
ORDINARY = (
    ("digits_keras.py", "--epochs", "1"),
    ("digits_custom_loop.py", "--epochs", "1"),
    ("digits_session.py", "--epochs", "1"),
    ("digits_strategy.py",),
    ("digits_resume.py", "--epochs", "1", "--checkpoints", "."),
    ("modules/layers.py",),
    ("modules/estimator.py",),
    ("modules/device.py",),
    ("modules/trace.py",),
    ("modules/roi_align.py",),
    (str(PROGRAMS / "augmentation.py"),),
    (str(PROGRAMS / "prints.py"),),
)


def check(*arguments: str, cwd: pathlib.Path = ROOT) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Runs `hpu check` for the first generation of the card, which has the fewest types and the least memory."""
    command = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "check", "--card", "gaudi", "--json", "-"]
    done = run([*command, *arguments], timeout=280, check=False, cwd=cwd)
    assert done.stdout.startswith("{"), done.stderr
    return done, json.loads(done.stdout)


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_program(name: str, tmp_path: pathlib.Path) -> None:
    rules, words = FAILING[name]
    program, page = PROGRAMS / f"{name}.py", tmp_path / "page.html"
    (number,) = (n for n, line in enumerate(program.read_text().splitlines(), 1) if line.endswith(MARK))
    done, result = check("--html", str(page), str(program))
    assert (done.returncode, result["verdict"]) == (1, "fails")
    failures = [entry for entry in result["violations"] if entry["level"] == "failure"]
    assert {entry["rule"] for entry in failures} == rules
    assert {entry["line"]["path"] for entry in failures} == {str(program)}
    assert words in " ".join(entry["reason"] for entry in failures if entry["line"]["number"] == number)
    marked = f"<mark>{number:5}  "
    assert marked in page.read_text() and f"{name}.py:{number}: " in done.stderr


@pytest.mark.parametrize("program", ORDINARY, ids=lambda program: pathlib.Path(program[0]).stem)
def test_an_ordinary_program(program: tuple[str, ...], tmp_path: pathlib.Path) -> None:
    done, result = check(str(ROOT / "examples" / program[0]), *program[1:], cwd=tmp_path)
    failures = [entry for entry in result["violations"] if entry["level"] == "failure"]
    assert failures == []
    assert (done.returncode, result["verdict"]) == (0, "passes")
    assert result["hpu_ops"] > 0 and 0 < result["memory"]["peak"] < result["memory"]["card"] == 32 << 30


def test_the_ci_script(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "check.html"
    done = run(["examples/ci/check.sh", "gaudi", str(page)], {"PYTHON": WARM_PYTHON}, timeout=280)
    assert "<h1>GAUDI (HL-205): the program passes" in page.read_text()
    accuracy = done.stdout.split("test accuracy")[1].split()[0]
    assert float(accuracy.rstrip("%")) > 50  # of ten digits


def test_sizes_that_share_recipes_keep_the_rules() -> None:
    program = PROGRAMS / "thirty_batch_sizes.py"
    command = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "check", "--json", "-", str(program)]
    done = run(command, {"HPU_COMPILE_MODE": "auto"}, timeout=280)
    result = json.loads(done.stdout)
    # Size 1, and the ranges up to 4, 6, 8, 12, 16, 24 and 32.
    assert (result["verdict"], result["recipes"]) == ("passes", 8)
    assert result["compile_seconds"] > 0 and "recipes: 8, in " in done.stderr
