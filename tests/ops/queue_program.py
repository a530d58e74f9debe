"""Passes elements through a queue on the HPU, eagerly and in a function, for test_queues.py."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

raw = tf.raw_ops


def through_queue(x: tf.Tensor, y: tf.Tensor, name: str) -> Any:
    """Returns the queue's size, its element, and its closed state before and after the close."""
    queue = raw.FIFOQueueV2(component_types=[x.dtype, y.dtype], shapes=[x.shape, y.shape], shared_name=name)
    with tf.control_dependencies([raw.QueueEnqueueV2(handle=queue, components=[x, y])]):
        size = raw.QueueSizeV2(handle=queue)
    with tf.control_dependencies([size]):
        element = raw.QueueDequeueV2(handle=queue, component_types=[x.dtype, y.dtype])
        before = raw.QueueIsClosedV2(handle=queue)
    with tf.control_dependencies([*element, before]):
        closed = raw.QueueCloseV2(handle=queue)
    with tf.control_dependencies([closed]):
        return size, *element, before, raw.QueueIsClosedV2(handle=queue)


def main() -> None:
    load_habana_module()
    x, y = tf.constant([1.0, 2.0]), tf.constant([[3], [4]])
    with tf.device("/device:HPU:0"):
        eager = through_queue(x * 2.0, y, "eager")
        graph = tf.function(lambda x, y: through_queue(x * 2.0, y, "graph"))(x, y)
    for results in (eager, graph):
        print([value.numpy().tolist() for value in results])


if __name__ == "__main__":
    main()
