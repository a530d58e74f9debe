"""The wheel: what it requires of a system, what it contains, and that it trains on a machine without a compiler."""

from __future__ import annotations

import csv
import pathlib
import sysconfig
import zipfile

import pytest

from habana_frameworks.tensorflow._internal.version import __version__
from tests.support.processes import ROOT
from tests.tools import wheels
from tools.wheel import check, repair, trial

TAG = "manylinux_2_34_x86_64"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return wheels.contents(wheels.Compiler(tmp_path_factory.mktemp("libraries")))


def problems(directory: pathlib.Path, files: dict[str, bytes], platform: str = TAG) -> list[str]:
    return list(check.check(wheels.write(directory, files, platform)).problems)


def built_wheel() -> pathlib.Path:
    """The wheel that `make wheel` wrote last. Skips the test without one."""
    found = sorted(
        (ROOT / "dist").glob(f"hpu_tensorflow-{__version__}-*manylinux*.whl"), key=lambda p: p.stat().st_mtime
    )
    if not found:
        pytest.skip(f"no wheel of {__version__} in dist/: run make wheel")
    return found[-1]


def test_a_complete_wheel_has_no_problems(tmp_path: pathlib.Path, files: dict[str, bytes]) -> None:
    report = check.check(wheels.write(tmp_path, files, TAG))
    assert report.problems == []
    assert report.versions["GLIBC"] == (2, 34)
    assert {library.name for library in report.libraries} == {*wheels.PLUGINS, wheels.REMOTE, wheels.COPIED}


@pytest.mark.parametrize(
    "missing", [*wheels.PLUGINS, wheels.REMOTE, "hpu_tensorflow.pth", f"{wheels.LIBRARIES}/device.proto"]
)
def test_a_missing_file_is_a_problem(tmp_path: pathlib.Path, files: dict[str, bytes], missing: str) -> None:
    (problem,) = problems(tmp_path, {name: data for name, data in files.items() if name != missing})
    assert problem.startswith(f"it lacks {missing[:-6]}")  # a pattern may end the name


def test_a_library_outside_the_wheel_is_a_problem(tmp_path: pathlib.Path, files: dict[str, bytes]) -> None:
    compiler = wheels.Compiler(tmp_path)
    outside = compiler.library("liboutside.so.1")
    plugin = compiler.library("plugin.so", [outside]).read_bytes()
    (problem,) = problems(tmp_path, {**files, wheels.PLUGIN: plugin})
    assert f"{wheels.PLUGIN} requires liboutside.so.1" in problem


@pytest.mark.parametrize(
    ("library", "version"),
    [("libc.so.6", "GLIBC_2.36"), ("libstdc++.so.6", "GLIBCXX_3.4.30"), ("libgcc_s.so.1", "GCC_13.0.0")],
)
def test_a_version_that_the_oldest_system_lacks_is_a_problem(
    tmp_path: pathlib.Path, files: dict[str, bytes], library: str, version: str
) -> None:
    compiler = wheels.Compiler(tmp_path)
    newer = compiler.library(library, defines="new", version=version)
    remote = compiler.library("remote.so", [newer], calls="new").read_bytes()
    found = problems(tmp_path, {**files, wheels.REMOTE: remote})
    assert f"{wheels.REMOTE} requires {version}, but RHEL 9 has" in found[-1]


@pytest.mark.parametrize(
    ("platform", "text"),
    [
        ("linux_x86_64", "its tag is not"),
        ("manylinux_2_36_x86_64", "excludes RHEL 9"),
        ("manylinux_2_17_x86_64", "its tag allows glibc 2.17, but its libraries require GLIBC_2.34"),
    ],
)
def test_a_wrong_tag_is_a_problem(tmp_path: pathlib.Path, files: dict[str, bytes], platform: str, text: str) -> None:
    (problem,) = problems(tmp_path, files, platform)
    assert text in problem


def test_a_copied_library_under_its_own_name_is_a_problem(tmp_path: pathlib.Path, files: dict[str, bytes]) -> None:
    (problem,) = problems(tmp_path, {**files, "hpu_tensorflow.libs/libz.so.1": files[wheels.COPIED]})
    assert "has no hash in its name" in problem


def test_a_wheel_of_another_tree_is_a_problem(tmp_path: pathlib.Path, files: dict[str, bytes]) -> None:
    module = tmp_path / "habana_frameworks" / "tensorflow" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text("")
    wheel = wheels.write(tmp_path, files, TAG)
    (problem,) = check.check(wheel, tmp_path).problems
    assert "habana_frameworks/tensorflow/module.py" in problem


def test_repair_puts_libraries_and_their_licences_inside(tmp_path: pathlib.Path, files: dict[str, bytes]) -> None:
    """The RPC library's stand-in links c-ares, a small library that gRPC requires."""
    pytest.importorskip("auditwheel")
    found = sorted(pathlib.Path("/usr/lib").glob("*/libcares.so.2"))
    if not found:
        pytest.skip("gRPC is not installed")
    remote = wheels.Compiler(tmp_path).library("remote.so", found).read_bytes()
    copied = (wheels.COPIED, f"{wheels.INFORMATION}/licenses/third_party/libgrpc29.txt")
    unrepaired = {name: data for name, data in files.items() if name not in copied}
    source = wheels.write(tmp_path, {**unrepaired, wheels.REMOTE: remote}, "linux_x86_64")
    repaired = repair.repair(source, tmp_path / "dist")
    assert check.check(repaired).problems == []
    with zipfile.ZipFile(repaired) as wheel:
        rows = list(csv.reader(wheel.read(f"{wheels.INFORMATION}/RECORD").decode().splitlines()))
        assert sorted(name for name, _, _ in rows) == sorted(wheel.namelist())
        assert all(wheels.digest(wheel.read(name)) == digest for name, digest, _ in rows if digest)
        fields = wheel.read(f"{wheels.INFORMATION}/METADATA").decode().partition("\n\n")[0].splitlines()
        listed = [line.partition(": ")[2] for line in fields if line.startswith("License-File: ")]
        assert len(listed) == 2
        assert b"c-ares" in wheel.read(f"{wheels.INFORMATION}/licenses/{listed[1]}")


def test_a_missing_licence_is_an_error(tmp_path: pathlib.Path, files: dict[str, bytes]) -> None:
    bill = b'{"components": [{"purl": "pkg:pypi/hpu@1"}, {"purl": "pkg:deb/debian/libgrpc%2B%2B1@1-3"}]}'
    source = wheels.write(tmp_path, {**files, f"{wheels.INFORMATION}/{repair.BILL}": bill}, TAG)
    with pytest.raises(repair.RepairError, match=r"the licence of libgrpc\+\+1 is missing"):
        repair.add_licenses(source, tmp_path / "target.whl", docs=tmp_path)
    (tmp_path / "libgrpc++1").mkdir()
    (tmp_path / "libgrpc++1" / "copyright").write_text("free")
    with zipfile.ZipFile(repair.add_licenses(source, tmp_path / "target.whl", docs=tmp_path)) as wheel:
        assert wheel.read(f"{wheels.INFORMATION}/licenses/third_party/libgrpc++1.txt") == b"free"


def test_a_wheel_without_grpc_is_not_repaired(tmp_path: pathlib.Path, files: dict[str, bytes]) -> None:
    pytest.importorskip("auditwheel")
    kept = {name: data for name, data in files.items() if name not in (wheels.COPIED, wheels.REMOTE)}
    with pytest.raises(repair.RepairError, match="gRPC's libraries are missing"):
        repair.repair(wheels.write(tmp_path, kept, "linux_x86_64"), tmp_path / "dist")


def test_the_built_wheel_installs_on_the_oldest_system() -> None:
    assert check.check(built_wheel()).problems == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_built_wheel_trains_outside_the_tree() -> None:
    """Installs into a new environment without a compiler; trains in the process, and on a module of `hpu serve`."""
    times = trial.run(built_wheel(), pathlib.Path(sysconfig.get_path("purelib")))
    assert times.remote_training > 0
