"""Collective operations among the HPUs of a job, modelled on NCCL: docs/distributed/hccl.md.

    communicator = hccl.init()
    total = hccl.all_reduce(tensor, hccl.ReduceOp.SUM, communicator)

All ranks of a communicator call the same collectives in the same order, outside tf.function. send() and receive()
involve two ranks. An operation first compares its ranks' requests. If they differ, it raises HcclError on each of these
ranks, with all requests. It blocks until its result is ready. If ranks are missing, it raises HcclError after the
communicator's timeout. Tensors may be on the HPU or the host; results are on the HPU if it supports their dtype.
"""

from habana_frameworks.tensorflow.hccl.communicator import (
    UNIQUE_ID_BYTES,
    Communicator,
    get_unique_id,
    init,
    init_rank,
)
from habana_frameworks.tensorflow.hccl.errors import HcclError
from habana_frameworks.tensorflow.hccl.operations import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
    reduce,
    reduce_scatter,
)
from habana_frameworks.tensorflow.hccl.transfers import group, receive, send
from habana_frameworks.tensorflow.hccl.types import DTYPES, ReduceOp

__all__ = [
    "DTYPES",
    "UNIQUE_ID_BYTES",
    "Communicator",
    "HcclError",
    "ReduceOp",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier",
    "broadcast",
    "get_unique_id",
    "group",
    "init",
    "init_rank",
    "receive",
    "reduce",
    "reduce_scatter",
    "send",
]
