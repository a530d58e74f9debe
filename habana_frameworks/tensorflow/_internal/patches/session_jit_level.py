"""Sessions whose ConfigProto has global_jit_level=OFF keep their HPU clusters, as on Gaudi.

On Gaudi, the level controls only TensorFlow's own auto-clustering. Tensor2Tensor and other programs of TensorFlow 1 set
it to OFF by default. `tf.config.optimizer.set_jit(False)` still turns HPU clusters off.
"""

from __future__ import annotations

import functools
import logging
from typing import Any

_logger = logging.getLogger(__name__)


def install() -> None:
    """Patches the constructor of Sessions. The patched constructor changes a copy of the program's ConfigProto."""
    from tensorflow.python.client import session

    constructor = session.BaseSession.__init__

    @functools.wraps(constructor)
    def __init__(self: Any, target: str = "", graph: Any = None, config: Any = None) -> None:  # noqa: N807
        constructor(self, target, graph, _without_off(config))

    session.BaseSession.__init__ = __init__


def _without_off(config: Any) -> Any:
    """Returns `config`, or a copy without global_jit_level=OFF if `set_jit(False)` was not called."""
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.eager import context

    levels = config_pb2.OptimizerOptions
    if not isinstance(config, config_pb2.ConfigProto) or context.context()._optimizer_jit is False:
        return config
    if config.graph_options.optimizer_options.global_jit_level != levels.OFF:
        return config
    _logger.info(
        "global_jit_level=OFF in a Session's ConfigProto turns off TensorFlow's auto-clustering only; "
        "HPU_CLUSTERING=off turns off the HPU's clusters"
    )
    copied = config_pb2.ConfigProto.FromString(config.SerializeToString())
    copied.graph_options.optimizer_options.global_jit_level = levels.DEFAULT
    return copied
