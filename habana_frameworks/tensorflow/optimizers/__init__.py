"""What TensorFlow Addons had for optimizers, and programs for Gaudi use."""
