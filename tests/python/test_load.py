"""load_habana_module(): valid times and numbers of calls, and all failures."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable

import pytest

from habana_frameworks.tensorflow import lib_utils
from tests.python import load_programs as programs
from tests.support.processes import ROOT, call_to, run_python, run_with_tensorflow

PACKAGE = ROOT / "habana_frameworks" / "tensorflow"
VERSION = lib_utils.release().version


@pytest.fixture
def bare_package(tmp_path: pathlib.Path) -> pathlib.Path:
    """Copies the Python files without a plugin. Returns the directory for sys.path."""
    target = tmp_path / "tree"
    shutil.copytree(PACKAGE.parent, target / "habana_frameworks", ignore=shutil.ignore_patterns("lib"))
    return target


def failure_of(program: str, environment: dict[str, str | None] | None = None, cwd: pathlib.Path = ROOT) -> str:
    return run_with_tensorflow(program, environment, cwd=cwd).stdout


def failure_of_tree(tree: pathlib.Path) -> str:
    """Returns the load error of the package in another tree."""
    program = call_to(programs.report_error_of_other_tree, str(ROOT))
    return failure_of(program, {"PYTHONPATH": f"{tree}:{ROOT}"}, cwd=tree)


def test_tensorflow_initialised_before() -> None:
    text = failure_of(call_to(programs.initialised_before))
    assert text.startswith("AlreadyInitializedError: TensorFlow was initialised before")
    assert "call load_habana_module() before the first operation" in text


def test_another_tensorflow_version() -> None:
    text = failure_of(call_to(programs.other_tensorflow_version))
    built = ", ".join(sorted(lib_utils.built_for()))
    assert text.startswith(
        f"TensorFlowError: TensorFlow 2.16.2 is installed, but this build of hpu-tensorflow is for {built}."
    )
    assert f"pip install tensorflow-cpu=={VERSION}" in text


def test_no_tensorflow() -> None:
    assert run_python(call_to(programs.no_tensorflow)).stdout.startswith("TensorFlow cannot be imported (")


def test_plugin_not_built(bare_package: pathlib.Path) -> None:
    text = failure_of_tree(bare_package)
    assert text.startswith(f"PluginNotFoundError: Cannot find Habana modules: no habana_device.so.{VERSION} in ")
    assert str(bare_package / "habana_frameworks" / "tensorflow" / "lib") in text
    assert "pip install --force-reinstall hpu_tensorflow-….whl" in text and "hpu doctor" in text


def test_plugin_not_loadable(bare_package: pathlib.Path) -> None:
    library = bare_package / "habana_frameworks" / "tensorflow" / "lib" / f"habana_device.so.{VERSION}"
    library.parent.mkdir()
    library.write_text("no library at all")
    text = failure_of_tree(bare_package)
    assert text.startswith(f"PluginLoadError: Cannot find Habana modules: {library} cannot be loaded: ")
    assert "pip install --force-reinstall hpu_tensorflow-….whl" in text and "hpu doctor" in text


def test_source_tree_without_plugin_uses_the_installed_one(bare_package: pathlib.Path) -> None:
    """A program in an unbuilt source tree imports that tree's Python files, but loads the installed plugin."""
    done = run_python(call_to(programs.count_devices), {"PYTHONPATH": f"{bare_package}:{ROOT}"}, cwd=bare_package)
    assert done.stdout == "1\n"


def test_unknown_backend() -> None:
    text = failure_of(call_to(programs.report_error), {"HPU_BACKEND": "abacus"})
    assert text.startswith(
        "BackendError: HPU_BACKEND=abacus is not a backend of this build; expected one of: auto, emulator"
    )


@pytest.mark.parametrize(("name", "nearest"), [("emulated", "emulator"), ("nul", "null"), ("abacus", "")])
def test_a_misspelt_backend(name: str, nearest: str) -> None:
    text = failure_of(call_to(programs.report_error), {"HPU_BACKEND": name})
    assert text.startswith(f"BackendError: HPU_BACKEND={name} is not a backend of this build; expected one of: auto, ")
    assert (f"; did you mean {nearest}?" if nearest else "") in text and ("did you mean" in text) is bool(nearest)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("HABANA_VISIBLE_MODULES", "0,9", "HABANA_VISIBLE_MODULES: module 9 does not exist; existing modules: 0 to 7"),
        ("HABANA_VISIBLE_MODULES", "one", 'HABANA_VISIBLE_MODULES: invalid module number "one"; set it to numbers'),
        ("HLS_MODULE_ID", "8", "HLS_MODULE_ID: module 8 does not exist; existing modules: 0 to 7"),
        ("HPU_MEMORY_MB", str(1 << 40), f"HPU_MEMORY_MB={1 << 40} is not between 1 and"),
    ],
)
def test_settings_that_no_device_accepts(name: str, value: str, text: str) -> None:
    variables: dict[str, str | None] = {"HPU_MODULES": "8", name: value}
    assert failure_of(call_to(programs.report_error), variables).startswith(f"BackendError: {text}")


def test_unknown_variable() -> None:
    done = run_with_tensorflow(call_to(programs.load), {"HPU_MEMORYMB": "64"})
    assert "HPU_MEMORYMB is not a setting of hpu-tensorflow; did you mean HPU_MEMORY_MB?" in done.stderr
    text = failure_of(call_to(programs.report_error_and_use_cpu), {"HPU_MEMORYMB": "64", "HPU_STRICT_FLAGS": "1"})
    assert text.startswith("SettingError: HPU_MEMORYMB is not a setting of hpu-tensorflow; did you mean HPU_MEMORY_MB?")


def test_second_try_after_the_cause_is_mended() -> None:
    assert run_python(call_to(programs.second_try), {"HPU_BACKEND": "abacus"}).stdout == "/physical_device:HPU:0\n"


def test_loading_is_idempotent_and_acquires_nothing() -> None:
    assert run_python(call_to(programs.load_by_threads)).stdout == ""


@pytest.mark.parametrize("program", [programs.graph_mode_before_load, programs.v1_behavior_after_load])
def test_with_graph_mode(program: Callable[[], None]) -> None:
    assert run_with_tensorflow(call_to(program)).stdout == "['/device:CPU:0', '/device:HPU:0']\n"


def test_spawned_children_set_themselves_up() -> None:
    run_with_tensorflow(call_to(programs.spawn), {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"})


def test_missing_op_library() -> None:
    assert (
        run_with_tensorflow(call_to(programs.missing_op_library)).stdout
        == "custom op library not found: missing/libcustom.so; build it, or correct the path\n"
    )


def test_device_queries(hpu: str) -> None:
    from habana_frameworks.tensorflow import habana_device, version_getter

    assert habana_device.get_type() == "GAUDI2"
    info = habana_device.info()
    assert info["acquired"] and info["backend"] == "emulator" and info["memory_bytes"] == 98304 << 20
    memory = habana_device.memory_info()
    assert 0 <= memory.in_use <= memory.peak <= memory.limit
    habana_device.synchronize()
    release, _, framework = version_getter.get_library_version().split("_")
    assert (release, framework) == ("0.2.0", f"tf{VERSION}")


def test_device_type_is_a_setting() -> None:
    done = run_with_tensorflow(call_to(programs.device_type), {"HPU_DEVICE_TYPE": "GAUDI HL2000M"})
    assert done.stdout == "GAUDI HL2000M\n"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("GAUDI4", "GAUDI3 or GAUDI2"), ("GAUDI22", "GAUDI2"), ("guadi2", "GAUDI2"), ("gaudi3", ""), ("abacus", "")],
)
def test_a_misspelt_card_is_reported_once(name: str, nearest: str) -> None:
    done = run_with_tensorflow(call_to(programs.load), {"HPU_DEVICE_TYPE": name})
    warning = f"HPU_DEVICE_TYPE={name} is not a card, so the facts of GAUDI2 apply; did you mean {nearest}?"
    assert done.stderr.count(warning) == bool(nearest) and done.stderr.count("did you mean") == bool(nearest)


def test_optimizers_without_effect_on_the_cpu() -> None:
    run_with_tensorflow(call_to(programs.optimizers))
