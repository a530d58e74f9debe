"""Layers and functions that use the HPU's fused ops (docs/user/layers.md). Only submodules import TensorFlow."""
