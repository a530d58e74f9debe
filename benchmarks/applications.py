"""Smallest model of each family of tf.keras.applications, with the model's default image size and 1,000 classes."""

from __future__ import annotations

import functools

import tensorflow as tf

from benchmarks.models import Problem

_IMAGE_SIZES = {
    "ConvNeXtTiny": 224,
    "DenseNet121": 224,
    "EfficientNetB0": 224,
    "EfficientNetV2B0": 224,
    "InceptionResNetV2": 299,
    "InceptionV3": 299,
    "MobileNet": 224,
    "MobileNetV2": 224,
    "MobileNetV3Small": 224,
    "NASNetMobile": 224,
    "RegNetX002": 224,
    "RegNetY002": 224,
    "ResNet50": 224,
    "ResNet50V2": 224,
    "ResNetRS50": 224,
    "VGG16": 224,
    "Xception": 299,
}
_BATCH_SIZE = 8


def _build(name: str) -> tf.keras.Model:
    size = _IMAGE_SIZES[name]
    build = getattr(tf.keras.applications, name)
    return build(weights=None, input_shape=(size, size, 3), classifier_activation=None)


APPLICATIONS = {
    name: Problem(name, functools.partial(_build, name), (size, size, 3), _BATCH_SIZE)
    for name, size in _IMAGE_SIZES.items()
}
