"""Patches of TensorFlow's Python code, so that its APIs work for the HPU as for other devices."""
