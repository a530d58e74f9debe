"""Checks of `hpu doctor` on faked set-ups: values of settings, TensorFlow, NumPy, Python, gRPC. Starts no process."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import sys

import pytest

from habana_frameworks.tensorflow import errors, flags, lib_utils
from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.cli.checks import (
    Level,
    grpc_libraries,
    horovod,
    plugin,
    python,
    server,
    setting_values,
    settings,
)
from habana_frameworks.tensorflow.cli.checks.finding import Finding
from habana_frameworks.tensorflow.cli.checks.pjrt import extras

BUILT_FOR = {"2.15.1": pathlib.Path("habana_device.so.2.15.1")}
INSTALL = "pip install tensorflow-cpu==2.15.1"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for flag in flags.ALL:
        monkeypatch.delenv(flag.name, raising=False)
    monkeypatch.setattr(lib_utils, "built_for", lambda: BUILT_FOR)


@pytest.fixture
def paths(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "list.json").write_text("{}")
    (tmp_path / "broken.json").write_text("{,")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("TF_BF16_CONVERSION", "{}/nope.json", "is not an existing file, and is not one of 0, false, 1, true, full"),
        ("TF_BF16_CONVERSION", "{}/broken.json", "is not a JSON file ("),
        ("TF_BF16_CONVERSION", "{}", "is a directory, not a file"),
        ("TF_BF16_CONVERSION", "{}/list.json", ""),
        ("TF_BF16_CONVERSION", "Full", ""),
        ("HPU_SERVER_CA", "{}/ca.pem", "is not an existing file"),
        ("TF_RECIPE_CACHE_PATH", "{}/list.json", "cannot be a directory, because {}/list.json is a file"),
        ("TF_RECIPE_CACHE_PATH", "{}/list.json/recipes", "cannot be a directory, because {}/list.json is a file"),
        ("TF_RECIPE_CACHE_PATH", "{}/recipes/of/today", ""),
        ("TF_BF16_DUMP_PATH", "{}/list.json/dump", "cannot be a directory, because {}/list.json is a file"),
        ("HABANA_VISIBLE_MODULES", "0,one", "is not a list of module numbers, such as 0,1"),
        ("HABANA_VISIBLE_MODULES", "0, 1, 0", "names a module twice"),
        ("HABANA_VISIBLE_MODULES", "0, 1", ""),
        ("HABANA_VISIBLE_MODULES", "all", ""),
        (
            "HABANA_VISIBLE_MODULES",
            "0,9",
            "names module 9, which does not exist; existing modules: 0 to 7 (HPU_MODULES=8)",
        ),
        ("HLS_MODULE_ID", "8", "names module 8, which does not exist; existing modules: 0 to 7 (HPU_MODULES=8)"),
        ("HLS_MODULE_ID", "7", ""),
        ("HPU_DEVICE_TYPE", "GUADI2", "is not a card, so the facts of GAUDI2 apply; did you mean GAUDI2?"),
        ("HPU_DEVICE_TYPE", "gaudi3 of this test", ""),
        ("HPU_DEVICE_TYPE", "abacus", ""),
        ("LOG_LEVEL_PASSES", "7", "is not a log level"),
        ("LOG_LEVEL_ALL", "6", ""),
    ],
)
def test_values(name: str, value: str, text: str, paths: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value, text = value.format(paths), text.replace("{}", str(paths))
    monkeypatch.setenv(name, value)
    (found,) = [finding for finding in settings.check() if finding.data.get("name") == name]
    if not text:
        assert found.level is Level.OK
        return
    assert found.text.startswith(f"{name}={value} {text}")
    fatal = name.startswith("TF_BF16_CONV") or (name in setting_values._MODULES and "twice" not in text)
    assert found.level is (Level.ERROR if fatal else Level.WARNING)
    assert found.remedy == f"correct or unset {name}"


def test_defaults_are_stated_only_if_no_variable_looks_like_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for flag in flags.ALL for name in flag.names_in(os.environ)]:
        monkeypatch.delenv(name)
    assert [finding.text for finding in settings.check()] == ["all at their defaults"]
    monkeypatch.setenv("HPU_BACKENT", "emulator")
    assert [finding.text for finding in settings.check()] == ["HPU_BACKENT is not a setting of hpu-tensorflow"]


def test_settings_with_files_exist() -> None:
    names = {flag.name for flag in flags.ALL}
    listed = (
        *setting_values._BF16,
        *setting_values._FILES,
        *setting_values._DIRECTORIES,
        *setting_values._OUTPUT_FILES,
    )
    assert set(listed) <= names


def test_a_missing_horovod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(horovod, "find", lambda: None)
    (found,) = horovod.check()
    assert (found.level, found.text) == (Level.OK, f"not installed (optional: {lib_utils.horovod_command()})")
    assert "make horovod" in found.text


def of(subject: str) -> Finding:
    (found,) = [finding for finding in python.check() if finding.subject == subject]
    return found


@pytest.mark.parametrize(
    ("installed", "text", "remedy"),
    [
        ({}, "not installed", INSTALL),
        (
            {"tensorflow": "2.16.1"},
            "tensorflow 2.16.1; the plugin is built for 2.15.1",
            "pip install tensorflow==2.15.1",
        ),
        ({"tf-nightly": "2.17.0"}, "tf-nightly 2.17.0; ", f"pip uninstall tf-nightly, then {INSTALL}"),
        (
            {"tensorflow": "2.15.1", "tensorflow-cpu": "2.15.1"},
            "tensorflow 2.15.1, tensorflow-cpu 2.15.1: these packages overwrite each other's files",
            f"pip uninstall tensorflow tensorflow-cpu, then {INSTALL}",
        ),
    ],
)
def test_a_missing_or_wrong_tensorflow(
    installed: dict[str, str], text: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lib_utils, "installed_tensorflow", lambda: installed)
    found = of("TensorFlow")
    assert found.level is Level.ERROR
    assert found.text.startswith(text) and found.remedy.startswith(remedy)
    # The check that loads the plugin has the same remedy.
    report = {"kind": "TensorFlowError", "error": "TensorFlow cannot be imported"}
    (loading,) = plugin._check_report(report)
    assert loading.remedy == found.remedy.removesuffix(", or rebuild hpu-tensorflow")


def test_an_installed_tensorflow_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(errors.TensorFlowError, match=r"cannot be imported \(.*\); run `hpu doctor` to check it"):
        plugin_library.import_tensorflow()


def test_numpy_2(monkeypatch: pytest.MonkeyPatch) -> None:
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.1.0" if name == "numpy" else version(name))
    assert of("NumPy").level is Level.ERROR
    assert of("NumPy").remedy == "pip install 'numpy<2'"


def test_a_python_without_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 12, 1, "final", 0))
    found = of("Python")
    assert found.level is Level.ERROR and "TensorFlow 2.15 has no release for it" in found.text
    with pytest.raises(errors.TensorFlowError, match=r"^Python 3\.12 is not supported.*Python 3\.9, 3\.10 or 3\.11$"):
        plugin_library.import_tensorflow()


def test_remedies_of_an_installed_package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedies need no source tree."""
    assert "source tree" in extras.install_plugin("cpu")
    monkeypatch.setattr(lib_utils, "_PACKAGE", tmp_path / "habana_frameworks" / "tensorflow")
    assert extras.install_plugin("cpu") == "pip install 'hpu-tensorflow[pjrt-cpu]'"
    commands = (extras.install_plugin("cuda"), lib_utils.rebuild_command(), lib_utils.horovod_command())
    assert not [command for command in commands if "make" in command or "source tree" in command]


@pytest.mark.parametrize(("backend", "level"), [("emulator", Level.NOTE), ("grpc://127.0.0.1:1", Level.ERROR)])
def test_missing_grpc(backend: str, level: Level, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_BACKEND", backend)
    monkeypatch.setattr(lib_utils, "search_paths", lambda: [tmp_path])
    (found,) = grpc_libraries.check()
    assert found.level is level and "apt-get install libgrpc++-dev, then rebuild the plugin: make build" in found.remedy
    (tmp_path / "libhpu_remote.so").write_text("")
    assert [finding.level for finding in grpc_libraries.check()] == [Level.OK]
    monkeypatch.setitem(sys.modules, "grpc", None)
    (found,) = grpc_libraries.check()
    assert found.level is level and found.remedy.startswith("pip install 'grpcio")
    assert not list(server.check())  # which could not read the server
