"""explain(): one call of a function, explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.explanation.collect import Collector
from habana_frameworks.tensorflow.explanation.explanation import Explanation


def explain(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Calls `fn` once and says what became of every op of every graph that ran.

    fn: a tf.function, or any function, which is made one. It does run: variables that it updates are updated.
    TensorFlow places a graph once, so a tf.function that ran before is explained as a new one of the same Python
    function.

    args: tensors among them fix TensorFlow's devices, so load_habana_module() comes before they are made.

    Raises what fn raises.
    """
    import tensorflow as tf

    plugin_library.load()
    python_function = getattr(fn, "python_function", None)
    if python_function is not None and fn.experimental_get_tracing_count() > 0:  # type: ignore[attr-defined]
        fn = tf.function(python_function, jit_compile=getattr(fn, "_jit_compile", None))
    elif python_function is None:
        fn = tf.function(fn)
    collector = Collector()
    collector.start()
    try:
        fn(*args, **kwargs)
    finally:
        explanation = collector.stop()
    return explanation
