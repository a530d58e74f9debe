"""HPUStrategy: TensorFlow's MultiWorkerMirroredStrategy with one HPU per worker."""

from __future__ import annotations

import copy
import functools
import logging
import os
from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow import errors, flags, library_loader, multinode_helpers
from habana_frameworks.tensorflow.distribute import in_server
from tensorflow.python.distribute import collective_all_reduce_strategy as mirrored
from tensorflow.python.eager import context as eager_context

_logger = logging.getLogger(__name__)


class _Extended(mirrored.CollectiveAllReduceExtended):  # type: ignore[misc]
    """Strategy extension with the HPU as the worker's device and with in-server collectives."""

    def _initialize_local_devices(self, cluster_resolver: Any, worker_device: str) -> tuple[tuple[str, ...], str]:
        return (f"{worker_device}/device:HPU:0",), "HPU"

    def _initialize_multi_worker(self, cluster_resolver: Any) -> None:
        context = eager_context.context()
        if tf.executing_eagerly() and context._initialized and not context._collective_leader:
            raise errors.AlreadyInitializedError(
                "HPUStrategy was created after TensorFlow's first operation, which fixes the workers: create it "
                "right after load_habana_module(), before any tensor, variable or dataset. In a notebook, restart the "
                "kernel first."
            )
        super()._initialize_multi_worker(cluster_resolver)
        if tf.executing_eagerly():  # a graph-mode program cannot contact the other workers yet
            (launcher,) = self._cross_device_ops._launchers
            in_server.join(launcher._group_key, self._id_in_cluster, self._num_workers)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any) -> Any:
        """Also reduces structures of values: Keras 3's fit passes a batch, from whose shapes it builds the model."""
        reduce = functools.partial(super()._reduce_to, destinations=destinations, options=options)
        return tf.nest.map_structure(lambda part: reduce(reduce_op, part), value)


class HPUStrategy(mirrored.CollectiveAllReduceStrategy):  # type: ignore[misc]
    """Synchronous training on several workers; each worker is a process with one HPU.

    Replaces tf.distribute.MultiWorkerMirroredStrategy and has the same methods. Every worker runs the same program.
    Create the strategy before TensorFlow runs an op. The constructor blocks until all workers have called it.

    cluster_resolver: names the workers. None uses TF_CONFIG, or a single worker if TF_CONFIG is not set.
    communication_options: as for the base class. If bytes_per_pack is not set, gradients are reduced in buckets of
    HPU_COLLECTIVE_BUCKET_MB.

    Raises errors.HabanaModuleError if the HPU cannot be loaded, or if an op has run before a multi-worker strategy is
    created; ValueError if the cluster does not name this task.
    """

    def __init__(
        self,
        cluster_resolver: tf.distribute.cluster_resolver.ClusterResolver | None = None,
        communication_options: tf.distribute.experimental.CommunicationOptions | None = None,
    ) -> None:
        library_loader.load_habana_module()
        # Repeated because TF_CONFIG may have been set after the module was loaded.
        multinode_helpers._setup_env_for_multinode()
        # The base class's constructor would create an extension without HPUs.
        tf.distribute.Strategy.__init__(self, _Extended(self, cluster_resolver, _with_buckets(communication_options)))
        processes = multinode_helpers.comm_size()
        if processes > 1 and cluster_resolver is None and not os.environ.get("TF_CONFIG"):
            _logger.warning(
                "The launcher started %d processes, but TF_CONFIG is not set: this HPUStrategy has only one worker, "
                "and each process trains a separate model. Set TF_CONFIG in each process before creating the strategy, "
                "or start the program with `hpu run` (docs/distributed/jobs.md)",
                processes,
            )

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """As in the base class. Scalars have no axis: Keras 3's fit averages the workers' losses along axis 0."""
        parts = self.experimental_local_results(value)
        scalars = all(tf.is_tensor(part) and part.shape.rank == 0 for part in parts)
        return super().reduce(reduce_op, value, None if scalars else axis)


def _with_buckets(options: Any) -> Any:
    """Returns a copy of the options. HPU_COLLECTIVE_BUCKET_MB sets bytes_per_pack unless the options do."""
    options = copy.copy(options) if options is not None else tf.distribute.experimental.CommunicationOptions()
    if options.bytes_per_pack == 0:
        options.bytes_per_pack = flags.collective_bucket_mb() << 20
    return options
