"""Image ops."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.op_cases.case import OpCase, Shape, gradient, gradients


def _resize(method: str, image: Shape, out: Shape) -> list[OpCase]:
    return list(
        gradients(f"resize {method} to {out[1]}x{out[2]}", lambda x: tf.image.resize(x, out[1:3], method), image, out)
    )


def _colours(shape: Shape) -> list[OpCase]:
    """Colour adjustments of images with values between 0 and 1."""
    functions = {
        "adjust hue": lambda x: tf.image.adjust_hue(x, 0.2),
        "adjust saturation": lambda x: tf.image.adjust_saturation(x, 1.5),
        "adjust brightness": lambda x: tf.image.adjust_brightness(x, 0.2),
        "adjust gamma": lambda x: tf.image.adjust_gamma(x, 0.8),
        "adjust contrast": lambda x: tf.image.adjust_contrast(x, 2.0),
        "RGB to HSV": tf.image.rgb_to_hsv,
        "HSV to RGB": tf.image.hsv_to_rgb,
        "RGB to YUV": tf.image.rgb_to_yuv,
        "RGB to greys": tf.image.rgb_to_grayscale,
        "greys to RGB": lambda x: tf.image.grayscale_to_rgb(x[..., :1]),
        "bytes to floats": lambda x: tf.image.convert_image_dtype(tf.cast(255 * x, tf.uint8), tf.float32),
        "standardise images": tf.image.per_image_standardization,
        "Sobel edges": tf.image.sobel_edges,
        "total variation": tf.image.total_variation,
        "image gradients": tf.image.image_gradients,
        "flip left and right": tf.image.flip_left_right,
        "flip up and down": tf.image.flip_up_down,
        "rotate by 90 degrees": tf.image.rot90,
        "central crop": lambda x: tf.image.central_crop(x, 0.5),
        "crop or pad": lambda x: tf.image.resize_with_crop_or_pad(x, 128, 80),
        "random flips": lambda x: tf.image.stateless_random_flip_left_right(x, [1, 2]),
        "random crop": lambda x: tf.image.stateless_random_crop(x, [shape[0], 80, 80, 3], [1, 2]),
        "random brightness": lambda x: tf.image.stateless_random_brightness(x, 0.2, [1, 2]),
        "random contrast": lambda x: tf.image.stateless_random_contrast(x, 0.5, 1.5, [1, 2]),
        "random hue": lambda x: tf.image.stateless_random_hue(x, 0.2, [1, 2]),
        "random saturation": lambda x: tf.image.stateless_random_saturation(x, 0.5, 1.5, [1, 2]),
    }
    return [OpCase(name, function, (shape,), uniform=True) for name, function in functions.items()]


def _similarity(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.image.ssim(x, y, 1.0)


def images() -> list[OpCase]:
    photos = (16, 96, 96, 3)
    pair = (photos, photos)
    return [
        *_resize("bilinear", (8, 24, 24, 64), (8, 48, 48, 64)),
        *_resize("bilinear", (8, 96, 96, 3), (8, 224, 224, 3)),
        *_resize("bilinear", (8, 96, 96, 3), (8, 40, 40, 3)),
        *_resize("bicubic", (8, 24, 24, 64), (8, 48, 48, 64)),
        *_resize("nearest", (8, 24, 24, 64), (8, 48, 48, 64)),
        *_resize("area", (8, 48, 48, 64), (8, 24, 24, 64))[:1],
        *_resize("lanczos3", (8, 24, 24, 64), (8, 48, 48, 64)),
        *_resize("mitchellcubic", (8, 96, 96, 3), (8, 40, 40, 3)),
        *_colours(photos),
        OpCase("structural similarity", _similarity, pair, uniform=True),
        OpCase("structural similarity gradients", gradient(_similarity), (*pair, (16,)), uniform=True),
        OpCase("peak ratio of signal to noise", lambda x, y: tf.image.psnr(x, y, 1.0), pair, uniform=True),
    ]
