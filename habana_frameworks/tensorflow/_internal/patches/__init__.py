"""Patches and settings of TensorFlow's Python code for the HPU."""
