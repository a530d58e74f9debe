"""Programs for test_load.py, which import TensorFlow and the HPU module in different orders."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import multiprocessing


def load() -> None:
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()


def report_error() -> None:
    """Prints the load error of the HPU module."""
    from habana_frameworks.tensorflow import errors, load_habana_module

    try:
        load_habana_module()
    except errors.HabanaModuleError as error:
        sys.stdout.write(f"{type(error).__name__}: {error}")
    else:
        sys.exit("nothing was raised")


def use_cpu() -> None:
    """Checks that TensorFlow works without the plugin."""
    import tensorflow as tf

    assert float(tf.constant(1.0) + 1) == 2.0


def report_error_and_use_cpu() -> None:
    report_error()
    use_cpu()


def report_error_of_other_tree(hidden: str) -> None:
    """Uses the package of another tree instead of the tree `hidden`, which a .pth file may name."""
    sys.path = [entry for entry in sys.path if entry != hidden]
    report_error_and_use_cpu()


def initialised_before() -> None:
    import tensorflow as tf

    tf.constant(1.0)
    report_error_and_use_cpu()


def other_tensorflow_version() -> None:
    import tensorflow as tf

    tf.__version__ = "2.16.2"
    report_error_and_use_cpu()


def no_tensorflow() -> None:
    sys.modules["tensorflow"] = None  # type: ignore[assignment]
    from habana_frameworks.tensorflow import errors, load_habana_module

    try:
        load_habana_module()
    except errors.TensorFlowError as error:
        sys.stdout.write(str(error))


def count_devices() -> None:
    from habana_frameworks.tensorflow import load_habana_module

    print(len(load_habana_module()))


def second_try() -> None:
    from habana_frameworks.tensorflow import errors, load_habana_module

    try:
        load_habana_module()
    except errors.BackendError:
        os.environ["HPU_BACKEND"] = "emulator"
    print(load_habana_module()[0].name)


def load_by_threads() -> None:
    import threading

    import tensorflow as tf

    assert tf.config.list_physical_devices("HPU") == []  # an earlier call has listed the devices
    from habana_frameworks.tensorflow import habana_device, habana_ops, load_habana_module

    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(load_habana_module())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(result == results[0] for result in results)
    assert [device.name for device in load_habana_module(allow_op_override=False)] == ["/physical_device:HPU:0"]
    assert tf.config.list_physical_devices("HPU") == results[0]
    assert [device.device_type for device in tf.config.list_physical_devices()] == ["CPU", "HPU"]
    assert habana_device.info()["acquired"] is False
    assert callable(habana_ops.habana_launch) and habana_ops.ops.habana_launch is habana_ops.habana_launch
    tf.config.list_logical_devices()
    load_habana_module()  # after the first load, calls are allowed at any time


def graph_mode_before_load() -> None:
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    load()
    _list_devices()


def v1_behavior_after_load() -> None:
    import tensorflow as tf

    load()
    tf.compat.v1.disable_v2_behavior()
    _list_devices()


def _list_devices() -> None:
    from habana_frameworks.tensorflow import load_habana_module

    assert load_habana_module()
    from tensorflow.python.client import device_lib

    print([device.name for device in device_lib.list_local_devices()])


def _spawned(rank: int, queue: multiprocessing.Queue[tuple[int, int, str, str]]) -> None:
    os.environ["OMPI_COMM_WORLD_RANK"] = os.environ["OMPI_COMM_WORLD_LOCAL_RANK"] = str(rank)
    from habana_frameworks.tensorflow import load_habana_module

    devices = len(load_habana_module())
    load_habana_module()
    queue.put((rank, devices, os.environ["HLS_MODULE_ID"], os.environ["HBN_TF_GRAPH_PREFIX"]))


def spawn() -> None:
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    children = [context.Process(target=_spawned, args=(rank, queue)) for rank in range(2)]
    for process in children:
        process.start()
    results = sorted(queue.get(timeout=60) for _ in children)
    for process in children:
        process.join()
    assert [process.exitcode for process in children] == [0, 0]
    assert results == [(0, 1, "0", "rank_0_"), (1, 1, "1", "rank_1_")], results


def missing_op_library() -> None:
    from habana_frameworks.tensorflow import load_op_library

    try:
        load_op_library("missing/libcustom.so")
    except FileNotFoundError as error:
        print(error)


def device_type() -> None:
    from habana_frameworks.tensorflow import habana_device

    print(habana_device.get_type())


def optimizers() -> None:
    import tensorflow as tf
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
    from tensorflow.python.eager import context

    from habana_frameworks.tensorflow import load_habana_module

    tf.config.optimizer.set_experimental_options({"remapping": True})
    load_habana_module()
    assert not tf.config.list_physical_devices("GPU")
    options = tf.config.optimizer.get_experimental_options()
    assert options["remapping"] and not options["layout_optimizer"] and not options["arithmetic_optimization"]
    rewriter = context.context().config.graph_options.rewrite_options
    assert rewriter.memory_optimization == RewriterConfig.NO_MEM_OPT
    assert rewriter.layout_optimizer == RewriterConfig.OFF and rewriter.remapping == RewriterConfig.ON
