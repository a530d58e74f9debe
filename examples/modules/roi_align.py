"""Features of boxes from an image pyramid, and their gradients with respect to the images."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import habana_ops, load_habana_module


@tf.function
def pool(images: list[tf.Tensor], boxes: tf.Tensor, levels: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
    counts = tf.fill([boxes.shape[0], 1], boxes.shape[1])
    with tf.GradientTape() as tape:
        tape.watch(images)
        pooled = habana_ops.pyramid_roi_align(
            images,
            counts,
            boxes,
            levels,
            output_size=[7, 7],
            sampling_ratio=2,
            use_abs_coords=True,
            scale_to_level=True,
        )
    return pooled, tape.gradient(pooled, images)


def main() -> None:
    load_habana_module()
    with tf.device("/device:HPU:0"):
        images = [tf.random.stateless_normal([1, size, size, 16], [size, 0]) for size in (32, 16)]
        boxes = tf.constant([[[8.0, 8.0, 40.0, 56.0], [0.0, 0.0, 127.0, 127.0]]])  # in pixels of the 128 x 128 input
        pooled, gradients = pool(images, boxes, tf.constant([[[0], [1]]]))
    print("pooled", pooled.shape, "gradients", *(gradient.shape for gradient in gradients))


if __name__ == "__main__":
    main()
