"""TensorFlow's graph optimizers that are disabled, because they duplicate or hinder the HPU's compiler."""

from __future__ import annotations

from typing import Any

# The arithmetic optimizer reorders products so that XLA's fusion repeats work: it made a transformer's step take 1.5
# times as long. The remapper creates ops without a CPU kernel, which breaks the CPU fallback of a cluster.
_LEFT_TO_THE_COMPILER = ("arithmetic_optimization", "remapping")


def leave_rewrites_to_the_compiler(tf: Any, context: Any) -> None:
    """Turns off the graph optimizers that duplicate the HPU's compiler, unless the program has set them.

    context: TensorFlow's eager context, not yet initialized.
    """
    left = list(_LEFT_TO_THE_COMPILER)
    # The layout and memory optimizers only rewrite ops on a GPU, but spend a long time analysing each new graph.
    if not tf.config.list_physical_devices("GPU"):
        left.append("layout_optimizer")
        _disable_memory_optimizer(context)
    chosen = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({name: False for name in left if name not in chosen})


def _disable_memory_optimizer(context: Any) -> None:
    """Sets the context's private config: tf.config.optimizer has no option for the memory optimizer."""
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

    if context._config is None:
        context._config = config_pb2.ConfigProto()
    rewriter, kinds = context._config.graph_options.rewrite_options, rewriter_config_pb2.RewriterConfig
    if rewriter.memory_optimization == kinds.DEFAULT_MEM_OPT:
        rewriter.memory_optimization = kinds.NO_MEM_OPT
