"""load_habana_module(): when and how often it may be called, and every way in which it can fail."""

from __future__ import annotations

import pathlib
import shutil

import pytest

from tests.support.processes import HIDE_TREE, ROOT, run_python, run_with_tensorflow

PACKAGE = ROOT / "habana_frameworks" / "tensorflow"
LOAD = "from habana_frameworks.tensorflow import errors, load_habana_module\n"
REPORT_ERROR = (
    LOAD
    + """
import sys
import tensorflow as tf
try:
    load_habana_module()
except errors.HabanaModuleError as error:
    sys.stdout.write(f"{type(error).__name__}: {error}")
else:
    sys.exit("nothing was raised")
"""
)
# Where the plugin was not loaded, TensorFlow stays usable without it.
USE_CPU = "assert float(tf.constant(1.0) + 1) == 2.0\n"


@pytest.fixture
def bare_package(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the Python files without a plugin; the directory to put on the path."""
    target = tmp_path / "tree"
    shutil.copytree(PACKAGE.parent, target / "habana_frameworks", ignore=shutil.ignore_patterns("lib"))
    return target


def failure_of(code: str, environment: dict[str, str | None] | None = None, cwd: pathlib.Path = ROOT) -> str:
    return run_with_tensorflow(code, environment, cwd=cwd).stdout


def test_tensorflow_initialised_before() -> None:
    text = failure_of("import tensorflow as tf\ntf.constant(1.0)\n" + REPORT_ERROR + USE_CPU)
    assert text.startswith("AlreadyInitializedError: TensorFlow was initialised before")
    assert "call load_habana_module() before the first operation" in text


def test_another_tensorflow_version() -> None:
    text = failure_of("import tensorflow as tf\ntf.__version__ = '2.16.2'\n" + REPORT_ERROR + USE_CPU)
    assert text.startswith(
        "TensorFlowError: TensorFlow 2.16.2 is installed, but this build of hpu-tensorflow is for 2.15.1."
    )
    assert "pip install tensorflow-cpu==2.15.1" in text


def test_no_tensorflow() -> None:
    code = "import sys\nsys.modules['tensorflow'] = None\n" + LOAD
    code += "try:\n    load_habana_module()\nexcept errors.TensorFlowError as error:\n    sys.stdout.write(str(error))"
    assert "pip install 'hpu-tensorflow[cpu]'" in run_python(code).stdout


def test_plugin_not_built(bare_package: pathlib.Path) -> None:
    text = failure_of(HIDE_TREE + REPORT_ERROR + USE_CPU, {"PYTHONPATH": str(bare_package)}, cwd=bare_package)
    assert text.startswith("PluginNotFoundError: Cannot find Habana modules: no habana_device.so.2.15.1 in ")
    assert str(bare_package / "habana_frameworks" / "tensorflow" / "lib") in text
    assert "make build" in text and "hpu doctor" in text


def test_plugin_not_loadable(bare_package: pathlib.Path) -> None:
    library = bare_package / "habana_frameworks" / "tensorflow" / "lib" / "habana_device.so.2.15.1"
    library.parent.mkdir()
    library.write_text("no library at all")
    text = failure_of(HIDE_TREE + REPORT_ERROR + USE_CPU, {"PYTHONPATH": str(bare_package)}, cwd=bare_package)
    assert text.startswith(f"PluginLoadError: Cannot find Habana modules: {library} cannot be loaded: ")
    assert "make build" in text and "hpu doctor" in text


def test_source_tree_without_plugin_uses_the_installed_one(bare_package: pathlib.Path) -> None:
    """A program that is run in an unbuilt source tree imports that tree's Python files."""
    code = LOAD + "print(len(load_habana_module()))"
    done = run_python(code, {"PYTHONPATH": f"{bare_package}:{ROOT}"}, cwd=bare_package)
    assert done.stdout == "1\n"


def test_unknown_backend() -> None:
    text = failure_of(REPORT_ERROR, {"HPU_BACKEND": "abacus"})
    assert text.startswith(
        "BackendError: HPU_BACKEND=abacus is not a backend of this build; expected one of: auto, emulator"
    )


def test_unknown_variable() -> None:
    done = run_with_tensorflow(LOAD + "load_habana_module()", {"HPU_MEMORYMB": "64"})
    assert "HPU_MEMORYMB is not a setting of hpu-tensorflow; did you mean HPU_MEMORY_MB?" in done.stderr
    text = failure_of(REPORT_ERROR + USE_CPU, {"HPU_MEMORYMB": "64", "HPU_STRICT_FLAGS": "1"})
    assert text.startswith("SettingError: HPU_MEMORYMB is not a setting of hpu-tensorflow; did you mean HPU_MEMORY_MB?")


def test_second_try_after_the_cause_is_mended() -> None:
    code = """
        import os
        from habana_frameworks.tensorflow import errors, load_habana_module
        try:
            load_habana_module()
        except errors.BackendError:
            os.environ["HPU_BACKEND"] = "emulator"
        print(load_habana_module()[0].name)
    """
    assert run_python(code, {"HPU_BACKEND": "abacus"}).stdout == "/physical_device:HPU:0\n"


def test_loading_is_idempotent_and_acquires_nothing() -> None:
    code = """
        import threading
        import tensorflow as tf
        assert tf.config.list_physical_devices("HPU") == []  # something listed the devices before
        from habana_frameworks.tensorflow import habana_device, habana_ops, load_habana_module
        results = []
        threads = [threading.Thread(target=lambda: results.append(load_habana_module())) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len(results) == 8 and all(result == results[0] for result in results)
        assert [device.name for device in load_habana_module(allow_op_override=False)] == ["/physical_device:HPU:0"]
        assert tf.config.list_physical_devices("HPU") == results[0]
        assert [device.device_type for device in tf.config.list_physical_devices()] == ["CPU", "HPU"]
        assert habana_device.info()["acquired"] is False
        assert callable(habana_ops.habana_launch) and habana_ops.ops.habana_launch is habana_ops.habana_launch
        tf.config.list_logical_devices()
        load_habana_module()  # once loaded, it may be called when TensorFlow is initialised
    """
    assert run_python(code).stdout == ""


@pytest.mark.parametrize(
    "lines",
    [
        "tf.compat.v1.disable_eager_execution(); load_habana_module()",
        "load_habana_module(); tf.compat.v1.disable_v2_behavior()",
    ],
)
def test_with_graph_mode(lines: str) -> None:
    code = LOAD + f"import tensorflow as tf\n{lines}\nassert load_habana_module()\n"
    code += "from tensorflow.python.client import device_lib\n"
    code += "print([device.name for device in device_lib.list_local_devices()])"
    assert run_with_tensorflow(code).stdout == "['/device:CPU:0', '/device:HPU:0']\n"


def test_spawned_children_set_themselves_up() -> None:
    code = """
        import multiprocessing, os

        def child(rank, queue):
            os.environ["OMPI_COMM_WORLD_RANK"] = os.environ["OMPI_COMM_WORLD_LOCAL_RANK"] = str(rank)
            from habana_frameworks.tensorflow import load_habana_module
            devices = len(load_habana_module())
            load_habana_module()
            queue.put((rank, devices, os.environ["HLS_MODULE_ID"], os.environ["HBN_TF_GRAPH_PREFIX"]))

        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            queue = context.Queue()
            children = [context.Process(target=child, args=(rank, queue)) for rank in range(2)]
            [process.start() for process in children]
            results = sorted(queue.get(timeout=60) for _ in children)
            [process.join() for process in children]
            assert [process.exitcode for process in children] == [0, 0]
            assert results == [(0, 1, "0", "rank_0_"), (1, 1, "1", "rank_1_")], results
    """
    run_with_tensorflow(code, {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, as_file=True)


def test_op_library_that_is_not_there() -> None:
    code = """
        from habana_frameworks.tensorflow import load_op_library
        try:
            load_op_library("missing/libcustom.so")
        except FileNotFoundError as error:
            print(error)
    """
    assert run_with_tensorflow(code).stdout == "custom op library not found: missing/libcustom.so\n"


def test_device_queries(hpu: str) -> None:
    from habana_frameworks.tensorflow import habana_device, version_getter

    assert habana_device.get_type() == "GAUDI2"
    info = habana_device.info()
    assert info["acquired"] and info["backend"] == "emulator" and info["memory_bytes"] == 32768 << 20
    memory = habana_device.memory_info()
    assert 0 <= memory.in_use <= memory.peak <= memory.limit
    habana_device.synchronize()
    release, _, framework = version_getter.get_library_version().split("_")
    assert (release, framework) == ("0.2.0", "tf2.15.1")


def test_device_type_is_a_setting() -> None:
    code = "from habana_frameworks.tensorflow import habana_device; print(habana_device.get_type())"
    assert run_with_tensorflow(code, {"HPU_DEVICE_TYPE": "GAUDI HL2000M"}).stdout == "GAUDI HL2000M\n"


def test_optimizers_that_have_nothing_to_do_without_a_gpu() -> None:
    program = """
    import tensorflow as tf
    from habana_frameworks.tensorflow import load_habana_module
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
    from tensorflow.python.eager import context

    tf.config.optimizer.set_experimental_options({"remapping": True})
    load_habana_module()
    assert not tf.config.list_physical_devices("GPU")
    options = tf.config.optimizer.get_experimental_options()
    assert options["remapping"] and not options["layout_optimizer"] and not options["arithmetic_optimization"]
    rewriter = context.context().config.graph_options.rewrite_options
    assert rewriter.memory_optimization == RewriterConfig.NO_MEM_OPT
    assert rewriter.layout_optimizer == RewriterConfig.OFF and rewriter.remapping == RewriterConfig.ON
    """
    run_with_tensorflow(program)
