"""Program for test_images.py."""

from __future__ import annotations

from habana_frameworks.tensorflow import load_habana_module


def gradients_of_crops() -> None:
    from tests.kernels import test_images  # test_images imports this module

    load_habana_module()
    for crops, method in zip(test_images.CROPS, ("bilinear", "nearest", "bilinear")):
        test_images.test_gradients_of_crops(*crops, method)
