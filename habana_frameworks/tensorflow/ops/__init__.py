"""Layers and functions on the HPU's fused ops (docs/user/layers.md). Only submodules import TensorFlow."""
