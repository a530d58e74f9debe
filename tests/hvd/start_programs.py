"""Programs for test_start.py, which import Horovod, TensorFlow and the HPU module in different orders."""

from __future__ import annotations

import os

from tests.hvd.results import result


def _remove_hook() -> None:
    """Removes the import hook, as if hpu_tensorflow.pth was not installed."""
    from habana_frameworks import _import_hook

    _import_hook._waiting.clear()


def horovod_alone() -> None:
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    with tf.device("/HPU:0"):
        doubled = tf.constant([1.0, 2.0]) * 2.0
    assert doubled.device.endswith("HPU:0"), doubled.device
    from habana_frameworks.tensorflow import habana_device, multinode_helpers

    assert (hvd.size(), hvd.rank()) == (multinode_helpers.comm_size(), multinode_helpers.comm_rank())
    gathered = hvd.allgather(tf.constant([habana_device.info()["module_id"]]))
    result(modules=gathered, local=hvd.local_rank(), locals=hvd.local_size(), cross=hvd.cross_size())
    if not hvd.mpi_enabled():  # MPI cannot be initialized twice in one process
        hvd.shutdown()
        hvd.init()
        assert float(hvd.allreduce(tf.constant(1.0), op=hvd.Sum)) == 2.0


def no_hpu() -> None:
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    assert not tf.config.list_physical_devices("HPU")
    result(size=hvd.size())


def _load() -> None:
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()


def _import() -> None:
    import horovod.tensorflow  # noqa: F401


def _init() -> None:
    import horovod.tensorflow as hvd

    hvd.init()


def order_of_loading(order: str) -> None:
    _remove_hook()
    import tensorflow as tf

    for part in order.split(", "):
        {"load": _load, "import": _import, "init": _init}[part]()
    x = tf.constant(2.0) * 3.0
    assert "HPU:0" in x.device
    import horovod.tensorflow as hvd

    print("size", hvd.size())


def job_of_one_rank() -> None:
    """Runs one rank of four according to Open MPI's variables, which Horovod does not read."""
    _remove_hook()
    os.environ.update(OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="1")
    os.environ.update(HOROVOD_CONTROLLER="gloo", HOROVOD_CPU_OPERATIONS="gloo")
    import horovod.tensorflow as hvd

    hvd.init()
    assert hvd.size() == 1
    _load()


def init() -> None:
    _init()


def helpers_of_old_releases() -> None:
    import horovod.tensorflow as hvd
    import tensorflow as tf

    from habana_frameworks.tensorflow import horovod_helpers as helpers
    from habana_frameworks.tensorflow.horovod_helpers import Framework
    from habana_frameworks.tensorflow.horovod_helpers import hvd as lazy

    assert not lazy.is_initialized()
    assert (helpers.hvd_size(), helpers.hvd_rank(), helpers.hvd_local_size()) == (1, 0, 1)
    assert helpers.hvd_rank_prefix() == "" and not helpers.horovod_enabled()
    try:
        lazy.allreduce  # noqa: B018 (fails)
    except AssertionError as error:
        assert "hvd_init()" in str(error)
    else:
        raise RuntimeError("hvd is usable before hvd_init()")
    helpers.hvd_init(framework=Framework.KERAS)
    helpers.hvd_init(framework=Framework.KERAS)
    assert lazy.is_initialized() and helpers.horovod_enabled()
    assert lazy.callbacks.BroadcastGlobalVariablesCallback
    assert (helpers.hvd_size(), helpers.hvd_rank(), helpers.hvd_local_size()) == (2, hvd.rank(), 2)
    assert helpers.hvd_rank_prefix() == f"rank_{hvd.rank()}_"
    result(devices=len(tf.config.list_physical_devices("HPU")))
