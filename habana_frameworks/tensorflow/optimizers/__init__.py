"""TensorFlow Addons' optimizer utilities that programs for Gaudi use."""
