"""benchmarks/changing_shapes.py: losses of both devices, counts, output and failures."""

from __future__ import annotations

import dataclasses
import json
import math
import sys

import pytest

from benchmarks import changing_shapes
from tests.support import processes

MODULE = "benchmarks.changing_shapes"


def test_programs_have_equal_losses_on_both_devices() -> None:
    """One program has a loop of its own, the other one uses Keras's fit()."""
    command = [sys.executable, "-m", MODULE, "--steps", "8", "--only", "^(masked_table|partial_batch)$", "--json"]
    data = json.loads(processes.run(command, timeout=280).stdout)
    assert data["mode"] == "auto" and data["failures"] == {}
    assert [result["program"] for result in data["results"]] == ["masked_table", "partial_batch"]
    fields = [field.name for field in dataclasses.fields(changing_shapes.Result)]
    for result in data["results"]:
        assert list(result) == fields
        assert result["steps"] == 8
        assert result["difference"] < 1e-4
        assert result["recipes"] > 0 and result["launches"] > 0 and sum(result["cpu_runs"].values()) > 0
        assert min(result["ratio"], result["processor_ratio"], result["slowest_ratio"], result["whole_ratio"]) > 0


def test_first_steps_count_for_the_whole_program_only() -> None:
    cpu = changing_shapes.Run(1.0, [0.8, 0, 0, 0, 0, 0.05, 0.15], [0.9, 0, 0, 0, 0, 0.1, 0.1], [1.0] * 7)
    hpu = changing_shapes.Run(
        4.0, [3.4, 0, 0, 0, 0, 0.1, 0.5], [6.0, 0, 0, 0, 0, 0.4, 0.6], [1.0] * 6 + [1.1], launches=3
    )
    result = changing_shapes.compare("program", [cpu], [hpu])
    assert (result.cpu_ms, result.hpu_ms) == pytest.approx((100, 300))
    assert (result.ratio, result.processor_ratio) == pytest.approx((3, 5))
    assert (result.slowest_ratio, result.whole_ratio) == pytest.approx((0.5 / 0.15, 4))
    assert (result.steps, result.launches) == (7, 3)
    assert result.difference == pytest.approx(0.1 / 1.1)


def test_difference_of_losses() -> None:
    assert changing_shapes.difference(math.nan, math.nan) == 0
    assert changing_shapes.difference(1.0, math.nan) == math.inf
    assert changing_shapes.difference(-2.0, 2.0) == 2


def test_a_program_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HPU_BACKEND", "pjrt:/missing.so")
    assert changing_shapes.main(["--steps", "6", "--only", "^masked_table$", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["results"] == [] and data["failures"].keys() == {"masked_table"}
    assert "/missing.so" in data["failures"]["masked_table"]


def test_wrong_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["--steps", "5"], "--steps must be more than 5"),
        (["--rounds", "0"], "--rounds must be at least 1"),
        (["--only", "no_such"], "no program's name contains a match of 'no_such'"),
    ):
        with pytest.raises(SystemExit) as error:
            changing_shapes.main(arguments)
        assert error.value.code == 2
        assert expected in capsys.readouterr().err
