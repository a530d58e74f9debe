"""examples/training/Containerfile: files and commands; slow tests build the image, or execute its steps, and train."""

from __future__ import annotations

import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from tests.support import container_steps
from tests.support.container_steps import instructions
from tests.support.processes import ROOT, run

CONTAINERFILE = ROOT / "examples" / "training" / "Containerfile"
PAGE = ROOT / "docs" / "distributed" / "clusters.md"


def arguments_of(name: str) -> list[str]:
    return [arguments for found, arguments in instructions(CONTAINERFILE) if found == name]


def is_ignored(path: str) -> bool:
    """Whether .dockerignore leaves a path out of the build context. The last pattern that matches decides."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        parts = path.split("/")
        prefixes = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        if line and not line.startswith("#") and any(fnmatch.fnmatch(prefix, pattern) for prefix in prefixes):
            ignored = not line.startswith("!")
    return ignored


def test_the_instructions_are_complete() -> None:
    names = [name for name, _ in instructions(CONTAINERFILE)]
    assert names == ["FROM", "RUN", "COPY", "RUN", "WORKDIR", "COPY", "COPY", "ENV", "USER", "CMD"]


def test_what_it_copies_is_in_the_build_context() -> None:
    sources = [source for arguments in arguments_of("COPY") for source in arguments.split()[:-1]]
    assert sources == ["requirements/tensorflow-2.15.1/run.txt", "dist/hpu_tensorflow-*.whl", "examples", "."]
    for source in sources:
        wheel = source.replace("*", "0.2.0-py3-none-manylinux_2_34_x86_64")
        assert not is_ignored(wheel), source
        assert "dist/" in source or (ROOT / source).exists()
    assert is_ignored("dist/other.tar.gz") and is_ignored("build/hpu_cts") and is_ignored(".git/config")


def test_the_wheel_is_what_make_wheel_writes() -> None:
    assert re.search(r"^wheel:.*\n(?:\t.*\n)*?\t.*(?:--directory|-w) dist\b", (ROOT / "Makefile").read_text(), re.M)
    assert re.search(r'^name = "hpu-tensorflow"$', (ROOT / "pyproject.toml").read_text(), re.M)


def test_its_commands_are_those_of_the_page() -> None:
    header = re.findall(r"^#   (docker .*)$", CONTAINERFILE.read_text(), re.MULTILINE)
    assert len(header) == 3
    page = PAGE.read_text()
    assert all(command in page for command in header)
    for program in re.findall(r"examples/\S+\.py", "\n".join(header)):
        assert (ROOT / program).is_file()
    assert [json.loads(text) for text in arguments_of("CMD")] == [["hpu", "doctor"]]


def engine() -> str | None:
    """An engine that can build and run; the docker client alone cannot."""
    for name in ("docker", "podman"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True, timeout=60).returncode == 0:
            return name
    return None


@pytest.fixture
def wheel() -> pathlib.Path:
    """The newest wheel of `make wheel`."""
    found = sorted((ROOT / "dist").glob("hpu_tensorflow-*.whl"), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.skip("no wheel: run make wheel")
    return found[-1]


def check_doctor(doctor: subprocess.CompletedProcess[str]) -> None:
    assert "The HPU can be used" in doctor.stdout, doctor.stdout


def check_job(job: subprocess.CompletedProcess[str]) -> None:
    trained = re.search(r"2 workers, worker 0 on \S+HPU:0: test loss \S+, test accuracy (\S+)%", job.stdout)
    assert trained is not None and float(trained[1]) > 85, job.stdout


JOB = ["hpu", "run", "-np", "2", "examples/digits_strategy.py"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_image_trains(wheel: pathlib.Path) -> None:
    found = engine()
    if found is None:
        pytest.skip("no container engine is running: needs docker or podman")
    run([found, "build", "-t", "hpu-train", "-f", str(CONTAINERFILE), "."], timeout=3000)
    check_doctor(run([found, "run", "--rm", "hpu-train"], timeout=600))
    check_job(run([found, "run", "--rm", "hpu-train", *JOB], timeout=600))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_steps_train_in_a_folder(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Executes the Containerfile's steps in a folder, for machines without a container engine."""
    if lacking := container_steps.missing():
        pytest.skip(f"needs {lacking}")
    # Only this machine has pip's settings and certificates, so pip downloads outside the folder.
    root = tmp_path / "root"
    requirements = ["-r", str(ROOT / "requirements" / "tensorflow-2.15.1" / "run.txt"), str(wheel)]
    options = ["--only-binary=:all:", "--python-version=3.11", f"--dest={root / 'packages'}"]
    run([sys.executable, "-m", "pip", "download", "-q", *options, *requirements], timeout=1800)
    context = tmp_path / "context"
    (context / "dist").mkdir(parents=True)
    shutil.copy(wheel, context / "dist")
    for name in ("requirements", "examples"):
        (context / name).symlink_to(ROOT / name)
    packages = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/packages"}
    container = container_steps.execute(CONTAINERFILE, context, root, packages)
    check_doctor(container.run(container.command))
    check_job(container.run(JOB))
