"""TensorFlow's graph optimizers that are the compiler's job on the HPU, or no use there."""

from __future__ import annotations

from typing import Any

# The arithmetic optimizer reorders products so that XLA's fusion repeats work: a transformer's step took 1.5 times as
# long with it. The remapper makes ops that the CPU has no kernel for, should a cluster have to fall back.
_LEFT_TO_THE_COMPILER = ("arithmetic_optimization", "remapping")


def leave_rewrites_to_the_compiler(tf: Any, context: Any) -> None:
    """Turns those of TensorFlow's graph optimizers off that the program has no opinion on.

    context: TensorFlow's eager context, not yet initialized.
    """
    left = list(_LEFT_TO_THE_COMPILER)
    # Two only ever change what runs on a GPU, and look long at each new graph to find that out.
    if not tf.config.list_physical_devices("GPU"):
        left.append("layout_optimizer")
        _disable_memory_optimizer(context)
    chosen = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({name: False for name in left if name not in chosen})


def _disable_memory_optimizer(context: Any) -> None:
    """tf.config.optimizer has no option for it, and the context keeps what it started from to itself."""
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

    if context._config is None:
        context._config = config_pb2.ConfigProto()
    rewriter, kinds = context._config.graph_options.rewrite_options, rewriter_config_pb2.RewriterConfig
    if rewriter.memory_optimization == kinds.DEFAULT_MEM_OPT:
        rewriter.memory_optimization = kinds.NO_MEM_OPT
