""".ci/run, which must fail if `make test` skipped tests for a missing package."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from tests.support.processes import ROOT, run


def executable(path: pathlib.Path, lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


def optional_packages(
    tmp_path: pathlib.Path, horovod: bool, card_plugin: bool, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the target in a virtual environment that has, or lacks, the packages."""
    executable(tmp_path / "bin" / "python", "exit 0" if horovod else "exit 1")
    if card_plugin:
        (tmp_path / "card-plugin").mkdir()
    command = ["make", "--no-print-directory", "optional-packages", f"VENV={tmp_path}"]
    return run(command, {"HPU_WITHOUT_HOROVOD": None, "MAKEFLAGS": None, **variables}, check=False)


@pytest.mark.parametrize(
    ("horovod", "card_plugin", "missing"),
    [
        (False, True, "Horovod"),
        (True, False, "jax-cuda13-pjrt"),
        (False, False, "Horovod jax-cuda13-pjrt"),
    ],
)
def test_a_missing_package_fails(tmp_path: pathlib.Path, horovod: bool, card_plugin: bool, missing: str) -> None:
    done = optional_packages(tmp_path, horovod, card_plugin)
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1].endswith(f"the tests of packages that could not be installed: {missing}")


def test_all_packages_are_installed(tmp_path: pathlib.Path) -> None:
    done = optional_packages(tmp_path, horovod=True, card_plugin=True)
    assert (done.returncode, done.stdout) == (0, "no tests were skipped for a missing package\n")


def test_horovod_may_be_left_out_on_request(tmp_path: pathlib.Path) -> None:
    done = optional_packages(tmp_path, horovod=False, card_plugin=True, HPU_WITHOUT_HOROVOD="1")
    text = "no tests were skipped for a missing package; HPU_WITHOUT_HOROVOD left Horovod out\n"
    assert (done.returncode, done.stdout) == (0, text)


def test_ci_runs_lint_and_tests_and_fails_with_the_last_target(tmp_path: pathlib.Path) -> None:
    log = tmp_path / "log"
    executable(tmp_path / "make", f'echo "$@" >> {log}\ncase "$*" in *optional-packages*) exit 3;; esac')
    done = run([str(ROOT / ".ci" / "run")], {"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    assert done.returncode == 3
    assert log.read_text().splitlines() == [
        "lint",
        "test",
        "sample TF=2.21.0 SAMPLE=1",
        "--no-print-directory optional-packages",
    ]
