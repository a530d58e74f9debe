"""Training through a device server: a resumed run, the CI script, and the container's dependencies."""

from __future__ import annotations

import os
import pathlib
import re

from tests.remote.servers import Server
from tests.support.processes import ROOT, WARM_PYTHON, run


def numbers(output: str) -> list[str]:
    """Test loss and accuracy in a report."""
    return re.findall(r"^  test \w+ +(\S+)$", output, flags=re.MULTILINE)


def test_a_resumed_training_ends_with_the_same_numbers(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:

        def train(epochs: int, checkpoints: str) -> str:
            arguments = ["--epochs", str(epochs), "--checkpoints", str(tmp_path / checkpoints)]
            return run([WARM_PYTHON, "examples/digits_resume.py", *arguments], {"HPU_BACKEND": server.backend}).stdout

        train(2, "in parts")
        resumed = train(4, "in parts")
        whole = train(4, "whole")
    assert "resumes after step 44" in resumed
    assert "resumes after" not in whole
    assert "backend         remote" in resumed
    assert numbers(resumed) == numbers(whole)
    assert float(numbers(whole)[1].rstrip("%")) > 80


def test_the_recipe_for_ci() -> None:
    done = run(["bash", str(ROOT / "examples" / "server" / "ci.sh")], {"PYTHON": WARM_PYTHON}, timeout=280)
    assert done.stdout.count("backend         remote") == 2
    assert done.stdout.count(" 0 fallbacks") == 2
    assert "sessions: 2 opened, 2 closed" in done.stdout


def test_the_container_installs_the_dependencies_of_this_tree() -> None:
    """Checks the files and packages that the Containerfile names, because a container engine may be missing."""
    text = (ROOT / "examples" / "server" / "Containerfile").read_text()
    setup = (ROOT / "tools" / "setup.sh").read_text()
    for package in ("g++", "libc6-dev", "binutils", "pkg-config", "libgrpc++-dev"):
        assert package in text
        assert package in setup
    requirements = (ROOT / "requirements" / "tensorflow-2.15.1" / "run.txt").read_text()
    assert re.search(r"tensorflow-cpu==\S+", text)[0] in requirements  # type: ignore[index]
    assert os.access(ROOT / "examples" / "server" / "ci.sh", os.X_OK)
