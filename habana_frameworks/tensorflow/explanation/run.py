"""explain(): placement and clustering of the ops of one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.explanation.collect import Collector
from habana_frameworks.tensorflow.explanation.explanation import Explanation


def explain(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Calls `fn` once and explains the placement of every op of every graph that ran.

    fn: a tf.function or a Python function, which is converted to a tf.function. The call has its usual side effects,
    such as updates of variables. TensorFlow places a graph only once. A tf.function that has already run is therefore
    replaced by a new tf.function of the same Python function.

    args: call load_habana_module() before creating tensors, because the first tensor fixes TensorFlow's devices.

    Raises the exceptions of fn.
    """
    plugin_library.load()
    fn = untraced(fn)
    collector = Collector()
    collector.start()
    try:
        fn(*args, **kwargs)
    finally:
        explanation = collector.stop()
    return explanation


def untraced(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a tf.function of `fn` that TensorFlow has not placed yet: `fn` itself if possible, else a new one."""
    import tensorflow as tf

    python_function = getattr(fn, "python_function", None)
    if python_function is None:
        return tf.function(fn)  # type: ignore[no-any-return]
    if fn.experimental_get_tracing_count() == 0:  # type: ignore[attr-defined]
        return fn
    return tf.function(python_function, jit_compile=getattr(fn, "_jit_compile", None))  # type: ignore[no-any-return]
