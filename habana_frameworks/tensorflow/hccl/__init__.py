"""Collective operations among the HPUs of a job, shaped as NCCL's: docs/distributed/hccl.md.

    communicator = hccl.init()
    total = hccl.all_reduce(tensor, hccl.ReduceOp.SUM, communicator)

All ranks of a communicator call the same operations in the same order, outside of tf.function. Each returns when its
result is there, and first compares what the ranks ask for: HcclError on all of them says which rank asked for what.
Ranks that are missing make it raise HcclError after the communicator's timeout. Tensors may lie on the HPU or the
host; results lie on the HPU where it holds their type.
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
