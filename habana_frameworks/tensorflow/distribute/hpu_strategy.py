"""HPUStrategy: TensorFlow's MultiWorkerMirroredStrategy with an HPU for each worker."""

from __future__ import annotations

import copy
import logging
import os
from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow import errors, flags, library_loader, multinode_helpers
from habana_frameworks.tensorflow.distribute import fabric
from tensorflow.python.distribute import collective_all_reduce_strategy as mirrored
from tensorflow.python.eager import context as eager_context

_logger = logging.getLogger(__name__)


class _Extended(mirrored.CollectiveAllReduceExtended):  # type: ignore[misc]
    """The base class's way of doing everything but choosing the device and where reductions happen."""

    def _initialize_local_devices(self, cluster_resolver: Any, worker_device: str) -> tuple[tuple[str, ...], str]:
        return (f"{worker_device}/device:HPU:0",), "HPU"

    def _initialize_multi_worker(self, cluster_resolver: Any) -> None:
        context = eager_context.context()
        if tf.executing_eagerly() and context._initialized and not context._collective_leader:
            raise errors.AlreadyInitializedError(
                "HPUStrategy was made after TensorFlow's first operation, which fixes who the workers are: make it "
                "right after load_habana_module(), before any tensor, variable or dataset, or restart the "
                "notebook's kernel."
            )
        super()._initialize_multi_worker(cluster_resolver)
        if tf.executing_eagerly():  # else there is no way yet to ask the other workers
            (launcher,) = self._cross_device_ops._launchers
            fabric.join(launcher._group_key, self._id_in_cluster, self._num_workers)


class HPUStrategy(mirrored.CollectiveAllReduceStrategy):  # type: ignore[misc]
    """Synchronous training on several workers, each of them a process with one HPU.

    Takes the place of tf.distribute.MultiWorkerMirroredStrategy, whose methods it has. Every worker runs the same
    program. It must be made before TensorFlow runs an op, and waits until all workers have made theirs.

    cluster_resolver: who the workers are; None takes TF_CONFIG, and without it there is one worker.
    communication_options: as for the base class. Where it gives no bytes_per_pack, gradients are reduced in buckets of
    HPU_COLLECTIVE_BUCKET_MB.

    Raises errors.HabanaModuleError if the HPU cannot be loaded, or an op has run before there are several workers;
    ValueError if the cluster does not name this task.
    """

    def __init__(
        self,
        cluster_resolver: tf.distribute.cluster_resolver.ClusterResolver | None = None,
        communication_options: tf.distribute.experimental.CommunicationOptions | None = None,
    ) -> None:
        library_loader.load_habana_module()
        # Again, for TF_CONFIG may have been set since.
        multinode_helpers._setup_env_for_multinode()
        # The base class's own constructor would make an extension without HPUs.
        tf.distribute.Strategy.__init__(self, _Extended(self, cluster_resolver, _with_buckets(communication_options)))
        processes = multinode_helpers.comm_size()
        if processes > 1 and cluster_resolver is None and not os.environ.get("TF_CONFIG"):
            _logger.warning(
                "The launcher started %d processes, and TF_CONFIG is not set: this HPUStrategy has one worker, and "
                "each process trains a model of its own. Set TF_CONFIG for each before the strategy is made, or start "
                "them by `hpu run` (docs/distributed/training.md)",
                processes,
            )


def _with_buckets(options: Any) -> Any:
    """A copy of the options in which the size of buckets is set."""
    options = copy.copy(options) if options is not None else tf.distribute.experimental.CommunicationOptions()
    if options.bytes_per_pack == 0:
        options.bytes_per_pack = flags.collective_bucket_mb() << 20
    return options
