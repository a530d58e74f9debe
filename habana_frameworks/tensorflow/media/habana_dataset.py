"""HabanaDataset: a tf.data.Dataset over a media pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["HabanaDataset"]


def HabanaDataset(  # noqa: N802 (a class elsewhere)
    output_shapes: Sequence[Any], output_types: Sequence[Any], pipeline: Any
) -> tf.data.Dataset:
    """Dataset of the batches of `pipeline`. Each iteration restarts the pipeline.

    pipeline: build() is called once; iter_init() starts a pass; run() returns a batch, which is a tensor or a tuple of
        tensors, and raises StopIteration at the end. Tensors are arrays, or have as_cpu() and as_nparray() like the
        tensors of Gaudi's media pipelines.
    output_shapes, output_types: shape and dtype of each tensor in a batch.

    Raises TypeError if the pipeline lacks one of the methods.
    """
    missing = [name for name in ("build", "iter_init", "run") if not callable(getattr(pipeline, name, None))]
    if missing:
        raise TypeError(f"{type(pipeline).__name__} is not a media pipeline: implement {', '.join(missing)}()")
    specs = tuple(tf.TensorSpec(shape, dtype) for shape, dtype in zip(output_shapes, output_types))
    pipeline.build()

    def batches() -> Iterator[tuple[Any, ...]]:
        pipeline.iter_init()
        while True:
            try:
                batch = pipeline.run()
            except StopIteration:
                return
            yield tuple(_as_array(tensor) for tensor in (batch if isinstance(batch, (list, tuple)) else (batch,)))

    return tf.data.Dataset.from_generator(batches, output_signature=specs)


def _as_array(tensor: Any) -> Any:
    if hasattr(tensor, "as_cpu"):
        tensor = tensor.as_cpu()
    return tensor.as_nparray() if hasattr(tensor, "as_nparray") else tensor
