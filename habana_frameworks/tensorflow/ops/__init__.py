"""Layers and functions on the HPU's fused ops (docs/layers.md). Submodules import TensorFlow, this package does not."""
